// SPDX-License-Identifier: Apache-2.0
// HDF5 1.10 does not survive a close that fails: the file is gone, its identifier stays, and ending the
// library (H5close, or its own handler at exit) then follows a dangling pointer (measured: segmentation fault
// after a full disk). A full disk must not kill the run, so after a failed write the library is never ended
// in this process. One thread. Local.
#pragma once

#include "src/storage/hdf5_handles.hpp"

namespace charter {

// What this folder holds while it uses HDF5. The first one of a process also keeps HDF5 from ending itself at
// exit.
class Hdf5Session {
 public:
  Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  struct NoExitHandler {
    NoExitHandler();
  };
  NoExitHandler no_exit_handler_;
  Hdf5Library library_;
};

// The same for writing. Declare it before the handles it serves. When it dies without succeeded(), HDF5 stays
// open until the process ends.
class Hdf5WriteSession {
 public:
  Hdf5WriteSession() = default;
  ~Hdf5WriteSession();
  Hdf5WriteSession(const Hdf5WriteSession&) = delete;
  Hdf5WriteSession& operator=(const Hdf5WriteSession&) = delete;
  void succeeded() { succeeded_ = true; }

 private:
  Hdf5Session session_;
  bool succeeded_ = false;
};

}  // namespace charter
