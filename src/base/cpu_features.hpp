// SPDX-License-Identifier: Apache-2.0
// Instruction sets beyond the architecture's first CPU, as bits: what the build was allowed to use, and what
// this CPU has. Empty on other architectures than x86-64.
#pragma once

#include <cstdint>

namespace charter {

inline constexpr std::uint32_t cpu_sse42 = 1U << 0;
inline constexpr std::uint32_t cpu_avx = 1U << 1;
inline constexpr std::uint32_t cpu_avx2 = 1U << 2;
inline constexpr std::uint32_t cpu_fma = 1U << 3;
inline constexpr std::uint32_t cpu_bmi = 1U << 4;
inline constexpr std::uint32_t cpu_bmi2 = 1U << 5;
inline constexpr std::uint32_t cpu_avx512f = 1U << 6;
inline constexpr std::uint32_t cpu_avx512vl = 1U << 7;
inline constexpr std::uint32_t cpu_avx512bw = 1U << 8;
inline constexpr std::uint32_t cpu_avx512dq = 1U << 9;
inline constexpr std::uint32_t cpu_avx512vnni = 1U << 10;

// Those that the compiler could put anywhere in this program (-march).
extern const std::uint32_t cpu_features_of_build;

}  // namespace charter
