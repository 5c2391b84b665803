// SPDX-License-Identifier: Apache-2.0
// HDF5 while it writes. A full disk must not kill the run, so after a failed write the library is never ended
// in this process (keep_hdf5_open says why). One thread. Local.
#pragma once

#include "src/storage/hdf5_handles.hpp"

namespace charter {

// Declare it before the handles it serves. When it dies without succeeded(), HDF5 stays open until the
// process ends.
class Hdf5WriteSession {
 public:
  Hdf5WriteSession() = default;
  ~Hdf5WriteSession() {
    if (!succeeded_) keep_hdf5_open();
  }
  Hdf5WriteSession(const Hdf5WriteSession&) = delete;
  Hdf5WriteSession& operator=(const Hdf5WriteSession&) = delete;
  void succeeded() { succeeded_ = true; }

 private:
  Hdf5Library library_;
  bool succeeded_ = false;
};

}  // namespace charter
