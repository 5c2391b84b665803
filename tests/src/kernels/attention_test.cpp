// SPDX-License-Identifier: Apache-2.0
// Every implementation against the plain one, and gradients against central differences.
#include "src/blas/gemm.hpp"
#include "tests/src/kernels/attention_case.hpp"

namespace charter::kernels {
namespace {

struct Problem {
  std::string name;
  Documents documents;
  std::int64_t query_heads, kv_heads, head_dim, window;
};

// Lengths around the edges of blocks, groups of 1, 2, 3 and 5 heads, windows and shared prefixes.
std::vector<Problem> problems() {
  return {
      {"one token", packed_documents({1}), 1, 1, 8, 0},
      {"one block", packed_documents({64}), 2, 2, 64, 0},
      {"lengths around blocks", packed_documents({1, 2, 63, 64, 65, 66}), 4, 2, 16, 0},
      {"lengths around two blocks", packed_documents({127, 128, 129, 130}), 3, 1, 20, 0},
      {"a longer document and an empty one", packed_documents({3, 0, 200, 7}), 9, 3, 64, 0},
      {"window of 1", packed_documents({70, 5}), 2, 1, 8, 1},
      {"window inside a block", packed_documents({200, 66}), 2, 2, 12, 17},
      {"window over blocks", packed_documents({200, 130}), 3, 1, 8, 100},
      {"shared prefix", packed_documents({70, 10, 1, 90}, {-1, 0, 0, -1}), 4, 2, 8, 0},
      {"shared prefixes of prefixes", packed_documents({40, 30, 64, 5, 80}, {-1, 0, 1, 1, 0}), 2, 1, 8, 0},
      {"shared prefix and window", packed_documents({70, 60, 65}, {-1, 0, 0}), 2, 2, 8, 40},
      {"many heads in a group", packed_documents({90}), 10, 2, 6, 0},
  };
}

template <class T>
void expect_agrees(Implementation implementation, Arithmetic arithmetic, double relative) {
  for (const Problem& problem : problems()) {
    KernelQueue queue(arithmetic);
    const AttentionShape shape = attention_shape(problem.documents, problem.query_heads, problem.kv_heads,
                                                 problem.head_dim, problem.window);
    const AttentionNumbers numbers = attention_numbers(shape, 17);
    const auto expected =
        run_attention<T>(queue, Implementation::reference, shape, problem.documents, numbers);
    const auto actual = run_attention<T>(queue, implementation, shape, problem.documents, numbers);
    expect_close(as<double>(actual.out), as<double>(expected.out), relative, problem.name + ": out");
    expect_close(as<double>(actual.log_sum_exp), as<double>(expected.log_sum_exp), relative,
                 problem.name + ": log_sum_exp");
    const double whole =
        norm(as<double>(expected.d_q)) + norm(as<double>(expected.d_k)) + norm(as<double>(expected.d_v));
    for (const auto& [name, a, e] :
         {std::tuple{"d_q", actual.d_q, expected.d_q}, std::tuple{"d_k", actual.d_k, expected.d_k},
          std::tuple{"d_v", actual.d_v, expected.d_v}}) {
      Numbers difference = as<double>(a);
      for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= static_cast<double>(e[i]);
      EXPECT_LE(norm(difference), relative * norm(as<double>(e)) + relative * 0.1 * whole)
          << problem.name << ": " << name;
    }
  }
}

TEST_F(BlockedAttention, MatchesTheReferenceInFloat) {
  expect_agrees<float>(Implementation::blocked, Arithmetic::fast, 3e-6);
}
TEST_F(BlockedAttention, MatchesTheReferenceInDouble) {
  expect_agrees<double>(Implementation::blocked, Arithmetic::fast, 2e-14);
}
TEST_F(BlockedAttention, OrderFixedMatchesTheReference) {
  expect_agrees<float>(Implementation::blocked, Arithmetic::order_fixed, 3e-6);
}
TEST(Attention, KokkosMatchesTheReferenceInFloat) {
  expect_agrees<float>(Implementation::kokkos, Arithmetic::fast, 3e-6);
}
TEST(Attention, KokkosMatchesTheReferenceInDouble) {
  expect_agrees<double>(Implementation::kokkos, Arithmetic::fast, 2e-14);
}

// The gradients of sum(d_out * out) by central differences of the blocked forward in double.
void expect_true_gradients(const Problem& problem) {
  KernelQueue queue;
  const AttentionShape shape = attention_shape(problem.documents, problem.query_heads, problem.kv_heads,
                                               problem.head_dim, problem.window);
  const AttentionNumbers numbers = attention_numbers(shape, 5);
  const auto analytic =
      run_attention<double>(queue, Implementation::blocked, shape, problem.documents, numbers);
  const DeviceDocuments documents(queue.queue(), problem.documents, shape.tokens);
  std::vector<double> out(numbers.q.size());
  std::vector<double> log_sum_exp(static_cast<std::size_t>(shape.tokens * shape.query_heads));
  const auto loss = [&](const Numbers& q, const Numbers& k, const Numbers& v) {
    attention_forward_blocked<double>(queue, shape, documents, q.data(), k.data(), v.data(), out.data(),
                                      log_sum_exp.data());
    return dot(out, numbers.d_out);
  };
  expect_gradients_agree(
      {{"d_q", analytic.d_q,
        numeric_gradient(numbers.q, [&](const Numbers& x) { return loss(x, numbers.k, numbers.v); })},
       {"d_k", analytic.d_k,
        numeric_gradient(numbers.k, [&](const Numbers& x) { return loss(numbers.q, x, numbers.v); })},
       {"d_v", analytic.d_v,
        numeric_gradient(numbers.v, [&](const Numbers& x) { return loss(numbers.q, numbers.k, x); })}});
}

TEST_F(BlockedAttention, GradientsMatchCentralDifferences) {
  expect_true_gradients({"packed", packed_documents({3, 67}), 2, 1, 4, 0});
  expect_true_gradients({"window", packed_documents({70}), 3, 3, 2, 9});
  expect_true_gradients({"shared prefix", packed_documents({40, 30, 5}, {-1, 0, 0}), 3, 1, 2, 0});
}

// Operands and results of attention on the device of `queue`, in a run or a plan.
struct DeviceProblem {
  DeviceBuffer<double> q, k, v, out, log_sum_exp, d_out, d_q, d_k, d_v;

