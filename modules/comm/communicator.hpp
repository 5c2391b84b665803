// SPDX-License-Identifier: Apache-2.0
// An owned group of ranks and its collectives on host memory. Every call is numbered and recorded
// (collective_log.hpp) and every wait is watched (watchdog.hpp). Collectives are called by all ranks of the
// group in one order, by one thread at a time per communicator; different communicators may serve different
// threads. Two kinds need no MPI: self(), a group of one (the short cut of degree 1 lives here, layers have
// none), and self_planned(), which knows rank and size but skips and counts every collective, so that a plan
// of any rank of any mesh runs in one process. A planned communicator never touches the memory of a buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "modules/comm/buffer.hpp"
#include "modules/comm/collective_log.hpp"
#include "modules/comm/request.hpp"

namespace charter {

// sum, min and max for 32- and 64-bit integers, float and double; bit_or for integers. A float sum depends on
// the number of ranks and is for fast mode only: verify mode gathers and adds in logical order.
enum class ReduceOp : std::uint8_t { sum, min, max, bit_or };

// Bounds and checks of a communicator; children inherit them.
struct CommSettings {
  // Elements of one MPI message, fewer than 2^31; more is split.
  std::int64_t largest_message = std::int64_t{1} << 30;
  // --check-collectives: compare number and arguments over the ranks before each blocking collective.
  bool check_collectives = false;
};

struct CommunicatorState;

class Communicator {
 public:
  // Local. A group of one rank: collectives copy. Needs no MPI.
  static Communicator self(const std::string& name);
  // Local. Rank `rank` of `size` in planning: collectives and requests are counted and skipped, whatever the
  // size; all_reduce_value returns its argument. Needs no MPI.
  static Communicator self_planned(int rank, int size, const std::string& name);

  ~Communicator();  // Collective in normal flow; while unwinding, nothing is freed
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const;
  int size() const;
  bool planned() const;
  const std::string& name() const;
  // The name made unique: its place in the tree of splits and the world rank of its first member, the same on
  // all its ranks.
  const std::string& id() const;
  // What this rank called and sent so far; a snapshot.
  CommunicatorTotals totals() const;
  const CommSettings& settings() const;
  // Local; the same on all ranks, between two collectives.
  void set_settings(const CommSettings& settings);
  // The process's log, which also holds the current phase and step; never null.
  CollectiveLog& log() const;
  const std::shared_ptr<CollectiveLog>& shared_log() const;

  // Local. A group of this rank alone, with the same log: what an axis of degree 1 needs.
  Communicator alone(const std::string& name) const;
  // Collective. New groups. split: ranks of equal `colour` (>= 0), ordered by `key`, then by rank here.
  // split_shared_memory: ranks of one node. On a planned communicator split throws (plans build their groups
  // by arithmetic, modules/topology/mesh.hpp) and duplicate gives a planned one.
  Communicator duplicate(const std::string& name, CallSite where = CallSite::current()) const;
  Communicator split(int colour, int key, const std::string& name,
                     CallSite where = CallSite::current()) const;
  Communicator split_shared_memory(const std::string& name, CallSite where = CallSite::current()) const;

  // Collective. Blocking. All throw Error(internal) on this rank for counts or types that do not fit, and
  // Error(device_unfit) where MPI reports a fault. "Block" means the elements of one rank; blocks lie in rank
  // order.

  // data on `root` -> data on all. **Cost** data.
  void broadcast(Buffer data, int root, CallSite where = CallSite::current()) const;
  // In place: data = op over ranks of data.
  void all_reduce(Buffer data, ReduceOp op, CallSite where = CallSite::current()) const;
  // op over ranks of one value.
  template <CommElement T>
  T all_reduce_value(T value, ReduceOp op, CallSite where = CallSite::current()) const {
    all_reduce(one(value), op, where);
    return value;
  }
  // receive.count = size() * send.count. send may lie inside receive only as this rank's own block.
  void all_gather(ConstBuffer send, Buffer receive, CallSite where = CallSite::current()) const;
  // Blocks of different counts; `counts` has size() entries and is the same on all ranks.
  void all_gather_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts,
                    CallSite where = CallSite::current()) const;
  // As all_gather, to `root` alone; receive is not read on the others.
  void gather(ConstBuffer send, Buffer receive, int root, CallSite where = CallSite::current()) const;
  // Equal blocks: block j of send goes to rank j and lands there as block rank().
  void all_to_all(ConstBuffer send, Buffer receive, CallSite where = CallSite::current()) const;
  // Blocks of different counts, packed in rank order: send_counts[j] elements go to rank j, receive_counts[j]
  // come from it. A rank knows its own counts only.
  void all_to_all_v(ConstBuffer send, std::span<const std::int64_t> send_counts, Buffer receive,
                    std::span<const std::int64_t> receive_counts, CallSite where = CallSite::current()) const;
  // Equal blocks: send.count = size() * receive.count; receive = op over ranks of block rank().
  void reduce_scatter(ConstBuffer send, Buffer receive, ReduceOp op,
                      CallSite where = CallSite::current()) const;
  // Blocks of different counts: send has the sum of counts, receive counts[rank()] elements; `counts` has
  // size() entries and is the same on all ranks.
  void reduce_scatter_v(ConstBuffer send, Buffer receive, std::span<const std::int64_t> counts, ReduceOp op,
                        CallSite where = CallSite::current()) const;
  void barrier(CallSite where = CallSite::current()) const;

  // Both ends. Blocking; one send matches one receive of the same tag, count and type. Tags 0..32767. A
  // planned communicator counts them.
  void send(ConstBuffer data, int peer, int tag, CallSite where = CallSite::current()) const;
  void receive(Buffer data, int peer, int tag, CallSite where = CallSite::current()) const;

  // Collective; they return at once. Buffers stay untouched until the Request has ended. Open MPI makes
  // progress only inside MPI calls: poll Request::test() between pieces of work.
  [[nodiscard]] Request iall_reduce(Buffer data, ReduceOp op, CallSite where = CallSite::current()) const;
  [[nodiscard]] Request iall_gather(ConstBuffer send, Buffer receive,
                                    CallSite where = CallSite::current()) const;
  [[nodiscard]] Request iall_to_all_v(ConstBuffer send, std::span<const std::int64_t> send_counts,
                                      Buffer receive, std::span<const std::int64_t> receive_counts,
                                      CallSite where = CallSite::current()) const;
  // Both ends, nonblocking.
  [[nodiscard]] Request isend(ConstBuffer data, int peer, int tag,
                              CallSite where = CallSite::current()) const;
  [[nodiscard]] Request ireceive(Buffer data, int peer, int tag, CallSite where = CallSite::current()) const;

 private:
  friend class Session;  // makes the world
  explicit Communicator(std::unique_ptr<CommunicatorState> state);

  std::unique_ptr<CommunicatorState> state_;
};

}  // namespace charter
