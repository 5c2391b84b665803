// SPDX-License-Identifier: Apache-2.0
// Writes the kept files of binary formats anew: write_seeds tests/fuzz/corpus. The text formats' are written
// by hand.
#include <zlib.h>

#include "modules/checkpoint/part_writer.hpp"
#include "src/base/json.hpp"
#include "src/storage/hdf5_dataset.hpp"
#include "tests/fuzz/part_seed.hpp"
#include "tests/src/storage/gguf_builder.hpp"
#include "tests/src/text/toy_tokenizers.hpp"

namespace charter::fuzz {
namespace {

namespace fs = std::filesystem;

std::string safetensors(const std::string& header, const std::string& data) {
  return raw(static_cast<std::uint64_t>(header.size())) + header + data;
}

void write_safetensors(const fs::path& folder) {
  const std::string one = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  write_bytes(folder / "one_tensor", safetensors(one, "12345678"));
  write_bytes(
      folder / "every_kind",
      safetensors(R"({"__metadata__":{"format":"pt"},"f":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                  R"("h":{"dtype":"F16","shape":[1,2],"data_offsets":[4,8]},)"
                  R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},)"
                  R"("n":{"dtype":"F4","shape":[2],"data_offsets":[12,13]},)"
                  R"("e":{"dtype":"I64","shape":[0,3],"data_offsets":[13,13]}}   )",
                  "1234567890123"));
  write_bytes(folder / "overlap", safetensors(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                              R"("b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
                                              "1234"));
  write_bytes(
      folder / "huge_extent",
      safetensors(R"({"a":{"dtype":"F32","shape":[9223372036854775807,3],"data_offsets":[0,4]}})", "1234"));
  write_bytes(folder / "huge_length", raw(~0ULL) + one);
}

GgufBuilder llama() {
  GgufBuilder builder;
  builder.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.context_length", 8);
  builder.u32("llama.embedding_length", 8)
      .u32("llama.feed_forward_length", 4)
      .u32("llama.attention.head_count", 2);
  builder.u32("llama.attention.head_count_kv", 1).f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  const auto ones = [](std::size_t count) { return std::vector<float>(count, 1.0F); };
  builder.floats("token_embd.weight", {8, 3}, ones(24)).floats("output_norm.weight", {8}, ones(8));
  builder.floats("blk.0.attn_norm.weight", {8}, ones(8)).floats("blk.0.ffn_norm.weight", {8}, ones(8));
  builder.floats("blk.0.attn_q.weight", {8, 8}, ones(64)).floats("blk.0.attn_k.weight", {8, 4}, ones(32));
  builder.floats("blk.0.attn_v.weight", {8, 4}, ones(32))
      .floats("blk.0.attn_output.weight", {8, 8}, ones(64));
  builder.floats("blk.0.ffn_gate.weight", {8, 4}, ones(32)).floats("blk.0.ffn_up.weight", {8, 4}, ones(32));
  builder.floats("blk.0.ffn_down.weight", {4, 8}, ones(32));
  return builder;
}

void write_gguf(const fs::path& folder) {
  GgufBuilder every;
  every.value("u8", 0, raw<std::uint8_t>(1)).value("i64", 11, raw<std::int64_t>(-5)).boolean("flag", true);
  every.f32("f32", 0.5F).value("f64", 12, raw(0.25)).text("text", "hello").texts("texts", {"a", "", "bc"});
  every.i32s("numbers", {5, -6}).u32("general.alignment", 32);
  every.floats("w", {2, 2}, {1, 2, 3, 4}).tensor("q4", {32}, 2, std::string(18, '\1'));
  every.write(folder / "every_kind");
  llama().write(folder / "llama");
  GgufBuilder vocabulary = llama();
  vocabulary.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "llama-bpe");
  vocabulary.texts("tokenizer.ggml.tokens", {"a", "b", "ab"}).texts("tokenizer.ggml.merges", {"a b"});
  vocabulary.i32s("tokenizer.ggml.token_type", {1, 1, 3}).u32("tokenizer.ggml.eos_token_id", 2);
  vocabulary.write(folder / "vocabulary");
  GgufBuilder scaled = llama();
  scaled.text("llama.rope.scaling.type", "\xFF\xFE").write(folder / "text_not_utf8");
  GgufBuilder layers;
  layers.text("general.architecture", "llama")
      .u32("llama.block_count", 1U << 31)
      .u32("llama.embedding_length", 8);
  layers.u32("llama.attention.head_count", 2)
      .floats("token_embd.weight", {8, 3}, std::vector<float>(24, 1.0F));
  layers.write(folder / "two_thousand_million_layers");
}

