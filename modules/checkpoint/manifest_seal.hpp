// SPDX-License-Identifier: Apache-2.0
// The last line of a manifest: the checksum of every byte before it, so that no JSON has to be understood to
// know that the file is whole. Pure text.
#pragma once

#include <string>
#include <string_view>

namespace charter {

// `text` is an open JSON object ("{ ... " without the closing brace); returns it with the seal and the brace.
std::string sealed(std::string text);

// Why `text` does not end in the right seal; empty when it does.
std::string seal_problem(std::string_view text);

}  // namespace charter
