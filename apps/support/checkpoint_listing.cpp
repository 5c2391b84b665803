// SPDX-License-Identifier: Apache-2.0
// checkpoint_tool list and show: what manifests tell.
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/support/checkpoint_commands.hpp"
#include "modules/checkpoint/checkpoint_catalogue.hpp"
#include "src/model/model_config.hpp"
#include "src/model/parameter_list.hpp"
#include "src/report/console_table.hpp"
#include "src/report/format_units.hpp"

namespace charter {
namespace {

std::string loss_text(const CheckpointManifest& manifest) {
  return manifest.loss ? fmt::format("{:.4f}", *manifest.loss) : "-";
}

std::int64_t bytes_of_files(const CheckpointManifest& manifest) {
  std::int64_t bytes = 0;
  for (const StoredPart& part : manifest.parts) bytes += part.bytes;
  for (const StoredFile& file : manifest.files) bytes += file.bytes;
  return bytes;
}

std::string marks_of(std::int64_t step, const std::optional<BestMark>& best,
                     const std::set<std::int64_t>& pinned) {
  std::vector<std::string> marks;
  if (best && best->step == step) marks.emplace_back("best");
  if (pinned.contains(step)) marks.emplace_back("pinned");
  return fmt::format("{}", fmt::join(marks, ", "));
}

// "key: value" lines of an object, nested ones as JSON.
std::string fields_of(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items())
    text += fmt::format("  {}: {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

std::string model_line(const CheckpointReader& reader) {
  if (!reader.has_file("config.json")) return "model: no config.json is stored\n";
  const ModelConfig config = ModelConfig::from_json(reader.file("config.json"), "config.json");
  return fmt::format("model: {}, {} layers, width {}, vocabulary {}, {} parameters\n",
                     to_string(config.architecture), config.layers, config.hidden, config.vocabulary,
                     format_count(static_cast<double>(list_parameters(config).num_elements())));
}

std::string groups_text(const CheckpointManifest& manifest) {
  struct Sum {
    std::int64_t tensors = 0, elements = 0, bytes = 0;
  };
  std::map<std::string, Sum> groups;
  for (const StoredTensor& tensor : manifest.tensors) {
    Sum& sum = groups[tensor.group];
    ++sum.tensors;
    sum.elements += tensor.elements();
    sum.bytes += tensor.bytes();
  }
  ConsoleTable table({{"group", Align::left},
                      {"tensors", Align::right},
                      {"elements", Align::right},
                      {"size", Align::right}});
  for (const auto& [name, sum] : groups)
    table.add_row({name, std::to_string(sum.tensors), std::to_string(sum.elements), format_bytes(sum.bytes)});
  return table.render();
}

std::string tensors_text(const CheckpointManifest& manifest) {
  ConsoleTable table({{"tensor", Align::left},
                      {"type", Align::left},
                      {"shape", Align::left},
                      {"blocks", Align::right},
                      {"fingerprint", Align::left}});
  for (const StoredTensor& tensor : manifest.tensors) {
    table.add_row({fmt::format("{}/{}", tensor.group, tensor.name), std::string(to_string(tensor.type)),
                   fmt::format("{}", tensor.shape), std::to_string(tensor.blocks.size()),
                   tensor.fingerprint.hex()});
  }
  return table.render();
}

}  // namespace

ExitCode list_checkpoints(const std::filesystem::path& run) {
  const CheckpointCatalogue catalogue(checkpoints_of(run));
  ConsoleTable table({{"step", Align::right},
                      {"state", Align::left},
                      {"kind", Align::left},
                      {"written", Align::left},
                      {"size", Align::right},
                      {"loss", Align::right},
                      {"read back", Align::left},
                      {"marks", Align::left}});
  std::string problems;
  const std::optional<BestMark> best = catalogue.best();
  const std::set<std::int64_t> pinned = catalogue.pinned();
  for (const std::int64_t step : catalogue.committed()) {
    const std::string marks = marks_of(step, best, pinned);
    try {
      const CheckpointReader reader = read_checkpoint_folder(catalogue.path_of(step));
      const CheckpointManifest& manifest = reader.manifest();
      table.add_row({std::to_string(step), "committed", manifest.kind, manifest.created,
                     format_bytes(bytes_of_files(manifest)), loss_text(manifest),
                     manifest.read_back ? "yes" : "no", marks});
    } catch (const DamagedCheckpoint& damage) {
      table.add_row({std::to_string(step), "damaged", "-", "-", "-", "-", "-", marks});
      problems += fmt::format("{}\n", damage.what());
    } catch (const Error& error) {
      if (error.code() != ExitCode::missing_input) throw;
      table.add_row({std::to_string(step), "unreadable", "-", "-", "-", "-", "-", marks});
      problems += fmt::format("{}\n", error.what());
    }
  }
  print(table.render());
  for (const std::string& name : catalogue.put_aside()) print(fmt::format("put aside: {}\n", name));
  for (const std::string& name : catalogue.passing())
    print(fmt::format("being written or deleted, or left by a job that ended: {}\n", name));
  print(problems);
  return ExitCode::done;
}

ExitCode show_checkpoint(const std::filesystem::path& path, bool tensors) {
  const CheckpointReader reader = open_checkpoint(path);
  const CheckpointManifest& manifest = reader.manifest();
  print(fmt::format(
      "{}\nid: {}\nkind: {}\nstep: {}\nloss: {}\nwritten: {}\nread back: {}\nrestarted from: {}\n",
      reader.folder().string(), manifest.id, manifest.kind, manifest.step, loss_text(manifest),
      manifest.created, manifest.read_back ? "yes" : "no",
      manifest.restarted_from ? fmt::format("step {}", *manifest.restarted_from) : "-"));
  print(model_line(reader));
  print(fmt::format("written by:\n{}", fields_of(manifest.written_by)));
  print(fmt::format("training state:\n{}", fields_of(manifest.training_state)));
  print(fmt::format("files: {}, parts: {}, text:", format_bytes(bytes_of_files(manifest)),
                    manifest.parts.size()));
  for (const StoredFile& file : manifest.files) print(fmt::format(" {}", file.name));
  print(fmt::format("\n\n{}", groups_text(manifest)));
  if (tensors) print(fmt::format("\n{}", tensors_text(manifest)));
  return ExitCode::done;
}

}  // namespace charter
