// SPDX-License-Identifier: Apache-2.0
#include "src/model/initialization.hpp"

#include <algorithm>

#include "src/base/fingerprint.hpp"
#include "src/random/distributions.hpp"

namespace charter {

void draw_initial(const ParameterSpec& spec, std::uint64_t seed, std::int64_t first, std::span<float> out) {
  if (spec.law != InitialLaw::normal) {
    std::ranges::fill(out, spec.law == InitialLaw::ones ? 1.0F : 0.0F);
    return;
  }
  const RandomKey key = random_key(seed, Purpose::initialisation);
  const auto* name = reinterpret_cast<const unsigned char*>(spec.name.data());
  const std::uint64_t stream = fingerprint_of_bytes({name, spec.name.size()}).low;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t index = static_cast<std::uint64_t>(first) + i;
    const double value = normal(key, stream, index);
    out[i] = static_cast<float>(spec.deviation * value);
  }
}

}  // namespace charter
