// SPDX-License-Identifier: Apache-2.0
#include "src/storage/safetensors_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "src/base/checked_math.hpp"
#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "src/storage/safetensors_header.hpp"

namespace charter {
namespace {

constexpr std::int64_t piece_elements = 1 << 16;
constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

[[noreturn]] void cannot_write(const std::filesystem::path& path, const char* step) {
  fail(ExitCode::cannot_write, fmt::format("{}: {} failed: {}", path.string(), step, std::strerror(errno)));
}

// A file that grows under NAME.tmp.
class ShardFile {
 public:
  explicit ShardFile(std::filesystem::path path)
      : path_(std::move(path)), temporary_(path_.string() + ".tmp") {
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) cannot_write(temporary_, "creating");
  }
  ~ShardFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!renamed_) ::unlink(temporary_.c_str());
  }
  ShardFile(ShardFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::move(other.temporary_)),
        fd_(std::exchange(other.fd_, -1)),
        renamed_(std::exchange(other.renamed_, true)) {}
  ShardFile& operator=(ShardFile&&) = delete;

  void write_at(std::int64_t offset, const void* bytes, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
      const ssize_t put = ::pwrite(fd_, static_cast<const char*>(bytes) + done, count - done,
                                   static_cast<off_t>(offset) + static_cast<off_t>(done));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) cannot_write(temporary_, "writing");
      done += static_cast<std::size_t>(put);
    }
  }
  void sync_and_close() {
    if (::fsync(fd_) != 0) cannot_write(temporary_, "fsync");
    if (::close(std::exchange(fd_, -1)) != 0) cannot_write(temporary_, "closing");
  }
  void move_into_place() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write(path_, "renaming");
    renamed_ = true;
  }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  bool renamed_ = false;
};

struct PlacedTensor {
  TensorInfo info;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::size_t shard = 0;
  std::int64_t begin = 0;  // in the shard, from the end of its header
  std::int64_t done = 0;   // elements written
};

std::vector<PlacedTensor> measure(const std::vector<TensorInfo>& tensors) {
  std::vector<PlacedTensor> placed;
  for (const TensorInfo& info : tensors) {
    require(info.type == DataType::f32 || info.type == DataType::f16 || info.type == DataType::bf16,
            "safetensors are written as F32, F16 or BF16");
    PlacedTensor tensor{info};
    tensor.elements = checked_product(info.shape, "elements of " + info.name, ExitCode::internal);
    tensor.bytes = bytes_of(info.type, tensor.elements);
    placed.push_back(std::move(tensor));
  }
  return placed;
}

// Fills shards in declared order; returns how many there are (at least one).
std::size_t assign_shards(std::vector<PlacedTensor>& tensors, std::int64_t shard_bytes) {
  std::size_t shard = 0;
  std::int64_t used = 0;
  for (PlacedTensor& tensor : tensors) {
    if (used > 0 && tensor.bytes > shard_bytes - used) {
      ++shard;
      used = 0;
    }
    tensor.shard = shard;
    used += tensor.bytes;
  }
  return shard + 1;
}

// Wide types first inside a shard, so that every tensor starts at a multiple of its element size.
std::string lay_out_shard(std::vector<PlacedTensor>& tensors, std::size_t shard) {
  std::vector<PlacedTensor*> members;
  for (PlacedTensor& tensor : tensors) {
    if (tensor.shard == shard) members.push_back(&tensor);
  }
  std::stable_sort(members.begin(), members.end(), [](const PlacedTensor* a, const PlacedTensor* b) {
    return bytes_of(a->info.type, 1) > bytes_of(b->info.type, 1);
  });
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::int64_t offset = 0;
  for (PlacedTensor* tensor : members) {
    tensor->begin = offset;
    offset = checked_add(offset, tensor->bytes, "bytes of a shard", ExitCode::internal);
    header += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          Json(tensor->info.name).dump(), to_string(tensor->info.type),
                          fmt::join(tensor->info.shape, ","), tensor->begin, offset);
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  require(static_cast<std::int64_t>(header.size()) <= most_safetensors_header_bytes,
          "a shard's header is not too large");
  return header;
}

// `first` is the place of values[0] in the tensor.
void convert(const TensorInfo& tensor, std::int64_t first, std::span<const float> values,
             std::vector<std::uint16_t>& out) {
  const bool half = tensor.type == DataType::f16;
  out.resize(values.size());
  std::transform(values.begin(), values.end(), out.begin(), half ? float_to_f16 : float_to_bf16);
  const std::uint16_t all_of_exponent = half ? 0x7c00 : 0x7f80;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((out[i] & all_of_exponent) != all_of_exponent || !std::isfinite(values[i])) continue;
    fail(ExitCode::bad_input, fmt::format("element {} of {} is {}, beyond the largest {}: write it as F32{}",
                                          first + static_cast<std::int64_t>(i), tensor.name, values[i],
                                          to_string(tensor.type), half ? " or BF16" : ""));
  }
}

