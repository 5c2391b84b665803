// SPDX-License-Identifier: Apache-2.0
// A data file of any form: the first byte says how it is named and read (see names and uses), the rest is its
// content. Records that are accepted become samples.
#include <array>

#include "src/dataset/record_reader.hpp"
#include "src/dataset/sft_sample.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

using namespace charter;

namespace {

constexpr std::array<const char*, 4> names = {"data.jsonl", "data.jsonl.gz", "data.txt", "data.txt.gz"};
constexpr std::array uses = {RecordUse::supervised, RecordUse::preference, RecordUse::prompts};

const ChatTemplate& chat_template() {
  static const ChatTemplate made = [] {
    const Tokenizer tokenizer = toy_tokenizer({"h e"}, {"<|endoftext|>", "<|im_start|>", "<|im_end|>"});
    TextSettings settings;
    settings.eos = {*tokenizer.find("<|endoftext|>")};
    return ChatTemplate::choose("chatml", settings, tokenizer);
  }();
  return made;
}

void read_all(const std::filesystem::path& path, const RecordReaderOptions& options) {
  RecordReader reader(path, options);
  DatasetStatistics statistics;
  SftOptions sft;
  sft.max_length = 64;
  while (const auto record = reader.next()) {
    if (options.use == RecordUse::supervised) {
      fuzz::accepts([&] { sft_samples(*record, chat_template(), sft, statistics); });
    }
  }
  fuzz::expect(reader.bad_records() <= options.skip_bad, "no more records are passed over than may be");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<fuzz::InputFile, 4> files = {fuzz::InputFile(names[0]), fuzz::InputFile(names[1]),
                                                       fuzz::InputFile(names[2]), fuzz::InputFile(names[3])};
  const unsigned choice = size == 0 ? 0 : data[0];
  const fuzz::InputFile& file = files[choice % files.size()];
  const RecordReaderOptions options{uses[choice / files.size() % uses.size()], choice >= 128 ? 3 : 0};
  file.write(fuzz::text_of(data, size).substr(size == 0 ? 0 : 1));
  fuzz::accepts([&] { read_all(file.path(), options); });
  return 0;
}
