// SPDX-License-Identifier: Apache-2.0
// Who wants to know of an error before it unwinds. src/ knows no other rank; modules/comm notes the last
// error here, so that a rank which must abort while an exception unwinds can still say why and with which
// code.
#pragma once

#include <string>

#include "src/base/exit_code.hpp"

namespace charter {

using FailureHook = void (*)(ExitCode code, const std::string& message);

// Called by fail() and require() before they throw. nullptr (the start) for none. Set once, before other
// threads run.
void set_failure_hook(FailureHook hook);

}  // namespace charter
