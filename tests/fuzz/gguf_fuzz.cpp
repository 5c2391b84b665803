// SPDX-License-Identifier: Apache-2.0
// One GGUF file: the container, the model in it, its tokenizer. What is accepted can be read to its last
// element.
#include <vector>

#include "src/storage/gguf_model.hpp"
#include "src/storage/gguf_text.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace charter;

namespace {

void read_metadata(const GgufFile& file) {
  for (const std::string& key : file.keys()) {
    file.element_count(key);
    fuzz::accepts([&] { file.find_text(key); });
    fuzz::accepts([&] { file.find_texts(key); });
    fuzz::accepts([&] { file.find_integers(key); });
    fuzz::accepts([&] { file.find_real(key); });
  }
}

void read_tensors(const TensorSource& source, std::size_t file_bytes) {
  for (const TensorInfo& info : source.tensors()) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : info.shape) elements *= extent;
    fuzz::expect(elements <= 8 * static_cast<std::int64_t>(file_bytes),
                 "a tensor has no more elements than the file bits");
    std::vector<float> values(static_cast<std::size_t>(elements));
    const bool read = fuzz::accepts([&] { source.read(info.name, 0, values); });
    fuzz::expect(read == info.readable, "exactly the readable tensors are read");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFile file("model.gguf");
  file.write(fuzz::text_of(data, size));
  fuzz::accepts([&] {
    const GgufFile container(file.path());
    read_metadata(container);
    read_gguf_text(container);
  });
  ModelSource model;
  if (fuzz::accepts([&] { model = open_gguf_model(file.path()); })) read_tensors(*model.tensors, size);
  return 0;
}
