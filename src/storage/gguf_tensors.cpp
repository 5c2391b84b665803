// SPDX-License-Identifier: Apache-2.0
// make_gguf_tensor_source: reading with the converter's changes undone.
#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/storage/gguf_model.hpp"
#include "src/storage/tensor_decode.hpp"

namespace charter {
namespace {

struct MappedTensor {
  const GgufTensor* tensor = nullptr;
  GgufChange change = GgufChange::none;
};

std::int64_t row_length(const GgufTensor& tensor) {
  return tensor.shape.size() == 2 ? tensor.shape[1] : 1;
}

class GgufSource : public TensorSource {
 public:
  GgufSource(std::shared_ptr<const GgufFile> file, GgufArchitecture architecture, const GgufDimensions& dims,
             bool tied)
      : file_(std::move(file)), dims_(dims) {
    for (const GgufTensor& tensor : file_->tensors()) {
      if (tensor.name == "rope_freqs.weight" || (tied && tensor.name == "output.weight")) continue;
      const auto mapping = map_gguf_name(architecture, tensor.name, dims.layers);
      require(mapping.has_value(), "tensor names were checked before");
      add(tensor, *mapping);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }

  void read(const std::string& name, std::int64_t first, std::span<float> out) const override {
    const auto found = places_.find(name);
    if (found == places_.end()) {
      fail(ExitCode::missing_input, fmt::format("{}: has no tensor {}", file_->path().string(), name));
    }
    const MappedTensor& mapped = found->second;
    if (!mapped.tensor->type) {
      fail(ExitCode::bad_input,
           fmt::format("{}: tensor {} has type {}; F32, F16, BF16, Q4_0, Q4_1 and Q8_0 can be read",
                       file_->path().string(), mapped.tensor->name, mapped.tensor->type_name));
    }
    switch (mapped.change) {
      case GgufChange::none:
        return decode(mapped, first, out);
      case GgufChange::query_rows:
      case GgufChange::key_rows:
        return read_reordered(mapped, first, out);
      case GgufChange::transposed:
        return read_transposed(mapped, first, out);
    }
  }

 private:
  void add(const GgufTensor& tensor, const GgufNameMapping& mapping) {
    TensorInfo info{mapping.name, tensor.type.value_or(DataType::u8), tensor.shape, tensor.type.has_value()};
    if (mapping.change == GgufChange::transposed) {
      if (tensor.shape.size() != 2) file_->refuse(tensor.name, "expected a matrix");
      std::swap(info.shape[0], info.shape[1]);
    } else if (mapping.change != GgufChange::none) {
      const std::int64_t rows =
          dims_.head_dim * (mapping.change == GgufChange::query_rows ? dims_.heads : dims_.key_value_heads);
      if (tensor.shape.empty() || tensor.shape.size() > 2 || tensor.shape[0] != rows) {
        file_->refuse(tensor.name,
                      fmt::format("shape [{}], expected {} rows", fmt::join(tensor.shape, ", "), rows));
      }
    }
    infos_.push_back(std::move(info));
    places_.emplace(mapping.name, MappedTensor{&tensor, mapping.change});
  }

  void decode(const MappedTensor& mapped, std::int64_t first, std::span<float> out) const {
    decode_elements(*mapped.tensor->type, file_->data_of(*mapped.tensor), first, out);
  }

  // Converters move row s * half + j of a head (s = 0, 1; the two halves that rotate together) to row 2 j +
  // s.
  std::int64_t stored_row(std::int64_t row) const {
    const std::int64_t half = dims_.head_dim / 2;
    const std::int64_t inside = row % dims_.head_dim;
    return row - inside + 2 * (inside % half) + inside / half;
  }

  void read_reordered(const MappedTensor& mapped, std::int64_t first, std::span<float> out) const {
    const std::int64_t length = row_length(*mapped.tensor);
    const auto count = static_cast<std::int64_t>(out.size());
    require(first >= 0 && first + count <= mapped.tensor->shape[0] * length,
            "the range lies inside the tensor");
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t row = (first + done) / length;
      const std::int64_t column = (first + done) % length;
      const std::int64_t take = std::min(length - column, count - done);
      decode(mapped, stored_row(row) * length + column,
             out.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(take)));
      done += take;
    }
  }

  // Logical [in, out], stored [out, in]. Tiles of `tile` logical rows keep both sides in cache.
  void read_transposed(const MappedTensor& mapped, std::int64_t first, std::span<float> out) const {
    constexpr std::int64_t tile = 64;
    const std::int64_t columns = mapped.tensor->shape[0];
    const std::int64_t rows = mapped.tensor->shape[1];
    const std::int64_t end = first + static_cast<std::int64_t>(out.size());
    require(first >= 0 && end <= rows * columns, "the range lies inside the tensor");
    std::array<float, tile> values{};
    for (std::int64_t row = first / columns; row * columns < end; row += tile) {
      const std::int64_t height = std::min(tile, (end - 1) / columns + 1 - row);
      for (std::int64_t column = 0; column < columns; ++column) {
        decode(mapped, column * rows + row, std::span(values).first(static_cast<std::size_t>(height)));
        for (std::int64_t step = 0; step < height; ++step) {
          const std::int64_t element = (row + step) * columns + column;
          if (element >= first && element < end) {
            out[static_cast<std::size_t>(element - first)] = values[static_cast<std::size_t>(step)];
          }
        }
      }
    }
  }

  std::shared_ptr<const GgufFile> file_;
  GgufDimensions dims_;
  std::vector<TensorInfo> infos_;
  std::unordered_map<std::string, MappedTensor> places_;
};

}  // namespace

std::shared_ptr<TensorSource> make_gguf_tensor_source(std::shared_ptr<const GgufFile> file,
                                                      GgufArchitecture architecture,
                                                      const GgufDimensions& dims, bool tied) {
  return std::make_shared<GgufSource>(std::move(file), architecture, dims, tied);
}

}  // namespace charter
