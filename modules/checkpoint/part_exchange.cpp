// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/part_exchange.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/text_exchange.hpp"
#include "modules/checkpoint/write_plan.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"

namespace charter {
namespace {

// Tags of one conversation between a member and its writer; it runs in this order, so they need not differ by
// piece.
constexpr int list_tag = 101;
constexpr int ask_tag = 102;
constexpr int head_tag = 103;
constexpr int data_tag = 104;

enum class Ask : std::int32_t { stop, next };

// What precedes a piece's bytes: did reading it succeed, checksum, fingerprint.
struct PieceHead {
  bool read = false;
  std::uint64_t checksum = 0;
  Fingerprint fingerprint;

  std::array<std::uint64_t, 4> words() const {
    return {read ? 1U : 0U, checksum, fingerprint.low, fingerprint.high};
  }
  static PieceHead from(const std::array<std::uint64_t, 4>& words) {
    return {words[0] == 1, words[1], {words[2], words[3]}};
  }
};

// This rank's pieces, and the one buffer they pass through.
class PieceSource {
 public:
  PieceSource(std::span<const LocalBlock> blocks, std::int64_t block_bytes)
      : blocks_(blocks), pieces_(cut_into_pieces(blocks, block_bytes)) {}

  std::size_t size() const { return pieces_.size(); }
  std::int64_t bytes(std::size_t i) const { return bytes_of(block_of(i).type, pieces_[i].place.volume()); }
  std::int64_t largest() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < size(); ++i) most = std::max(most, bytes(i));
    return most;
  }
  // Reads the piece into `staging` and returns its bytes there.
  std::span<const std::byte> read(std::size_t i, std::vector<std::byte>& staging, PieceHead& head) const {
    const LocalBlock& block = block_of(i);
    if (std::ssize(staging) < bytes(i)) staging.resize(static_cast<std::size_t>(bytes(i)));
    const std::span out(staging.data(), static_cast<std::size_t>(bytes(i)));
    block.read(pieces_[i].first_in_block, out);
    head.checksum = block_checksum(out);
    head.fingerprint = block_fingerprint(block.type, block.global_shape, pieces_[i].place, out);
    head.read = true;
    return out;
  }
  PieceRecord record(std::size_t i, const PieceHead& head) const {
    const LocalBlock& block = block_of(i);
    return {block.group,      block.name,    block.type,      block.global_shape,
            pieces_[i].place, head.checksum, head.fingerprint};
  }
  // The pieces as text: what a writer must know of them before their bytes come.
  std::string list() const {
    Json json = Json::array();
    for (std::size_t i = 0; i < size(); ++i) {
      const PieceRecord piece = record(i, {});
      json.push_back(Json::array({piece.group, piece.name, static_cast<int>(piece.type), piece.shape,
                                  piece.place.offset, piece.place.extent}));
    }
    return json.dump();
  }
  static std::vector<PieceRecord> parse_list(const std::string& text) {
    std::vector<PieceRecord> records;
    for (const Json& json : Json::parse(text)) {
      PieceRecord& record = records.emplace_back();
      json.at(0).get_to(record.group);
      json.at(1).get_to(record.name);
      record.type = static_cast<DataType>(json.at(2).get<int>());
      json.at(3).get_to(record.shape);
      json.at(4).get_to(record.place.offset);
      json.at(5).get_to(record.place.extent);
    }
    return records;
  }

 private:
  const LocalBlock& block_of(std::size_t i) const {
    return blocks_[static_cast<std::size_t>(pieces_[i].block)];
  }

  std::span<const LocalBlock> blocks_;
  std::vector<OwnedPiece> pieces_;
};

// One rank's side of writing all parts. Errors are kept, not thrown, until the conversations have ended.
class PartExchange {
 public:
  PartExchange(const Communicator& comm, const std::filesystem::path& folder,
               const std::string& checkpoint_id, const PieceSource& source)
      : comm_(comm), folder_(folder), checkpoint_id_(checkpoint_id), source_(source) {}

