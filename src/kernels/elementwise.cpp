// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/elementwise.hpp"

#include "src/tensor/row_kernel.hpp"

namespace charter::kernels {

template <class T>
void fill(ExecutionQueue& queue, const DeviceTensor<T>& x, std::type_identity_t<T> value) {
  T* to = x.data();
  for_each_element(
      queue, "charter::kernels::fill", x.size(), CHARTER_LAMBDA(const std::int64_t i) { to[i] = value; });
}

template <class T>
void scale(ExecutionQueue& queue, const DeviceTensor<T>& x, double factor) {
  T* to = x.data();
  const T by = static_cast<T>(factor);
  for_each_element(
      queue, "charter::kernels::scale", x.size(), CHARTER_LAMBDA(const std::int64_t i) { to[i] *= by; });
}

template <class T>
void add(ExecutionQueue& queue, const Input<T>& a, const Input<T>& b, const DeviceTensor<T>& y) {
  require(a.size() == y.size() && b.size() == y.size(), "add: all have one size");
  const T* left = a.data();
  const T* right = b.data();
  T* to = y.data();
  for_each_element(
      queue, "charter::kernels::add", y.size(),
      CHARTER_LAMBDA(const std::int64_t i) { to[i] = left[i] + right[i]; });
}

template <class T>
void add_in_place(ExecutionQueue& queue, const Input<T>& x, const DeviceTensor<T>& y) {
  require(x.size() == y.size(), "add_in_place: both have one size");
  const T* from = x.data();
  T* to = y.data();
  for_each_element(
      queue, "charter::kernels::add_in_place", y.size(),
      CHARTER_LAMBDA(const std::int64_t i) { to[i] += from[i]; });
}

template <class T>
void axpy(ExecutionQueue& queue, double factor, const Input<T>& x, const DeviceTensor<T>& y) {
  require(x.size() == y.size(), "axpy: both have one size");
  const T* from = x.data();
  T* to = y.data();
  const T by = static_cast<T>(factor);
  for_each_element(
      queue, "charter::kernels::axpy", y.size(),
      CHARTER_LAMBDA(const std::int64_t i) { to[i] += by * from[i]; });
}

namespace {

template <class From, class To>
void copy_elements(ExecutionQueue& queue, const char* label, const DeviceTensor<const From>& x,
                   const DeviceTensor<To>& y) {
  require(x.size() == y.size(), "a copy has equal sizes");
  const From* from = x.data();
  To* to = y.data();
  for_each_element(
      queue, label, y.size(), CHARTER_LAMBDA(const std::int64_t i) { to[i] = static_cast<To>(from[i]); });
}

}  // namespace

template <class T>
void copy(ExecutionQueue& queue, const Input<T>& x, const DeviceTensor<T>& y) {
  copy_elements<T, T>(queue, "charter::kernels::copy", x, y);
}

void convert(ExecutionQueue& queue, const DeviceTensor<const float>& x, const DeviceTensor<double>& y) {
  copy_elements<float, double>(queue, "charter::kernels::convert", x, y);
}

void convert(ExecutionQueue& queue, const DeviceTensor<const double>& x, const DeviceTensor<float>& y) {
  copy_elements<double, float>(queue, "charter::kernels::convert", x, y);
}

template void fill<std::int32_t>(ExecutionQueue&, const DeviceTensor<std::int32_t>&, std::int32_t);
template void fill<std::int64_t>(ExecutionQueue&, const DeviceTensor<std::int64_t>&, std::int64_t);
#define CHARTER_INSTANTIATE(T)                                                                     \
  template void fill<T>(ExecutionQueue&, const DeviceTensor<T>&, T);                               \
  template void scale<T>(ExecutionQueue&, const DeviceTensor<T>&, double);                         \
  template void add<T>(ExecutionQueue&, const Input<T>&, const Input<T>&, const DeviceTensor<T>&); \
  template void add_in_place<T>(ExecutionQueue&, const Input<T>&, const DeviceTensor<T>&);         \
  template void axpy<T>(ExecutionQueue&, double, const Input<T>&, const DeviceTensor<T>&);         \
  template void copy<T>(ExecutionQueue&, const Input<T>&, const DeviceTensor<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter::kernels
