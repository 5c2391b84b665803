// SPDX-License-Identifier: Apache-2.0
// How Charter's canonical parameters lie in the tensors of a Hugging Face model: one to one for the Llama
// family; GPT-2 stores its matrices transposed ([in, out]) and query, key and value side by side in one
// tensor. The same table serves reading and writing.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/model/parameter_list.hpp"
#include "src/storage/tensor_source.hpp"

namespace charter {

// A parameter's place in a file tensor. Transposed: element [out, in] lies at [in, first_column + out].
// Otherwise the parameter is the whole file tensor, except a vector, which may start at first_column.
struct FileTensorPart {
  ParameterId parameter{};
  bool transposed = false;
  std::int64_t first_column = 0;
};

struct FileTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<FileTensorPart> parts;
};

// Whose names and layouts a file has: those of a Hugging Face model, or Charter's own (checkpoints).
enum class WeightNames : std::uint8_t { hugging_face, canonical };

class WeightMap {
 public:
  WeightMap(const ModelConfig& config, const ParameterList& list,
            WeightNames names = WeightNames::hugging_face);

  const std::vector<FileTensor>& file_tensors() const { return file_tensors_; }

  // Every file tensor must be there with its shape and nothing unknown beside it. Throws bad_input listing
  // all that is missing, unexpected or mis-shaped, starting with `origin`. Accepts names with and without
  // GPT-2's "transformer." prefix, a stored copy of a tied head, and the buffers that old exports carry.
  void check(const TensorSource& source, const std::string& origin) const;

  // Elements [first, first + out.size()) of a parameter in row-major [out, in] order.
  void read(const TensorSource& source, ParameterId id, std::int64_t first, std::span<float> out) const;

  // The content of a file tensor for writing, in pieces in order. `read_parameter(id, first element, out)`
  // gives values.
  using ParameterReader = std::function<void(ParameterId, std::int64_t, std::span<float>)>;
  using PieceWriter = std::function<void(std::span<const float>)>;
  void write(const FileTensor& tensor, const ParameterReader& read_parameter,
             const PieceWriter& write_piece) const;

 private:
  struct Location {
    std::size_t tensor = 0;
    std::size_t part = 0;
  };
  void add_one_to_one();
  void add_gpt2(const ModelConfig& config);
  void add(std::string name, std::vector<std::int64_t> shape, std::vector<FileTensorPart> parts);
  static void read_transposed(const TensorSource& source, const std::string& name, const FileTensorPart& part,
                              std::int64_t file_columns, std::int64_t inputs, std::int64_t first,
                              std::span<float> out);
  std::string name_in(const TensorSource& source, const std::string& name) const;

  const ParameterList* list_;
  Architecture architecture_;
  std::vector<FileTensor> file_tensors_;
  std::vector<Location> locations_;  // by parameter
};

}  // namespace charter
