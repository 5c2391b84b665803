// SPDX-License-Identifier: Apache-2.0
#include "apps/support/checkpoint_commands.hpp"

#include <cstdio>
#include <limits>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_catalogue.hpp"
#include "src/storage/model_source.hpp"

namespace charter {

void add_checkpoint_commands(CommandSet& set, CheckpointToolOptions& o) {
  OptionSet& list = set.add("list", "Lists the checkpoints of a run.");
  list.add("run", o.run, "run folder").required().positional().value_name("RUN");

  const char* checkpoint = "checkpoint folder, or a run folder for its newest";
  OptionSet& show = set.add("show", "Shows what is in a checkpoint, from its manifest.");
  show.add("checkpoint", o.checkpoint, checkpoint).required().positional().value_name("CHECKPOINT");
  show.add("tensors", o.tensors, "list every tensor");

  OptionSet& verify = set.add("verify", "Reads every block and compares checksums and fingerprints.");
  verify.add("checkpoint", o.checkpoint, "checkpoint folder, or a run folder for all of its checkpoints")
      .required()
      .positional()
      .value_name("CHECKPOINT");

  OptionSet& diff = set.add("diff", "Compares two checkpoints; exit code 1 when they differ.");
  diff.add("first", o.checkpoint, checkpoint).required().positional().value_name("FIRST");
  diff.add("second", o.other, checkpoint).required().positional().value_name("SECOND");
  diff.add("group", o.groups, "compare only these tensors: weights, moment1, moment2, master")
      .value_name("GROUP");

  OptionSet& prune = set.add("prune", "Deletes old checkpoints of a run that is not running.");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  prune.add("run", o.run, "run folder").required().positional().value_name("RUN");
  prune
      .add("keep", o.keep,
           "newest checkpoints that stay, and as many of the newest that were read back; so do "
           "the best, the pinned ones")
      .required()
      .range(2, most);
  prune
      .add("keep-every", o.keep_every,
           "checkpoints of steps divisible by it stay as well; 0: none for that reason")
      .range(0, std::numeric_limits<std::int64_t>::max())
      .unit("steps");
  prune.add("steal-lock", o.steal_lock,
            "take over the folder from a job on another host that is known to be dead");
  prune.add("dry-run", o.dry_run, "only say what would be deleted");
}

std::map<std::string, std::function<ExitCode()>> checkpoint_programs(const CheckpointToolOptions& options) {
  return {
      {"list", [&] { return list_checkpoints(options.run); }},
      {"show", [&] { return show_checkpoint(options.checkpoint, options.tensors); }},
      {"verify", [&] { return verify_checkpoints(options.checkpoint); }},
      {"diff", [&] { return diff_checkpoints(options.checkpoint, options.other, options.groups); }},
      {"prune", [&] { return prune_checkpoints(options); }},
  };
}

std::filesystem::path checkpoints_of(const std::filesystem::path& run) {
  const std::filesystem::path folder = run / checkpoints_folder;
  if (!std::filesystem::is_directory(folder)) {
    fail(ExitCode::missing_input,
         fmt::format("{}: is no run folder: it holds no folder {}", run.string(), checkpoints_folder));
  }
  return folder;
}

CheckpointReader open_checkpoint(const std::filesystem::path& path) {
  switch (model_form_of(path)) {
    case ModelForm::checkpoint:
      return read_checkpoint_folder(path);
    case ModelForm::run_folder: {
      const CheckpointCatalogue catalogue(checkpoints_of(path));
      const std::vector<std::int64_t> steps = catalogue.committed();
      if (steps.empty())
        fail(ExitCode::missing_input, fmt::format("{}: holds no checkpoint", catalogue.folder().string()));
      return read_checkpoint_folder(catalogue.path_of(steps.back()));
    }
    default:
      fail(ExitCode::missing_input,
           fmt::format("{}: is neither a checkpoint (a folder with {}) nor a run folder", path.string(),
                       manifest_file));
  }
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace charter
