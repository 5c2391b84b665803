// SPDX-License-Identifier: Apache-2.0
// What tests of kernels share: a queue with its pool, host vectors to the device and back, random numbers,
// distances, and gradients by central differences. Everything is kept in double on the host and rounded to
// the kernel's element type on the way in.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "src/tensor/execution_queue.hpp"

namespace charter::kernels {

using Numbers = std::vector<double>;

// Awkward row lengths: below, at and above the 64 lanes of a sum, and beyond a multiple of them.
inline const std::vector<std::int64_t> odd_sizes{1, 63, 64, 65, 127, 576, 1001};

// Relative error that sums of about a thousand terms may show in each precision.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-6 : 2e-14;

inline Numbers random_numbers(std::uint64_t seed, std::int64_t count, double deviation = 1.0) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.0, deviation);
  Numbers result(static_cast<std::size_t>(count));
  for (double& value : result) value = normal(engine);
  return result;
}

template <class T, class From>
std::vector<T> as(const std::vector<From>& values) {
  return std::vector<T>(values.begin(), values.end());
}

// values rounded to T and back: what a kernel in T sees.
template <class T>
Numbers rounded(const Numbers& values) {
  return as<double>(as<T>(values));
}

class KernelQueue {
 public:
  explicit KernelQueue(Arithmetic arithmetic = Arithmetic::fast) : queue_(pool_, arithmetic) {}
  ExecutionQueue& queue() { return queue_; }
  operator ExecutionQueue&() { return queue_; }  // NOLINT(google-explicit-constructor): stands for the queue

  // A device buffer holding `values` as T.
  template <class T, class From>
  DeviceBuffer<T> upload(Shape shape, const std::vector<From>& values) {
    const std::vector<T> converted = as<T>(values);
    auto buffer = make_buffer<T>(queue_, MemoryCategory::workspace, shape, "test");
    copy_to_device<T>(queue_, buffer.tensor(), converted);
    queue_.wait_host();
    return buffer;
  }
  template <class T>
  DeviceBuffer<T> filled(Shape shape, double value) {
    return upload<T>(shape, Numbers(static_cast<std::size_t>(shape.size()), value));
  }
  template <class T>
  std::vector<T> download(const DeviceBuffer<T>& buffer) {
    std::vector<T> result(static_cast<std::size_t>(buffer.size()));
    copy_to_host<T>(queue_, result, buffer.tensor());
    queue_.wait_host();
    return result;
  }
  template <class T>
  Numbers numbers(const DeviceBuffer<T>& buffer) {
    return as<double>(download(buffer));
  }

 private:
  MemoryPool pool_{MemoryPool::Mode::run, std::int64_t{1} << 30};
  ExecutionQueue queue_;
};

inline double norm(const Numbers& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

inline double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// ||actual - expected|| <= relative ||expected||, in the 2-norm.
inline void expect_close(const Numbers& actual, const Numbers& expected, double relative,
                         const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  Numbers difference(actual);
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
  EXPECT_LE(norm(difference), relative * norm(expected)) << what;
}

// The gradient of `loss` at `point` by central differences.
inline Numbers numeric_gradient(Numbers point, const std::function<double(const Numbers&)>& loss) {
  constexpr double step = 1e-5;
  Numbers gradient(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double here = point[i];
    point[i] = here + step;
    const double above = loss(point);
    point[i] = here - step;
    const double below = loss(point);
    point[i] = here;
    gradient[i] = (above - below) / (2.0 * step);
  }
  return gradient;
}

struct GradientPair {
  std::string name;
  Numbers analytic;
  Numbers numeric;
};

// For each tensor ||g - g*|| <= 1e-5 ||g*|| + 1e-7 G, with G the norm of the whole true gradient g*.
inline void expect_gradients_agree(const std::vector<GradientPair>& pairs) {
  double squares = 0.0;
  for (const GradientPair& pair : pairs) squares += dot(pair.numeric, pair.numeric);
  for (const GradientPair& pair : pairs) {
    ASSERT_EQ(pair.analytic.size(), pair.numeric.size()) << pair.name;
    Numbers difference(pair.analytic);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= pair.numeric[i];
    EXPECT_LE(norm(difference), 1e-5 * norm(pair.numeric) + 1e-7 * std::sqrt(squares)) << pair.name;
  }
}

}  // namespace charter::kernels
