// SPDX-License-Identifier: Apache-2.0
// The vector type of this build's instruction set and an explicit fused multiply-add on it. Host only. Lanes
// never mix, so a result does not depend on the width.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

namespace charter::blas {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int tile_rows = 12;  // 12 x 2 sums + 2 columns + 1 row value in 32 registers
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int vector_bytes = 32;
inline constexpr int tile_rows = 6;          // 6 x 2 sums + 2 columns + 1 row value in 16 registers
#else
inline constexpr int vector_bytes = 16;
inline constexpr int tile_rows = 6;
#endif

#if defined(__AVX512F__) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool hardware_fma = true;
#else
inline constexpr bool hardware_fma = false;  // std::fma is then right, and slow
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
inline void store(T* to, const Vector<T>& value) {
  std::memcpy(to, &value, sizeof(value));
}

template <class T>
inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

// a * b + c in every lane, rounded once.
template <class T>
inline Vector<T> multiply_add(Vector<T> a, Vector<T> b, Vector<T> c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == sizeof(float)) {
    return _mm512_fmadd_ps(a, b, c);
  } else {
    return _mm512_fmadd_pd(a, b, c);
  }
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (sizeof(T) == sizeof(float)) {
    return _mm256_fmadd_ps(a, b, c);
  } else {
    return _mm256_fmadd_pd(a, b, c);
  }
#else
  for (int lane = 0; lane < lanes<T>; ++lane) c[lane] = std::fma(a[lane], b[lane], c[lane]);
  return c;
#endif
}

}  // namespace charter::blas
