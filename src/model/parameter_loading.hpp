// SPDX-License-Identifier: Apache-2.0
// Values into a parameter store and out of it, piece by piece: no second copy of the model exists on the
// host, and where a store holds shards no whole parameter does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "src/model/parameter_store.hpp"

namespace charter {

// Gives elements [first, first + out.size()) of a whole parameter, whole rows, row-major.
using ParameterReader = std::function<void(ParameterId, std::int64_t first, std::span<float> out)>;

// all: the same pieces on every rank, so that the reader may be collective. held: only those of which the
// store holds a part.
enum class Pieces : std::uint8_t { all, held };

// Fills every parameter of the store from `read`, in pieces of at most 16 MiB.
template <class T>
void fill_parameters(ExecutionQueue& queue, const ParameterStore<T>& store, Pieces pieces,
                     const ParameterReader& read);

// Keeps what the store holds of elements [first, first + values.size()) of a whole parameter. Blocks.
template <class T>
void write_elements(ExecutionQueue& queue, const ParameterStore<T>& store, ParameterId id, std::int64_t first,
                    std::span<const T> values);

// Copies elements [first, first + out.size()) of the held part of a parameter to the host; blocks.
template <class T>
void read_elements(ExecutionQueue& queue, const ParameterStore<T>& store, ParameterId id, std::int64_t first,
                   std::span<T> out);

}  // namespace charter
