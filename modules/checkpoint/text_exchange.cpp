// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/text_exchange.hpp"

#include <cstdint>

#include "modules/comm/communicator.hpp"

namespace charter {
namespace {

constexpr int gather_tag = 110;

}  // namespace

void send_text(const Communicator& comm, const std::string& text, int peer, int tag) {
  auto length = static_cast<std::int64_t>(text.size());
  comm.send(one(length), peer, tag);
  comm.send(text, peer, tag);
}

std::string receive_text(const Communicator& comm, int peer, int tag) {
  std::int64_t length = 0;
  comm.receive(one(length), peer, tag);
  std::string text(static_cast<std::size_t>(length), '\0');
  comm.receive(text, peer, tag);
  return text;
}

std::vector<std::string> gather_texts(const Communicator& comm, const std::string& text) {
  if (comm.rank() != 0) {
    send_text(comm, text, 0, gather_tag);
    return {};
  }
  std::vector<std::string> texts = {text};
  for (int rank = 1; rank < comm.size(); ++rank) texts.push_back(receive_text(comm, rank, gather_tag));
  return texts;
}

}  // namespace charter
