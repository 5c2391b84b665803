// SPDX-License-Identifier: Apache-2.0
// Ends a program with exit code 78 and a sentence, before anything else of it runs, where the CPU lacks what
// the build uses; otherwise it would die of SIGILL somewhere. Compiled for the oldest CPU of the architecture
// and without the C++ library, whose inline functions the linker may take from a file compiled for a newer
// one.
#include <cstring>

#include <unistd.h>

#include "src/base/cpu_features.hpp"
#include "src/base/exit_code.hpp"

namespace charter {
namespace {

#if defined(__x86_64__)

struct NamedFeature {
  std::uint32_t bit;
  const char* name;
};
constexpr NamedFeature named_features[] = {{cpu_sse42, " sse4.2"},
                                           {cpu_avx, " avx"},
                                           {cpu_avx2, " avx2"},
                                           {cpu_fma, " fma"},
                                           {cpu_bmi, " bmi"},
                                           {cpu_bmi2, " bmi2"},
                                           {cpu_avx512f, " avx512f"},
                                           {cpu_avx512vl, " avx512vl"},
                                           {cpu_avx512bw, " avx512bw"},
                                           {cpu_avx512dq, " avx512dq"},
                                           {cpu_avx512vnni, " avx512vnni"}};

std::uint32_t features_of_this_cpu() {
  __builtin_cpu_init();
  const auto bit = [](bool has, std::uint32_t feature) { return has ? feature : 0U; };
  return bit(__builtin_cpu_supports("sse4.2"), cpu_sse42) | bit(__builtin_cpu_supports("avx"), cpu_avx) |
         bit(__builtin_cpu_supports("avx2"), cpu_avx2) | bit(__builtin_cpu_supports("fma"), cpu_fma) |
         bit(__builtin_cpu_supports("bmi"), cpu_bmi) | bit(__builtin_cpu_supports("bmi2"), cpu_bmi2) |
         bit(__builtin_cpu_supports("avx512f"), cpu_avx512f) |
         bit(__builtin_cpu_supports("avx512vl"), cpu_avx512vl) |
         bit(__builtin_cpu_supports("avx512bw"), cpu_avx512bw) |
         bit(__builtin_cpu_supports("avx512dq"), cpu_avx512dq) |
         bit(__builtin_cpu_supports("avx512vnni"), cpu_avx512vnni);
}

void say(const char* text) {
  // Nothing can be done about a message that cannot be written.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Priorities up to 100 are the implementation's; 101 is before every constructor of a static object.
[[gnu::constructor(101)]] void refuse_an_older_cpu() {
  const std::uint32_t missing = cpu_features_of_build & ~features_of_this_cpu();
  if (missing == 0) return;
  say("error: this program was built for a CPU with");
  for (const NamedFeature& feature : named_features) {
    if ((missing & feature.bit) != 0) say(feature.name);
  }
  say(", which this one lacks; build it on a machine of this kind, or with "
      "CMAKE_ARGS=\"-DCHARTER_NATIVE=OFF\" "
      "(docs/building.md)\n");
  ::_exit(static_cast<int>(ExitCode::configuration));
}

#endif

}  // namespace
}  // namespace charter
