// SPDX-License-Identifier: Apache-2.0
// Values into a parameter store and out of it, piece by piece: no second copy of the model exists on the
// host.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "src/model/parameter_store.hpp"

namespace charter {

// Gives elements [first, first + out.size()) of a parameter, whole rows, row-major.
using ParameterReader = std::function<void(ParameterId, std::int64_t first, std::span<float> out)>;

// Fills every parameter of the store from `read`, in pieces of at most 16 MiB.
template <class T>
void fill_parameters(ExecutionQueue& queue, const ParameterStore<T>& store, const ParameterReader& read);

// Copies elements [first, first + out.size()) of a parameter to the host; blocks.
template <class T>
void read_elements(ExecutionQueue& queue, const ParameterStore<T>& store, ParameterId id, std::int64_t first,
                   std::span<T> out);

}  // namespace charter