void write_part(const fs::path& path, void (*change)(hid_t file)) {
  const CheckpointManifest manifest = seed_manifest();
  const TemporaryFolder folder;
  PartWriter writer(folder.path(), 0, manifest.id);
  for (const StoredTensor& tensor : manifest.tensors) {
    for (const StoredBlock& block : tensor.blocks) {
      writer.write({tensor.group, tensor.name, tensor.type, tensor.shape, block.place, block.checksum, {}},
                   seed_bytes(tensor, block));
    }
  }
  writer.finish();
  if (change != nullptr) {
    const hid_t file = H5Fopen((folder / "part_0000.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
  }
  fs::copy_file(folder / "part_0000.h5", path, fs::copy_options::overwrite_existing);
}

// A data set of four floats beside the others, made in another way than Charter's.
void add_dataset(hid_t file, const char* name, void (*prepare)(hid_t creation)) {
  const hsize_t extent = 4;
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  prepare(creation);
  H5Dclose(H5Dcreate2(file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Pclose(creation);
  H5Sclose(space);
}

void write_parts(const fs::path& folder) {
  const Hdf5Library library;
  write_part(folder / "part", nullptr);
  write_part(folder / "links", [](hid_t file) {
    H5Lcreate_soft("/weights/b", file, "/weights/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("elsewhere.h5", "/x", file, "/weights/b/9", H5P_DEFAULT, H5P_DEFAULT);
  });
  write_part(folder / "other_layouts", [](hid_t file) {
    add_dataset(file, "/weights/b/2", [](hid_t list) { H5Pset_layout(list, H5D_COMPACT); });
    add_dataset(file, "/weights/b/3", [](hid_t list) {
      const hsize_t chunk = 2;
      H5Pset_chunk(list, 1, &chunk);
      H5Pset_fletcher32(list);
    });
    add_dataset(file, "/weights/b/4", [](hid_t list) { H5Pset_external(list, "elsewhere", 0, 16); });
  });
}

void write_tokenizers(const fs::path& folder) {
  const auto of = [](const char* pre_tokenizer) {
    return build_byte_level_tokenizer_json(
        toy_vocabulary({"h e", "l l", "\u0120 he"}, {"<|endoftext|>", "<|im_start|>"}, pre_tokenizer));
  };
  write_bytes(folder / "byte_level", of("gpt-2"));
  write_bytes(folder / "pattern_and_nfc", of("qwen2") + "\x1e\nA\u030A 1234 don't <|im_start|>");
  // A pattern that tries every way to cut a run of letters in two.
  Json slow = Json::parse(of("llama-bpe"));
  slow["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "(?:a+)+b|\\s+";
  write_bytes(folder / "exponential_pattern", slow.dump() + "\x1e\n" + std::string(60, 'a') + "cb");
  write_bytes(
      folder / "word_level",
      R"({"version":"1.0","added_tokens":[{"id":3,"content":"<s>","special":true}],"normalizer":null,)"
      R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},)"
      R"({"type":"Digits","individual_digits":true}]},"post_processor":{"type":"TemplateProcessing",)"
      R"("single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}]},"decoder":null,)"
      R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"the":1,"fox":2}}})"
      "\x1e\nthe fox 12");
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace
}  // namespace charter::fuzz

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::filesystem::path corpus = argv[1];
  for (const char* name : {"safetensors", "gguf", "hdf5_part", "records", "tokenizer"}) {
    std::filesystem::create_directories(corpus / name);
  }
  charter::fuzz::write_safetensors(corpus / "safetensors");
  charter::fuzz::write_gguf(corpus / "gguf");
  charter::fuzz::write_parts(corpus / "hdf5_part");
  charter::fuzz::write_tokenizers(corpus / "tokenizer");
  const std::string lines = "{\"text\":\"one\"}\n{\"prompt\":\"a\",\"completion\":\"b\"}\n";
  // The first byte chooses data.jsonl.gz (records_fuzz.cpp).
  charter::write_bytes(corpus / "records/gzip", "\1" + charter::fuzz::gzipped(lines));
  return 0;
}
