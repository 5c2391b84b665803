// SPDX-License-Identifier: Apache-2.0
// Finding checkpoints again and the marks beside them. Saving is in store_save.cpp.
#include "modules/checkpoint/checkpoint_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/process_identity.hpp"
#include "modules/checkpoint/save_folder.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

// A checkpoint that rank 0 has opened, as text for the others: "<step>\n<manifest>".
std::string candidate_text(const CheckpointReader& reader) {
  return fmt::format("{}\n{}", reader.step(), manifest_text(reader.manifest()));
}

CheckpointReader reader_of(const std::string& candidate, const CheckpointCatalogue& catalogue) {
  const std::size_t line = candidate.find('\n');
  const std::filesystem::path folder = catalogue.path_of(std::stoll(candidate.substr(0, line)));
  return {folder,
          parse_manifest(std::string_view(candidate).substr(line + 1), (folder / manifest_file).string())};
}

void verify(const Communicator& comm, const CheckpointReader& reader) {
  together(comm, "verifying " + reader.folder().string(), [&] {
    reader.verify_blocks(comm.rank(), comm.size());
    if (comm.rank() == 0) {
      for (const StoredFile& file : reader.manifest().files) reader.file(file.name);
    }
  });
}

}  // namespace

CheckpointStore::CheckpointStore(const Communicator& comm, const std::filesystem::path& run_folder,
                                 const CheckpointOptions& options)
    : comm_(comm), catalogue_(run_folder / checkpoints_folder), options_(options) {
  if (options_.job_id.empty()) {
    const ProcessIdentity self = this_process();
    options_.job_id = fmt::format("{}-{}", self.host, self.pid);
  }
  together(comm_, "opening the checkpoints folder", [&] {
    check_options(options_);
    if (comm_.rank() != 0) return;
    catalogue_.create();
    catalogue_.sweep();
    ledger_ = std::make_unique<RestartLedger>(catalogue_.folder());
  });
}

CheckpointStore::~CheckpointStore() = default;

std::optional<std::int64_t> CheckpointStore::restore(
    const std::function<void(const CheckpointReader&)>& load) {
  const auto reader = open_newest(load);
  return reader ? std::optional(reader->step()) : std::nullopt;
}

std::optional<CheckpointReader> CheckpointStore::find_latest() {
  auto reader = open_newest([this](const CheckpointReader& opened) { verify(comm_, opened); });
  if (reader) is_verified_[reader->step()] = true;
  return reader;
}

std::optional<CheckpointReader> CheckpointStore::open_newest(
    const std::function<void(const CheckpointReader&)>& use) {
  const ScopedPhase phase(comm_.log(), "restoring a checkpoint", options_.deadline);
  std::string reasons;
  for (;;) {
    const std::string candidate =
        agree_on_text(comm_, "looking for a checkpoint", [&] { return next_candidate(reasons); });
    if (candidate.empty()) return std::nullopt;
    CheckpointReader reader =
        together(comm_, "opening a checkpoint", [&] { return reader_of(candidate, catalogue_); });
    const ScopedPhase reading(comm_.log(), "reading a checkpoint",
                              deadline_for(reader.manifest().tensor_bytes()));
    try {
      use(reader);
      restarted_from_ = reader.step();
      is_verified_[reader.step()] = reader.manifest().read_back;
      return reader;
    } catch (const Error& error) {
      // `use` throws on all ranks or on none. Any other error than damage is the caller's.
      if (!any_rank(comm_, !reader.damage().empty())) throw;
      together(comm_, "putting a damaged checkpoint aside", [&] {
        if (comm_.rank() != 0) return;
        reasons += fmt::format("\n  {}: {}", step_folder_name(reader.step()), error.what());
        catalogue_.put_aside_as_bad(reader.step(), error.what());
      });
    }
  }
}

// Rank 0: the newest committed checkpoint whose manifest and sizes are right; others are put aside on the
// way. Empty when there never was one.
std::string CheckpointStore::next_candidate(std::string& reasons) const {
  const std::vector<std::int64_t> steps = catalogue_.committed();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const CheckpointReader reader = read_checkpoint_folder(catalogue_.path_of(*step));
      if (reader.step() != *step) {
        throw DamagedCheckpoint(fmt::format("its manifest is that of step {}", reader.step()));
      }
      if (!reasons.empty()) {
        log_error(
            fmt::format("going on from {}; newer ones are damaged:{}", step_folder_name(*step), reasons));
      }
      return candidate_text(reader);
    } catch (const DamagedCheckpoint& damage) {
      reasons += fmt::format("\n  {}: {}", step_folder_name(*step), damage.what());
      catalogue_.put_aside_as_bad(*step, damage.what());
    }
  }
  const std::vector<std::string> aside = catalogue_.put_aside();
  if (aside.empty()) return {};
  fail(ExitCode::missing_input,
       fmt::format("{}: no valid checkpoint is left, and training does not silently begin from scratch.{} "
                   "Put aside: {} (why: "
                   "see BAD there). Repair one and give it its name back, or take a new run folder",
                   catalogue_.folder().string(), reasons.empty() ? "" : reasons + "\n ",
                   fmt::join(aside, ", ")));
}

CheckpointReader CheckpointStore::open(std::int64_t step) {
  const ScopedPhase phase(comm_.log(), "opening a checkpoint", options_.deadline);
  const std::string candidate = agree_on_text(comm_, "opening a checkpoint", [&] {
    return candidate_text(read_checkpoint_folder(catalogue_.path_of(step)));
  });
  CheckpointReader reader =
      together(comm_, "opening a checkpoint", [&] { return reader_of(candidate, catalogue_); });
  const ScopedPhase reading(comm_.log(), "verifying a checkpoint",
                            deadline_for(reader.manifest().tensor_bytes()));
  verify(comm_, reader);
  restarted_from_ = reader.step();
  is_verified_[reader.step()] = true;
  return reader;
}

void CheckpointStore::begin_run(std::optional<std::int64_t> step) {
  together(comm_, "counting restarts", [&] {
    if (ledger_) ledger_->begin(step.value_or(-1));
  });
}

void CheckpointStore::end_run() {
  together(comm_, "closing the restart ledger", [&] {
    if (ledger_) ledger_->end();
  });
}

void CheckpointStore::mark_best(std::int64_t step, double loss) {
  together(comm_, "marking the best checkpoint", [&] {
    if (comm_.rank() != 0) return;
    require(std::filesystem::exists(catalogue_.path_of(step) / manifest_file),
            "the best checkpoint has been committed");
    catalogue_.mark_best({step, loss});
  });
}

std::optional<BestMark> CheckpointStore::best() const {
  const std::string text = agree_on_text(comm_, "reading the best mark", [&]() -> std::string {
    const auto mark = catalogue_.best();
    return mark ? Json::array({mark->step, mark->loss}).dump() : "";
  });
  if (text.empty()) return std::nullopt;
  const Json json = Json::parse(text);
  return BestMark{json[0].get<std::int64_t>(), json[1].is_number() ? json[1].get<double>() : 0.0};
}

std::optional<std::int64_t> CheckpointStore::newest_step() const {
  return last_committed_ ? last_committed_ : restarted_from_;
}

std::int64_t CheckpointStore::bytes_on_disk(std::int64_t tensor_bytes) {
  return folder_bytes(tensor_bytes);
}

}  // namespace charter
