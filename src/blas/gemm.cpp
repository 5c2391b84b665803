// SPDX-License-Identifier: Apache-2.0
#include "src/blas/gemm.hpp"

#include <fmt/format.h>

#include "src/blas/backend.hpp"
#include "src/blas/block_product.hpp"
#include "src/blas/order_fixed_device.hpp"
#include "src/blas/row_product.hpp"
#include "src/blas/vector.hpp"

namespace charter::blas {
namespace {

double flops_so_far = 0.0;  // touched by the launching thread only
int threads_of_products = 1;
bool threads_applied = false;  // the library's own default is all cores

template <class T>
constexpr bool library_has_type = std::is_same_v<T, float> || backend::multiplies_doubles;

template <class T>
void check_arguments(const ProductArguments<T>& p) {
  require(p.m >= 0 && p.n >= 0 && p.k >= 0, "extents of a product are not negative");
  require(p.lda >= (p.transpose_a == Transpose::no ? p.k : p.m), "rows of A do not overlap");
  require(p.ldb >= (p.transpose_b == Transpose::no ? p.n : p.k), "rows of B do not overlap");
  require(p.ldc >= p.n, "rows of C do not overlap");
}

// On a host an own product also does what the library does not have.
template <class T>
void queue_own_product(ExecutionQueue& queue, const ProductArguments<T>& p) {
  if constexpr (!backend::on_device) {
    const auto workspace = make_buffer<T>(queue, MemoryCategory::workspace, {order_fixed_workspace(p.m, p.k)},
                                          "charter::blas::gemm");
    launch(queue, "charter::blas::gemm", [&](const auto&) { order_fixed_product(p, workspace.data()); });
  } else {
    order_fixed_device_product(queue, p);
  }
}

void apply_threads() {
  if (!threads_applied) backend::set_threads(threads_of_products);
  threads_applied = true;
}

template <class T>
void queue_library_product(ExecutionQueue& queue, const ProductArguments<T>& p) {
  launch(queue, "charter::blas::gemm", [&](const auto&) {
    if constexpr (!backend::on_device) {
      if (is_row_product(p)) return row_product(p);
    }
    apply_threads();
    backend::product(queue.native_stream(), p);
  });
}

}  // namespace

template <class T>
void gemm(ExecutionQueue& queue, Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc) {
  const ProductArguments<T> product{transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  check_arguments(product);
  if (m == 0 || n == 0) return;
  count_flops(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  if (queue.order_fixed() || !library_has_type<T> || k == 0) {
    queue_own_product(queue, product);
  } else {
    queue_library_product(queue, product);
  }
}

template void gemm<float>(ExecutionQueue&, Transpose, Transpose, std::int64_t, std::int64_t, std::int64_t,
                          float, const float*, std::int64_t, const float*, std::int64_t, float, float*,
                          std::int64_t);
template void gemm<double>(ExecutionQueue&, Transpose, Transpose, std::int64_t, std::int64_t, std::int64_t,
                           double, const double*, std::int64_t, const double*, std::int64_t, double, double*,
                           std::int64_t);

template <class T>
void block_product(bool order_fixed, const ProductArguments<T>& product) {
  require(!backend::on_device, "block products are for hosts");
  if (order_fixed || hardware_fma || !library_has_type<T>) {
    order_fixed_product<T>(product, nullptr);
  } else {
    apply_threads();
    backend::product(nullptr, product);
  }
}

template void block_product<float>(bool, const ProductArguments<float>&);
template void block_product<double>(bool, const ProductArguments<double>&);

double counted_flops() {
  return flops_so_far;
}

void count_flops(double flops) {
  flops_so_far += flops;
}

void set_threads(int threads) {
  require(threads >= 1, "products have at least one thread");
  threads_of_products = threads;
  threads_applied = false;
}

int threads() {
  return threads_of_products;
}

std::string backend_description() {
  if (backend::on_device) return backend::description();
  return fmt::format("{}, {} {}", backend::description(), threads(), threads() == 1 ? "thread" : "threads");
}

}  // namespace charter::blas