  void run(int parts) {
    const IndexRange mine = parts_of_rank(comm_.rank(), parts, comm_.size());
    for (int part = mine.first; part < mine.first + mine.count; ++part) {
      const IndexRange members = members_of_part(part, parts, comm_.size());
      if (members.first == comm_.rank()) {
        write_part(part, members, part - mine.first, mine.count);
      } else {
        give_to(members.first);
      }
    }
  }

  const std::exception_ptr& failure() const { return failure_; }
  std::vector<WrittenPart> written() { return std::move(written_); }

 private:
  template <class Action>
  void guarded(const Action& action) {
    if (failed()) return;
    try {
      action();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  bool failed() const { return failure_ != nullptr || member_failed_; }

  // Own pieces first: every `stride`-th from `first`, where this rank writes several parts.
  void write_part(int part, const IndexRange& members, int first, int stride) {
    std::optional<PartWriter> writer;
    guarded([&] { writer.emplace(folder_, part, checkpoint_id_); });
    guarded([&] {
      for (auto i = static_cast<std::size_t>(first); i < source_.size();
           i += static_cast<std::size_t>(stride)) {
        PieceHead head;
        const std::span<const std::byte> bytes = source_.read(i, staging_, head);
        writer->write(source_.record(i, head), bytes);
      }
    });
    for (int member = members.first + 1; member < members.first + members.count; ++member)
      take_from(member, writer);
    guarded([&] { written_.push_back(writer->finish()); });
  }

  // The writer's side. After a failure the member is told to stop.
  void take_from(int member, std::optional<PartWriter>& writer) {
    std::vector<PieceRecord> records = PieceSource::parse_list(receive_text(comm_, member, list_tag));
    for (PieceRecord& record : records) {
      const auto bytes = static_cast<std::size_t>(bytes_of(record.type, record.place.volume()));
      guarded([&] {
        if (staging_.size() < bytes) staging_.resize(bytes);
      });
      auto ask = static_cast<std::int32_t>(failed() ? Ask::stop : Ask::next);
      comm_.send(one(ask), member, ask_tag);
      if (failed()) return;
      std::array<std::uint64_t, 4> words{};
      comm_.receive(words, member, head_tag);
      const PieceHead head = PieceHead::from(words);
      if (!head.read) {
        member_failed_ = true;
        return;
      }
      record.checksum = head.checksum;
      record.fingerprint = head.fingerprint;
      const std::span data(staging_.data(), bytes);
      comm_.receive(data, member, data_tag);
      guarded([&] { writer->write(record, data); });
    }
  }

  // The member's side.
  void give_to(int writer) {
    send_text(comm_, source_.list(), writer, list_tag);
    for (std::size_t i = 0; i < source_.size(); ++i) {
      std::int32_t ask = 0;
      comm_.receive(one(ask), writer, ask_tag);
      if (static_cast<Ask>(ask) == Ask::stop) return;
      PieceHead head;
      std::span<const std::byte> bytes;
      guarded([&] { bytes = source_.read(i, staging_, head); });
      std::array<std::uint64_t, 4> words = head.words();
      comm_.send(words, writer, head_tag);
      if (!head.read) return;
      comm_.send(bytes, writer, data_tag);
    }
  }

  const Communicator& comm_;
  const std::filesystem::path& folder_;
  const std::string& checkpoint_id_;
  const PieceSource& source_;
  std::vector<std::byte> staging_;
  std::exception_ptr failure_;
  bool member_failed_ = false;  // a member could not read its piece; its own error is the one to tell
  std::vector<WrittenPart> written_;
};

}  // namespace

std::vector<WrittenPart> write_parts(const Communicator& comm, const std::filesystem::path& folder,
                                     const std::string& checkpoint_id, std::span<const LocalBlock> blocks,
                                     const CheckpointOptions& options) {
  const PieceSource source =
      together(comm, "cutting blocks", [&] { return PieceSource(blocks, options.block_bytes); });
  PartExchange exchange(comm, folder, checkpoint_id, source);
  exchange.run(options.writers);
  agree_on_failure(comm, "writing parts", exchange.failure());
  return exchange.written();
}

}  // namespace charter
