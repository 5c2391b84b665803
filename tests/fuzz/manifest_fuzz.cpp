// SPDX-License-Identifier: Apache-2.0
// A checkpoint's MANIFEST.json: the input as it is, and the input with a right seal, as a faulty or hostile
// program would write it. What is accepted writes a text that reads the same.
#include "modules/checkpoint/manifest.hpp"
#include "modules/checkpoint/manifest_seal.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace charter;

namespace {

void check(std::string_view text) {
  CheckpointManifest manifest;
  if (!fuzz::accepts([&] { manifest = parse_manifest(text, "MANIFEST.json"); })) return;
  std::string written;
  const bool again = fuzz::accepts([&] {
    written = manifest_text(manifest);
    manifest = parse_manifest(written, "again");
  });
  fuzz::expect(again, "what was written is read");
  fuzz::expect(manifest_text(manifest) == written, "what was written reads the same");
  for (const StoredTensor& tensor : manifest.tensors) {
    fuzz::expect(manifest.find(tensor.group, tensor.name) != nullptr, "every tensor is found by its name");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check(text);
  check(sealed(std::string(text)));
  return 0;
}
