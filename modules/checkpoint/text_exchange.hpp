// SPDX-License-Identifier: Apache-2.0
// Texts of any length between ranks.
#pragma once

#include <string>
#include <vector>

namespace charter {

class Communicator;

// Both ends.
void send_text(const Communicator& comm, const std::string& text, int peer, int tag);
std::string receive_text(const Communicator& comm, int peer, int tag);

// Collective. Every rank's text in rank order on rank 0; empty elsewhere. One text at a time is on its way.
std::vector<std::string> gather_texts(const Communicator& comm, const std::string& text);

}  // namespace charter
