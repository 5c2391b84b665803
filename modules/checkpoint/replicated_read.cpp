// SPDX-License-Identifier: Apache-2.0
// Those parts of CheckpointReader in which ranks work together.
#include <algorithm>
#include <array>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "modules/checkpoint/block_reader.hpp"
#include "modules/checkpoint/checkpoint_reader.hpp"
#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/write_plan.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"

namespace charter {
namespace {

void hand_over(const StoredTensor& tensor, const StoredBlock& block, std::span<const std::byte> bytes,
               const RunConsumer& consume) {
  const auto element_bytes = static_cast<std::size_t>(bytes_of(tensor.type, 1));
  for_each_run(tensor.shape, block.place,
               [&](std::int64_t in_tensor, std::int64_t in_block, std::int64_t count) {
                 consume(in_tensor, bytes.subspan(static_cast<std::size_t>(in_block) * element_bytes,
                                                  static_cast<std::size_t>(count) * element_bytes));
               });
}

Fingerprint sum_over_ranks(const Communicator& ranks, const Fingerprint& share) {
  std::array<std::uint64_t, 2> words = {share.low, share.high};
  ranks.all_reduce(words, ReduceOp::sum);
  return {words[0], words[1]};
}

}  // namespace

void CheckpointReader::read_replicated(const Communicator& group_of_ranks, const std::string& group,
                                       const std::string& name, const RunConsumer& consume) const {
  const StoredTensor& stored = tensor(group, name);
  const std::string phase = fmt::format("reading {}/{}", group, name);
  const auto ranks = static_cast<std::size_t>(group_of_ranks.size());
  const auto me = static_cast<std::size_t>(group_of_ranks.rank());
  Fingerprint share;
  std::exception_ptr failure;
  std::vector<std::byte> received;
  for (std::size_t first = 0; first < stored.blocks.size(); first += ranks) {
    // A round: every rank reads one block, all at the same time; then each is broadcast in turn.
    const std::size_t in_round = std::min(ranks, stored.blocks.size() - first);
    const std::span<std::byte> own = together(group_of_ranks, phase, [&]() -> std::span<std::byte> {
      if (me >= in_round) return {};
      const StoredBlock& block = stored.blocks[first + me];
      const std::span<std::byte> bytes = blocks_->read(stored, block);
      share += block_fingerprint(stored.type, stored.shape, block.place, bytes);
      return bytes;
    });
    for (std::size_t root = 0; root < in_round; ++root) {
      const StoredBlock& block = stored.blocks[first + root];
      std::span<std::byte> bytes = own;
      if (root != me) {
        received.resize(static_cast<std::size_t>(bytes_of(stored.type, block.place.volume())));
        bytes = received;
      }
      group_of_ranks.broadcast(bytes, static_cast<int>(root));
      if (failure != nullptr) continue;
      try {
        hand_over(stored, block, bytes, consume);
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }
  agree_on_failure(group_of_ranks, phase, failure);
  const Fingerprint sum = sum_over_ranks(group_of_ranks, share);
  together(group_of_ranks, phase, [&] {
    if (sum == stored.fingerprint) return;
    const std::string what = fmt::format("{}: {}/{} has fingerprint {}, the manifest says {}",
                                         folder_.string(), group, name, sum.hex(), stored.fingerprint.hex());
    blocks_->note_damage(what);
    throw DamagedCheckpoint(what);
  });
}

void CheckpointReader::require_fingerprints(const Communicator& group_of_ranks,
                                            std::span<const LocalBlock> blocks) const {
  // Per tensor of the manifest: fingerprint low, high, elements seen.
  std::vector<std::uint64_t> sums(3 * manifest_->tensors.size(), 0);
  together(group_of_ranks, "fingerprints of loaded tensors", [&] {
    constexpr std::int64_t staging_bytes = std::int64_t{4} << 20;
    std::vector<std::byte> staging(static_cast<std::size_t>(staging_bytes));
    for (const OwnedPiece& piece : cut_into_pieces(blocks, staging_bytes)) {
      const LocalBlock& block = blocks[static_cast<std::size_t>(piece.block)];
      const StoredTensor& stored = tensor(block.group, block.name);
      require(stored.shape == block.global_shape && stored.type == block.type,
              "a loaded block fits its stored tensor");
      const std::int64_t elements = piece.place.volume();
      const std::span out(staging.data(), static_cast<std::size_t>(bytes_of(block.type, elements)));
      block.read(piece.first_in_block, out);
      const Fingerprint share = block_fingerprint(block.type, block.global_shape, piece.place, out);
      const auto at = 3 * static_cast<std::size_t>(&stored - manifest_->tensors.data());
      sums[at] += share.low;
      sums[at + 1] += share.high;
      sums[at + 2] += static_cast<std::uint64_t>(elements);
    }
  });
  group_of_ranks.all_reduce(sums, ReduceOp::sum);
  together(group_of_ranks, "fingerprints of loaded tensors", [&] {
    std::string differing;
    for (std::size_t i = 0; i < manifest_->tensors.size(); ++i) {
      const StoredTensor& stored = manifest_->tensors[i];
      const Fingerprint sum{sums[3 * i], sums[3 * i + 1]};
      const auto elements = static_cast<std::int64_t>(sums[3 * i + 2]);
      if (elements == 0 || (elements == stored.elements() && sum == stored.fingerprint)) continue;
      differing +=
          fmt::format("\n  {}/{}: {} of {} elements, fingerprint {}, the manifest says {}", stored.group,
                      stored.name, elements, stored.elements(), sum.hex(), stored.fingerprint.hex());
    }
    require(differing.empty(),
            fmt::format("tensors in memory are not those of {}:{}", folder_.string(), differing));
  });
}

}  // namespace charter
