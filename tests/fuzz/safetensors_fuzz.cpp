// SPDX-License-Identifier: Apache-2.0
// One safetensors file. What is accepted can be read to its last element.
#include <algorithm>
#include <vector>

#include "src/storage/safetensors.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace charter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFile file("model.safetensors");
  file.write(fuzz::text_of(data, size));
  std::shared_ptr<TensorSource> source;
  if (!fuzz::accepts([&] { source = open_safetensors(file.path()); })) return 0;
  std::vector<float> values;
  for (const TensorInfo& info : source->tensors()) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : info.shape) elements *= extent;
    fuzz::expect(elements <= 8 * static_cast<std::int64_t>(size),
                 "a tensor has no more elements than the file bits");
    values.resize(static_cast<std::size_t>(elements));
    const bool read = fuzz::accepts([&] { source->read(info.name, 0, values); });
    fuzz::expect(read == info.readable, "exactly the readable tensors are read");
  }
  fuzz::accepts([&] { read_safetensors_metadata(file.path()); });
  return 0;
}
