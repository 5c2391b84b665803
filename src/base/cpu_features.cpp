// SPDX-License-Identifier: Apache-2.0
#include "src/base/cpu_features.hpp"

namespace charter {

// A constant: it must be there before any code of the program runs (cpu_check.cpp).
constinit const std::uint32_t cpu_features_of_build = 0
#ifdef __SSE4_2__
                                                      | cpu_sse42
#endif
#ifdef __AVX__
                                                      | cpu_avx
#endif
#ifdef __AVX2__
                                                      | cpu_avx2
#endif
#ifdef __FMA__
                                                      | cpu_fma
#endif
#ifdef __BMI__
                                                      | cpu_bmi
#endif
#ifdef __BMI2__
                                                      | cpu_bmi2
#endif
#ifdef __AVX512F__
                                                      | cpu_avx512f
#endif
#ifdef __AVX512VL__
                                                      | cpu_avx512vl
#endif
#ifdef __AVX512BW__
                                                      | cpu_avx512bw
#endif
#ifdef __AVX512DQ__
                                                      | cpu_avx512dq
#endif
#ifdef __AVX512VNNI__
                                                      | cpu_avx512vnni
#endif
    ;

}  // namespace charter