  DeviceProblem(ExecutionQueue& queue, const AttentionShape& shape) {
    const auto make = [&](std::int64_t heads, std::int64_t dim) {
      auto buffer =
          make_buffer<double>(queue, MemoryCategory::activations, {shape.tokens, heads, dim}, "test");
      copy_to_device<double>(queue, buffer.tensor(), Numbers(static_cast<std::size_t>(buffer.size()), 0.5));
      queue.wait_host();
      return buffer;
    };
    for (DeviceBuffer<double>* buffer : {&q, &out, &d_out, &d_q})
      *buffer = make(shape.query_heads, shape.head_dim);
    for (DeviceBuffer<double>* buffer : {&k, &v, &d_k, &d_v}) *buffer = make(shape.kv_heads, shape.head_dim);
    log_sum_exp = make(shape.query_heads, 1);
  }
  void forward(ExecutionQueue& queue, const AttentionShape& shape, const DeviceDocuments& documents) const {
    attention_forward<double>(queue, shape, documents, q.data(), k.data(), v.data(), out.data(),
                              log_sum_exp.data());
  }
  void backward(ExecutionQueue& queue, const AttentionShape& shape, const DeviceDocuments& documents) const {
    attention_backward<double>(queue, shape, documents, q.data(), k.data(), v.data(), out.data(),
                               log_sum_exp.data(), d_out.data(), d_q.data(), d_k.data(), d_v.data());
  }
};

TEST(Attention, CountsTheFlopsOfVisiblePairs) {
  KernelQueue queue;
  const Documents documents = packed_documents({70, 5}, {-1, 0});
  const AttentionShape shape = attention_shape(documents, 4, 2, 8);
  const DeviceDocuments device(queue.queue(), documents, shape.tokens);
  const DeviceProblem problem(queue, shape);
  const double before = blas::counted_flops();
  problem.forward(queue, shape, device);
  const int pairs = 70 * 71 / 2 + 71 + 72 + 73 + 74 + 75;
  EXPECT_EQ(blas::counted_flops() - before, 4.0 * 8 * 4 * pairs);
  EXPECT_FALSE(attention_implementation_name().empty());
}

TEST(Attention, TakesTheSameMemoryInAPlan) {
  const Documents documents = packed_documents({70, 130});
  const AttentionShape shape = attention_shape(documents, 6, 2, 8);
  std::array<std::int64_t, 2> peaks{};
  for (const MemoryPool::Mode mode : {MemoryPool::Mode::run, MemoryPool::Mode::plan}) {
    MemoryPool pool(mode, 1 << 28);
    ExecutionQueue queue(pool, Arithmetic::fast);
    const DeviceDocuments device(queue, documents, shape.tokens);
    const DeviceProblem problem(queue, shape);
    const std::int64_t operands = pool.use(Space::device).live_bytes;
    problem.forward(queue, shape, device);
    problem.backward(queue, shape, device);
    queue.wait_host();
    EXPECT_EQ(pool.use(Space::device).live_bytes, operands);
    peaks[mode == MemoryPool::Mode::plan ? 1 : 0] = pool.use(Space::device).peak_bytes - operands;
  }
  EXPECT_GT(peaks[0], 0);
  EXPECT_EQ(peaks[0], peaks[1]);
}

}  // namespace
}  // namespace charter::kernels
