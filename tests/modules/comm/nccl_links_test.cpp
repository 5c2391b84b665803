// SPDX-License-Identifier: Apache-2.0
// The NCCL backend compiles, links and loads; in a plan it counts as the MPI one does. With a device, a group
// of one copies; without, that part says so and is skipped.
#include <vector>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/comm/device_communicator.hpp"
#include "modules/comm/nccl_communicator.hpp"
#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(NcclCommunicator, LibraryTellsItsVersion) {
  const NcclVersion version = nccl_version();
  std::printf("NCCL %s, %d devices\n", version.text.c_str(), version.devices);
  EXPECT_THAT(version.text, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_GE(version.devices, 0);
}

TEST(NcclCommunicator, PlanCountsAndSkips) {
  const NcclCommunicator planned(Communicator::self_planned(1, 4, "tensor"));
  EXPECT_EQ(planned.rank(), 1);
  EXPECT_EQ(planned.size(), 4);
  planned.all_reduce({nullptr, 100, ElementType::bf16}, {nullptr, 100, ElementType::bf16}, ReduceOp::sum,
                     nullptr);
  planned.all_gather({nullptr, 10, ElementType::f32}, {nullptr, 40, ElementType::f32}, nullptr);
  planned.reduce_scatter({nullptr, 40, ElementType::f32}, {nullptr, 10, ElementType::f32}, ReduceOp::sum,
                         nullptr);
  planned.broadcast({nullptr, 8, ElementType::u8}, 0, nullptr);
  planned.send({nullptr, 2, ElementType::u16}, 2, nullptr);
  planned.receive({nullptr, 2, ElementType::u16}, 0, nullptr);
  planned.wait_host(nullptr);
  EXPECT_EQ(planned.totals().calls(), 6);
  EXPECT_EQ(planned.totals().bytes(), 200 + 40 + 160 + 8 + 4 + 4);
}

TEST(NcclCommunicator, PlanCountsBlocksOfUnevenCounts) {
  const NcclCommunicator planned(Communicator::self_planned(1, 3, "data"));
  const std::vector<std::int64_t> counts{1, 2, 4};
  const std::vector<std::int64_t> others{2, 2, 2};
  planned.all_gather_v({nullptr, 2, ElementType::f32}, {nullptr, 7, ElementType::f32}, counts, nullptr);
  planned.all_to_all_v({nullptr, 7, ElementType::f32}, counts, {nullptr, 6, ElementType::f32}, others,
                       nullptr);
  Request request = planned.iall_reduce({nullptr, 100, ElementType::f64}, ReduceOp::sum, nullptr);
  EXPECT_TRUE(request.ended());
  EXPECT_EQ(planned.totals().of(Operation::all_gather_v).bytes, 8);
  EXPECT_EQ(planned.totals().of(Operation::all_to_all_v).bytes, 28);
  EXPECT_EQ(planned.totals().of(Operation::all_reduce).bytes, 800);
  EXPECT_THROW(
      planned.all_gather_v({nullptr, 3, ElementType::f32}, {nullptr, 7, ElementType::f32}, counts, nullptr),
      Error);
}

TEST(NcclCommunicator, DeviceTensorsGoThroughIt) {
  const Communicator axis = Communicator::self_planned(1, 3, "data");
  const DeviceCommunicator comm(axis);
  MemoryPool pool(MemoryPool::Mode::plan, 1 << 20);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const auto data = make_buffer<float>(queue, MemoryCategory::communication, {7}, "test");
  const std::vector<std::int64_t> counts{1, 2, 4};
  comm.iall_reduce(queue, data.tensor(), ReduceOp::sum).wait(queue);
  comm.all_gather_v<float>(queue, data.tensor().rows(1, 2), data.tensor(), counts);
  comm.all_to_all_v<float>(queue, data.tensor(), counts, data.tensor(), counts);
  EXPECT_EQ(comm.totals().calls(), 3);
  EXPECT_EQ(comm.totals().bytes(), 28 + 8 + 28);
  EXPECT_EQ(axis.totals().calls(), 0) << "MPI was not asked";
}

TEST(NcclCommunicator, RefusesWhatNcclCannotReduce) {
  const NcclCommunicator planned(Communicator::self_planned(0, 2, "tensor"));
  const Buffer bits(nullptr, 4, ElementType::u16);
  EXPECT_THROW(planned.all_reduce(bits, bits, ReduceOp::sum, nullptr), Error);
  const Buffer numbers(nullptr, 4, ElementType::i32);
  EXPECT_THROW(planned.all_reduce(numbers, numbers, ReduceOp::bit_or, nullptr), Error);
}

TEST(NcclCommunicator, AGroupOfOneCopiesOnADevice) {
  if (nccl_version().devices == 0) GTEST_SKIP() << "no CUDA device or no driver: compiled and linked only";
  const NcclCommunicator self(Communicator::self("alone"));
  const std::vector<float> sent = {1.0F, 2.0F, 3.0F};
  std::vector<float> received(3, 0.0F);
  void* from = nullptr;
  void* to = nullptr;
  ASSERT_EQ(cudaMalloc(&from, 12), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&to, 12), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(from, sent.data(), 12, cudaMemcpyHostToDevice), cudaSuccess);
  self.all_reduce({from, 3, ElementType::f32}, {to, 3, ElementType::f32}, ReduceOp::sum, nullptr);
  self.wait_host(nullptr);
  ASSERT_EQ(cudaMemcpy(received.data(), to, 12, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(cudaFree(from), cudaSuccess);
  EXPECT_EQ(cudaFree(to), cudaSuccess);
}

}  // namespace
}  // namespace charter
