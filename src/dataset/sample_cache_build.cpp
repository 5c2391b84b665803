// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sample_cache_build.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>

#include "src/base/checked_math.hpp"
#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"
#include "src/dataset/record_reader.hpp"

namespace charter {
namespace {

struct FileState {
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail(ExitCode::missing_input, fmt::format("{}: cannot open: {}", path.string(), std::strerror(errno)));
  }
  return {status.st_size, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// What a template makes of fixed messages: changes with the kind, the system message, BOS and EOS.
Fingerprint rendering_fingerprint(const ChatTemplate& chat_template) {
  std::vector<TokenId> ids = chat_template.render({{Role::user, "a b"}, {Role::assistant, "c"}}).ids;
  for (const TokenId id : chat_template.render_document("d e")) ids.push_back(id);
  StreamHash hash;
  hash.update(std::as_bytes(std::span(ids)));
  return hash.digest();
}

Json settings_of(const SampleCacheRequest& request, const ChatTemplate& chat_template,
                 const Tokenizer& tokenizer) {
  return {{"tokenizer", tokenizer.fingerprint().hex()},
          {"template", rendering_fingerprint(chat_template).hex()},
          {"max-length", request.options.max_length},
          {"loss-on", to_string(request.options.loss_on)},
          {"long", to_string(request.options.long_policy)},
          {"stride", request.options.stride},
          {"skip-bad-lines", request.skip_bad}};
}

// Adds one file's samples; returns its entry for the description.
Json add_file(std::size_t file, const SampleCacheRequest& request, const ChatTemplate& chat_template,
              SampleCacheWriter& writer, DatasetStatistics& statistics) {
  const std::filesystem::path& path = request.files[file];
  const FileState before = state_of(path);
  RecordReader reader(path, {RecordUse::supervised, request.skip_bad - statistics.bad_records});
  const std::int64_t first_sample = writer.samples();
  bool has_pairs = false;
  while (const auto record = reader.next()) {
    if (!has_pairs && is_preference(record->shape)) {
      has_pairs = true;
      log_info(fmt::format("{}: has pairs of answers; the chosen ones are learnt", path.string()));
    }
    const std::vector<Sample> samples = sft_samples(*record, chat_template, request.options, statistics);
    for (const Sample& sample : samples) writer.add(sample);
    if (request.on_record) request.on_record(file, *record, samples);
    if (request.progress && statistics.records % 1000 == 0) request.progress(statistics);
  }
  statistics.bad_records += reader.bad_records();
  statistics.replaced_surrogates += reader.replaced_surrogates();
  if (state_of(path) != before) {
    fail(ExitCode::bad_input, fmt::format("{}: changed while it was read; start again", path.string()));
  }
  return {{"path", path.string()},
          {"bytes", before.bytes},
          {"modified_ns", before.modified_ns},
          {"content", reader.content_fingerprint().hex()},
          {"records", reader.records()},
          {"samples", writer.samples() - first_sample}};
}

std::string content_of(const std::filesystem::path& path) {
  TextStream stream(path);
  std::string line;
  while (stream.get_line(line, 0) != TextStream::Line::none) continue;
  return stream.content_fingerprint().hex();
}

void check_settings(const std::filesystem::path& cache, const Json& stored, const Json& wanted) {
  std::string different;
  for (const auto& [key, value] : wanted.items()) {
    const Json& before = stored.contains(key) ? stored[key] : Json();
    if (before != value) different += fmt::format("; {} was {}, is {}", key, before.dump(), value.dump());
  }
  if (different.empty()) return;
  fail(ExitCode::bad_input,
       fmt::format("{}: was made with other settings{}. Use the same settings, or another run folder",
                   cache.string(), different));
}

void check_files(const std::filesystem::path& cache, const Json& stored, const SampleCacheRequest& request) {
  if (stored.size() != request.files.size()) {
    fail(ExitCode::bad_input,
         fmt::format("{}: was made from {} data files, {} are given. Use the same files, or another run "
                     "folder",
                     cache.string(), stored.size(), request.files.size()));
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::filesystem::path& path = request.files[i];
    const FileState now = state_of(path);
    if (now == FileState{stored[i].at("bytes").get<std::int64_t>(),
                         stored[i].at("modified_ns").get<std::int64_t>()}) {
      continue;
    }
    if (content_of(path) == stored[i].at("content").get<std::string>()) continue;
    fail(ExitCode::bad_input,
         fmt::format("{}: is not the data that {} was made from ({}): a run goes on with the data it "
                     "started with. Restore the file, or use another run folder",
                     path.string(), cache.string(), stored[i].at("path").get<std::string>()));
  }
}

}  // namespace

DatasetStatistics build_sample_cache(const std::filesystem::path& cache, const SampleCacheRequest& request,
                                     const ChatTemplate& chat_template, const Tokenizer& tokenizer) {
  if (request.files.empty()) fail(ExitCode::usage, "no data file given; use --data FILE");
  SampleCacheWriter writer(cache);
  DatasetStatistics statistics;
  Json files = Json::array();
  for (std::size_t file = 0; file < request.files.size(); ++file)
    files.push_back(add_file(file, request, chat_template, writer, statistics));
  if (statistics.samples == 0) {
    fail(ExitCode::bad_input,
         fmt::format("{}{}: no sample is left: {}", request.files.front().string(),
                     request.files.size() > 1 ? " and others" : "", describe(statistics)));
  }
  writer.finish({{"settings", settings_of(request, chat_template, tokenizer)},
                 {"files", files},
                 {"statistics", to_json(statistics)}});
  return statistics;
}

SampleCache open_or_build_sample_cache(const std::filesystem::path& cache, const SampleCacheRequest& request,
                                       const ChatTemplate& chat_template, const Tokenizer& tokenizer) {
  if (!path_exists(cache)) {
    build_sample_cache(cache, request, chat_template, tokenizer);
    return open_sample_cache(cache, CacheCheck::full);
  }
  SampleCache opened = open_sample_cache(cache, CacheCheck::full);
  try {
    check_settings(cache, opened.description.at("settings"), settings_of(request, chat_template, tokenizer));
    check_files(cache, opened.description.at("files"), request);
  } catch (const Json::exception& error) {
    fail(ExitCode::bad_input,
         fmt::format("{}: its description lacks something: {}; delete the file to have it made again",
                     cache.string(), error.what()));
  }
  return opened;
}

DatasetStatistics statistics_of(const SampleCache& cache) {
  const bool stored = cache.description.contains("statistics");
  return statistics_from_json(stored ? cache.description["statistics"] : Json(), "sample cache");
}

std::vector<std::int64_t> samples_by_file(const SampleCache& cache) {
  std::vector<std::int64_t> samples;
  std::int64_t sum = 0;
  try {
    for (const Json& file : cache.description.at("files")) {
      samples.push_back(file.at("samples").get<std::int64_t>());
      sum = checked_add(sum, samples.back(), "samples of all files", ExitCode::bad_input);
    }
  } catch (const Json::exception& error) {
    fail(ExitCode::bad_input, fmt::format("sample cache: its list of files is damaged: {}", error.what()));
  }
  if (sum != cache.store.size() || std::ranges::any_of(samples, [](std::int64_t n) { return n < 0; })) {
    fail(ExitCode::bad_input, fmt::format("sample cache: its files are said to have {} samples, it holds {}",
                                          sum, cache.store.size()));
  }
  return samples;
}

}  // namespace charter
