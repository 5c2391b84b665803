// SPDX-License-Identifier: Apache-2.0
// Every blocking collective on 1 to 4 ranks, in one message and split into many.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

// Each test runs with the ordinary limit and with messages of at most 3 elements.
class Collectives : public testing::TestWithParam<std::int64_t> {
 protected:
  Collectives() : comm_(world().duplicate("split messages")) { comm_.set_settings({GetParam(), true}); }
  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  std::int64_t blocks(std::int64_t count) const { return count * size(); }

  Communicator comm_;
};

INSTANTIATE_TEST_SUITE_P(MessageLimit, Collectives, testing::Values(std::int64_t{1} << 30, 3));

// The value of element `i` that `rank` sends to `peer`: tells them all apart.
double value_of(int rank, int peer, std::int64_t i) {
  return 10'000.0 * rank + 100.0 * peer + static_cast<double>(i);
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  for (int root = 0; root < size(); ++root) {
    std::vector<float> data(10, -1.0F);
    if (rank() == root) std::iota(data.begin(), data.end(), static_cast<float>(root));
    comm_.broadcast(data, root);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], static_cast<float>(root + i));
  }
}

TEST_P(Collectives, AllReduceSumsIntegersAndFloats) {
  std::vector<std::int64_t> integers = {1, rank(), -5, 4'000'000'000};
  std::vector<double> doubles = {0.5, 1.0 * rank(), 2.0, 3.0, 4.0};
  comm_.all_reduce(integers, ReduceOp::sum);
  comm_.all_reduce(doubles, ReduceOp::sum);
  const int ranks_sum = size() * (size() - 1) / 2;
  EXPECT_EQ(integers, (std::vector<std::int64_t>{size(), ranks_sum, -5 * size(), 4'000'000'000 * size()}));
  EXPECT_EQ(doubles,
            (std::vector<double>{0.5 * size(), 1.0 * ranks_sum, 2.0 * size(), 3.0 * size(), 4.0 * size()}));
}

TEST_P(Collectives, AllReduceTakesMinMaxAndBits) {
  EXPECT_EQ(comm_.all_reduce_value(rank() + 5, ReduceOp::min), 5);
  EXPECT_EQ(comm_.all_reduce_value(static_cast<float>(rank()), ReduceOp::max),
            static_cast<float>(size() - 1));
  const std::uint32_t bits = comm_.all_reduce_value(std::uint32_t{1} << rank(), ReduceOp::bit_or);
  EXPECT_EQ(bits, (std::uint32_t{1} << size()) - 1);
}

TEST_P(Collectives, AllGatherOrdersBlocksByRank) {
  const std::vector<std::uint16_t> mine(7, static_cast<std::uint16_t>(rank() + 1));
  std::vector<std::uint16_t> all(static_cast<std::size_t>(blocks(7)));
  comm_.all_gather(mine, all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i / 7 + 1);
}

TEST_P(Collectives, AllGatherInPlace) {
  std::vector<int> all(static_cast<std::size_t>(blocks(5)), -1);
  const auto own = std::span(all).subspan(static_cast<std::size_t>(5 * rank()), 5);
  for (int& element : own) element = rank();
  comm_.all_gather(own, all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i / 5));
}

TEST_P(Collectives, AllGatherVOfDifferentBlocksSomeEmpty) {
  std::vector<std::int64_t> counts;
  for (int r = 0; r < size(); ++r) counts.push_back(4 * r);  // rank 0 has nothing
  const std::vector<float> mine(static_cast<std::size_t>(4 * rank()), static_cast<float>(rank()));
  std::vector<float> all(
      static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  comm_.all_gather_v(mine, all, counts);
  std::size_t at = 0;
  for (int r = 0; r < size(); ++r) {
    for (int i = 0; i < 4 * r; ++i) EXPECT_EQ(all[at++], static_cast<float>(r));
  }
}

TEST_P(Collectives, GatherToTheLastRank) {
  const std::vector<int> mine(5, rank());
  std::vector<int> all(rank() == size() - 1 ? static_cast<std::size_t>(blocks(5)) : 0);
  comm_.gather(mine, all, size() - 1);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i / 5));
}

TEST_P(Collectives, AllToAllTransposesBlocks) {
  std::vector<double> sent;
  for (int peer = 0; peer < size(); ++peer) {
    for (int i = 0; i < 5; ++i) sent.push_back(value_of(rank(), peer, i));
  }
  std::vector<double> received(sent.size());
  comm_.all_to_all(sent, received);
  std::size_t at = 0;
  for (int peer = 0; peer < size(); ++peer) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(received[at++], value_of(peer, rank(), i));
  }
}

TEST_P(Collectives, AllToAllVOfDifferentBlocksSomeEmpty) {
  // From a to b go 3a + b elements, so that 0 to 0 is empty and no two ranks agree on their counts.
  std::vector<std::int64_t> send_counts;
  std::vector<std::int64_t> receive_counts;
  std::vector<double> sent;
  for (int peer = 0; peer < size(); ++peer) {
    send_counts.push_back(3 * rank() + peer);
    receive_counts.push_back(3 * peer + rank());
    for (std::int64_t i = 0; i < send_counts.back(); ++i) sent.push_back(value_of(rank(), peer, i));
  }
  const auto total = std::accumulate(receive_counts.begin(), receive_counts.end(), std::int64_t{0});
  std::vector<double> received(static_cast<std::size_t>(total));
  comm_.all_to_all_v(sent, send_counts, received, receive_counts);
  std::size_t at = 0;
  for (int peer = 0; peer < size(); ++peer) {
    for (std::int64_t i = 0; i < 3 * peer + rank(); ++i) EXPECT_EQ(received[at++], value_of(peer, rank(), i));
  }
}

TEST_P(Collectives, ReduceScatterGivesEachRankItsBlock) {
  std::vector<float> sent;
  for (int block = 0; block < size(); ++block) {
    for (int i = 0; i < 5; ++i) sent.push_back(static_cast<float>(block * 10 + i + rank()));
  }
  std::vector<float> received(5);
  comm_.reduce_scatter(sent, received, ReduceOp::sum);
  const int ranks_sum = size() * (size() - 1) / 2;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)],
              static_cast<float>(size() * (rank() * 10 + i) + ranks_sum));
  }
}