void require_empty_place(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fail(ExitCode::cannot_write, fmt::format("{}: cannot create: {}", folder.string(), error.message()));
  }
  for (const char* name : {single_name, index_name}) {
    if (std::filesystem::exists(folder / name)) {
      fail(ExitCode::cannot_write,
           fmt::format("{}: exists already; choose another folder or remove it", (folder / name).string()));
    }
  }
}

}  // namespace

struct SafetensorsWriter::Layout {
  std::filesystem::path folder;
  std::vector<PlacedTensor> tensors;
  std::unordered_map<std::string, std::size_t> index_of;
  std::vector<std::string> shard_names;
  std::vector<std::int64_t> data_offsets;  // of each shard: length field and header
  std::vector<ShardFile> shards;
  std::vector<std::uint16_t> converted;

  std::string index_text() const;
};

std::string SafetensorsWriter::Layout::index_text() const {
  std::int64_t total = 0;
  Json weight_map = Json::object();
  for (const PlacedTensor& tensor : tensors) {
    total += tensor.bytes;
    weight_map[tensor.info.name] = shard_names[tensor.shard];
  }
  return Json{{"metadata", {{"total_size", total}}}, {"weight_map", std::move(weight_map)}}.dump(2) + "\n";
}

SafetensorsWriter::SafetensorsWriter(std::filesystem::path folder, const std::vector<TensorInfo>& tensors,
                                     std::int64_t shard_bytes)
    : layout_(std::make_unique<Layout>()) {
  require(shard_bytes > 0, "a shard has room");
  Layout& layout = *layout_;
  layout.folder = std::move(folder);
  layout.tensors = measure(tensors);
  for (std::size_t index = 0; index < layout.tensors.size(); ++index) {
    const std::string& name = layout.tensors[index].info.name;
    require(name != "__metadata__" && layout.index_of.emplace(name, index).second, "tensor names are unique");
  }
  require_empty_place(layout.folder);
  const std::size_t shards = assign_shards(layout.tensors, shard_bytes);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    layout.shard_names.push_back(
        shards == 1 ? single_name : fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards));
    const std::string header = lay_out_shard(layout.tensors, shard);
    layout.shards.emplace_back(layout.folder / layout.shard_names.back());
    const std::uint64_t length = header.size();
    layout.shards.back().write_at(0, &length, sizeof length);
    layout.shards.back().write_at(sizeof length, header.data(), header.size());
    layout.data_offsets.push_back(static_cast<std::int64_t>(sizeof length + header.size()));
  }
}

SafetensorsWriter::~SafetensorsWriter() = default;

void SafetensorsWriter::append(const std::string& name, std::span<const float> values) {
  Layout& layout = *layout_;
  const auto found = layout.index_of.find(name);
  require(found != layout.index_of.end(), "the tensor to write was declared: " + name);
  PlacedTensor& tensor = layout.tensors[found->second];
  require(static_cast<std::int64_t>(values.size()) <= tensor.elements - tensor.done,
          "no more values are written than declared: " + name);
  ShardFile& shard = layout.shards[tensor.shard];
  while (!values.empty()) {
    const auto piece = values.first(std::min<std::size_t>(values.size(), piece_elements));
    const std::int64_t offset =
        layout.data_offsets[tensor.shard] + tensor.begin + bytes_of(tensor.info.type, tensor.done);
    if (tensor.info.type == DataType::f32) {
      shard.write_at(offset, piece.data(), piece.size_bytes());
    } else {
      convert(tensor.info, tensor.done, piece, layout.converted);
      shard.write_at(offset, layout.converted.data(), piece.size() * sizeof(std::uint16_t));
    }
    tensor.done += static_cast<std::int64_t>(piece.size());
    values = values.subspan(piece.size());
  }
}

void SafetensorsWriter::finish() {
  Layout& layout = *layout_;
  for (const PlacedTensor& tensor : layout.tensors) {
    require(tensor.done == tensor.elements, "every declared value was written: " + tensor.info.name);
  }
  for (ShardFile& shard : layout.shards) shard.sync_and_close();
  for (ShardFile& shard : layout.shards) shard.move_into_place();
  if (layout.shards.size() > 1) write_file_atomically(layout.folder / index_name, layout.index_text());
  fsync_path(layout.folder);
}

}  // namespace charter
