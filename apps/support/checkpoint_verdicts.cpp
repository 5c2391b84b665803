// SPDX-License-Identifier: Apache-2.0
// checkpoint_tool verify and diff: what the blocks themselves tell.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/support/checkpoint_commands.hpp"
#include "modules/checkpoint/checkpoint_catalogue.hpp"
#include "modules/checkpoint/checkpoint_difference.hpp"
#include "src/report/byte_progress.hpp"
#include "src/report/console_table.hpp"
#include "src/report/format_units.hpp"
#include "src/storage/model_source.hpp"

namespace charter {
namespace {

// The faults of one checkpoint, and its line.
std::vector<std::string> verify_one(const std::filesystem::path& folder) {
  std::vector<std::string> damage;
  std::string content;
  std::string_view verdict = "DAMAGED";
  try {
    const CheckpointReader reader = read_checkpoint_folder(folder);
    content = fmt::format(", {} tensors, {}", reader.tensors().size(),
                          format_bytes(reader.manifest().tensor_bytes()));
    ByteProgress progress(reader.manifest().tensor_bytes(), "MiB read");
    damage = find_damage(reader, [&](std::int64_t bytes) { progress.update(bytes); });
  } catch (const DamagedCheckpoint& error) {
    damage.emplace_back(error.what());
  } catch (const Error& error) {
    if (error.code() != ExitCode::missing_input) throw;
    verdict = "UNREADABLE";
    damage.emplace_back(error.what());
  }
  print(fmt::format("{}: {}{}\n", folder.string(), damage.empty() ? "sound" : verdict, content));
  return damage;
}

std::vector<std::filesystem::path> checkpoints_at(const std::filesystem::path& path) {
  if (model_form_of(path) != ModelForm::run_folder) return {path};
  const CheckpointCatalogue catalogue(checkpoints_of(path));
  std::vector<std::filesystem::path> folders;
  for (const std::int64_t step : catalogue.committed()) folders.push_back(catalogue.path_of(step));
  if (folders.empty())
    fail(ExitCode::missing_input, fmt::format("{}: holds no checkpoint", catalogue.folder().string()));
  return folders;
}

std::string_view to_string(TensorDifference::Kind kind) {
  switch (kind) {
    case TensorDifference::Kind::only_in_first:
      return "only in the first";
    case TensorDifference::Kind::only_in_second:
      return "only in the second";
    case TensorDifference::Kind::shape:
      return "shapes";
    case TensorDifference::Kind::type:
      return "types";
    case TensorDifference::Kind::values:
      return "values";
  }
  return "?";
}

std::string difference_table(const CheckpointDifference& difference) {
  ConsoleTable table({{"tensor", Align::left},
                      {"what differs", Align::left},
                      {"elements", Align::right},
                      {"largest |a-b|", Align::right},
                      {"|a-b|/|a|", Align::right}});
  for (const TensorDifference& tensor : difference.tensors) {
    const std::string name = fmt::format("{}/{}", tensor.group, tensor.name);
    if (tensor.kind != TensorDifference::Kind::values) {
      table.add_row({name, fmt::format("{} {}", to_string(tensor.kind), tensor.detail), "-", "-", "-"});
      continue;
    }
    const std::string what =
        tensor.nonfinite == 0 ? "values" : fmt::format("values, {} not finite", tensor.nonfinite);
    table.add_row({name, what, fmt::format("{} of {}", tensor.differing, tensor.elements),
                   fmt::format("{:.3e}", tensor.max_abs), fmt::format("{:.3e}", tensor.relative_norm)});
  }
  return table.render();
}

}  // namespace

ExitCode verify_checkpoints(const std::filesystem::path& path) {
  const std::vector<std::filesystem::path> folders = checkpoints_at(path);
  std::vector<std::string> damage;
  std::size_t damaged = 0;
  for (const std::filesystem::path& folder : folders) {
    const std::vector<std::string> found = verify_one(folder);
    damaged += found.empty() ? 0 : 1;
    damage.insert(damage.end(), found.begin(), found.end());
  }
  if (damaged == 0) return ExitCode::done;
  fail(ExitCode::bad_input, fmt::format("{} of {} checkpoints damaged or unreadable:\n  {}", damaged,
                                        folders.size(), fmt::join(damage, "\n  ")));
}

ExitCode diff_checkpoints(const std::filesystem::path& first, const std::filesystem::path& second,
                          const std::vector<std::string>& groups) {
  const CheckpointReader a = open_checkpoint(first);
  const CheckpointReader b = open_checkpoint(second);
  ByteProgress progress(a.manifest().tensor_bytes(), "MiB read");
  const CheckpointDifference difference = compare_checkpoints(
      a, b, {groups.begin(), groups.end()}, [&](std::int64_t bytes) { progress.update(bytes); });
  if (difference.compared == 0) {
    fail(ExitCode::missing_input, fmt::format("neither {} nor {} has a tensor in {}", a.folder().string(),
                                              b.folder().string(), fmt::join(groups, ", ")));
  }
  print(fmt::format("a: {}\nb: {}\n", a.folder().string(), b.folder().string()));
  if (!difference.tensors.empty()) print(difference_table(difference));
  for (const std::string& file : difference.files) print(fmt::format("file {}\n", file));
  print(fmt::format("{} tensors compared, {} differ", difference.compared, difference.tensors.size()));
  print(difference.files.empty() ? "\n" : fmt::format("; {} text files differ\n", difference.files.size()));
  return difference.equal() ? ExitCode::done : ExitCode::different;
}

}  // namespace charter