TEST_P(Collectives, ReduceScatterVGivesEachRankItsBlockSomeEmpty) {
  std::vector<std::int64_t> counts;
  std::vector<float> sent;
  for (int block = 0; block < size(); ++block) {
    counts.push_back(4 * block);
    for (int i = 0; i < 4 * block; ++i) sent.push_back(static_cast<float>(block * 10 + i + rank()));
  }
  std::vector<float> received(static_cast<std::size_t>(4 * rank()));
  comm_.reduce_scatter_v(sent, received, counts, ReduceOp::sum);
  const int ranks_sum = size() * (size() - 1) / 2;
  for (int i = 0; i < 4 * rank(); ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)],
              static_cast<float>(size() * (rank() * 10 + i) + ranks_sum));
  }
}

TEST_P(Collectives, EmptyBuffersAreOrdinary) {
  std::vector<float> none;
  comm_.broadcast(none, 0);
  comm_.all_reduce(none, ReduceOp::sum);
  comm_.all_gather(none, none);
  comm_.all_to_all(none, none);
  comm_.barrier();
}

TEST_P(Collectives, SendAndReceiveInARing) {
  if (size() == 1) GTEST_SKIP() << "a ring needs two ranks";
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  // Every element differs, so that a piece of a split message cannot stand for another.
  std::vector<int> sent(8);
  std::vector<int> expected(8);
  std::iota(sent.begin(), sent.end(), 100 * rank());
  std::iota(expected.begin(), expected.end(), 100 * previous);
  std::vector<int> received(8, -1);
  if (rank() % 2 == 0) {
    comm_.send(sent, next, 7);
    comm_.receive(received, previous, 7);
  } else {
    comm_.receive(received, previous, 7);
    comm_.send(sent, next, 7);
  }
  EXPECT_EQ(received, expected);
}

}  // namespace
}  // namespace charter::test
