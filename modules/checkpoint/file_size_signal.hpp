// SPDX-License-Identifier: Apache-2.0
// A file size limit (RLIMIT_FSIZE) shall be an error like a full disk. By default the kernel sends SIGXFSZ,
// which ends the process; ignored, write() fails with EFBIG. Local.
#pragma once

#include <csignal>

namespace charter {

// Ignores SIGXFSZ while it lives.
class IgnoreFileSizeSignal {
 public:
  IgnoreFileSizeSignal() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &ignore, &former_);
  }
  ~IgnoreFileSizeSignal() { ::sigaction(SIGXFSZ, &former_, nullptr); }
  IgnoreFileSizeSignal(const IgnoreFileSizeSignal&) = delete;
  IgnoreFileSizeSignal& operator=(const IgnoreFileSizeSignal&) = delete;

 private:
  struct sigaction former_ {};
};

}  // namespace charter
