// SPDX-License-Identifier: Apache-2.0
// exp, tanh, sigmoid and erf for the inside of kernels: no branches, no tables, no library calls in float, so
// that loops over them vectorise. Every contraction is an explicit std::fma, so a vector body and its scalar
// tail round alike. Relative error in float below 2e-7; infinities, NaN, overflow and denormal results as in
// <cmath>. The double overloads, for checks, call <cmath>. Polynomials: our own weighted minimax fits.
#pragma once

#include <cmath>
#include <cstdint>

#include "src/base/device_function.hpp"

namespace charter::kernels {

// std::bit_cast is a host function to nvcc; the builtin below it is not.
CHARTER_FUNCTION std::uint32_t float_bits(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
CHARTER_FUNCTION float float_from_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

// x = n ln 2 + r with |r| <= ln 2 / 2: e^x = mantissa 2^n. n is rounded by adding a number whose last bit is
// worth 1; `shifted_bits` are the bits of that sum, with n + bias in the lowest nine.
struct ExpParts {
  float mantissa;
  std::uint32_t shifted_bits;
};
CHARTER_FUNCTION ExpParts exp_parts(float x, float bias) {
  const float round_up = 12582912.0f + bias;  // 1.5 2^23
  const float shifted = std::fma(x, 1.44269504f, round_up);
  const float n = shifted - round_up;
  float r = std::fma(n, -0.693145752f, x);  // ln 2, upper bits
  r = std::fma(n, -1.42860677e-6f, r);      // ln 2, the rest
  const float rr = r * r;                   // the polynomial in pairs: a shorter chain than Horner's
  const float low = std::fma(1.66665196e-1f, r, 4.99999940e-1f);
  const float high = std::fma(1.38144645e-3f, rr, std::fma(8.36878419e-3f, r, 4.16683882e-2f));
  return {std::fma(std::fma(high, rr, low), rr, r) + 1.0f, float_bits(shifted)};
}

// e^x for x <= 0 or NaN, what soft-max and sigmoid need; cheaper than fast_exp. 2^n comes as 2^(n + 64)
// 2^-64, so that the last product alone rounds a denormal result.
CHARTER_FUNCTION float exp_of_nonpositive(float x) {
  const ExpParts parts = exp_parts(x < -104.0f ? -104.0f : x, 127.0f + 64.0f);
  return parts.mantissa * float_from_bits(parts.shifted_bits << 23) * 5.42101086e-20f;
}
CHARTER_FUNCTION double exp_of_nonpositive(double x) {
  return std::exp(x);
}

// e^x. 2^n comes in two factors of half the exponent, so that the result may overflow or be denormal. Beyond
// the clamp the result is 0 or infinite anyway; NaN passes it.
CHARTER_FUNCTION float fast_exp(float x) {
  const float above = x < -104.0f ? -104.0f : x;
  const ExpParts parts = exp_parts(above > 89.0f ? 89.0f : above, 0.0f);
  const std::int32_t exponent = static_cast<std::int32_t>(parts.shifted_bits - 0x4B400000u);
  const std::int32_t half = exponent >> 1;
  const float first = float_from_bits(static_cast<std::uint32_t>(half + 127) << 23);
  const float second = float_from_bits(static_cast<std::uint32_t>(exponent - half + 127) << 23);
  return parts.mantissa * first * second;
}
CHARTER_FUNCTION double fast_exp(double x) {
  return std::exp(x);
}

// The logistic function 1 / (1 + e^-x), small values with full relative accuracy.
template <class T>
CHARTER_FUNCTION T sigmoid(T x) {
  const T small = exp_of_nonpositive(-std::fabs(x));
  return (x < T(0) ? small : T(1)) / (T(1) + small);
}

// The logistic function and 1 minus it, each with full relative accuracy.
template <class T>
struct SigmoidPair {
  T value;       // 1 / (1 + e^-x)
  T complement;  // 1 / (1 + e^x)
};
template <class T>
CHARTER_FUNCTION SigmoidPair<T> sigmoid_pair(T x) {
  const T small = exp_of_nonpositive(-std::fabs(x));
  const T near_one = T(1) / (T(1) + small);
  const T near_zero = small * near_one;
  return {x < T(0) ? near_zero : near_one, x < T(0) ? near_one : near_zero};
}

// tanh x: an odd polynomial near 0, (1 - e^-2|x|) / (1 + e^-2|x|) elsewhere.
CHARTER_FUNCTION float fast_tanh(float x) {
  const float magnitude = std::fabs(x);
  const float z = x * x;
  float p = -6.27423163e-3f;
  p = std::fma(p, z, 2.10716730e-2f);
  p = std::fma(p, z, -5.38523083e-2f);
  p = std::fma(p, z, 1.33325861e-1f);
  p = std::fma(p, z, -3.33333176e-1f);
  const float near = std::fma(p * z, x, x);
  const float small = exp_of_nonpositive(-(magnitude + magnitude));
  const float far = (1.0f - small) / (1.0f + small);
  return std::copysign(magnitude < 0.55f ? near : far, x);
}
CHARTER_FUNCTION double fast_tanh(double x) {
  return std::tanh(x);
}

// erf x: an odd polynomial near 0, 1 - e^-q(|x|) elsewhere; beyond 4 it is 1 in float.
CHARTER_FUNCTION float fast_erf(float x) {
  const float magnitude = std::fabs(x);
  const float z = x * x;
  float p = -6.09035542e-4f;
  p = std::fma(p, z, 5.01196183e-3f);
  p = std::fma(p, z, -2.67789081e-2f);
  p = std::fma(p, z, 1.12821408e-1f);
  p = std::fma(p, z, -3.76125233e-1f);
  p = std::fma(p, z, 1.28379154e-1f);
  const float near = std::fma(p, x, x);
  const float t = magnitude > 4.0f ? 4.0f : magnitude;
  float q = -2.14595879e-4f;
  q = std::fma(q, t, 3.21998204e-3f);
  q = std::fma(q, t, -2.29060505e-2f);
  q = std::fma(q, t, 1.05286883e-1f);
  q = std::fma(q, t, 6.35699349e-1f);
  q = std::fma(q, t, 1.12851996f);
  const float far = 1.0f - exp_of_nonpositive(-q * t);
  return magnitude < 0.9f ? near : std::copysign(far, x);
}
CHARTER_FUNCTION double fast_erf(double x) {
  return std::erf(x);
}

}  // namespace charter::kernels
