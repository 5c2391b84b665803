// SPDX-License-Identifier: Apache-2.0
// The name of this machine.
#pragma once

#include <string>

namespace charter {

// "unknown-host" where the system does not tell.
std::string host_name();

}  // namespace charter
