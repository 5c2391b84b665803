// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/hdf5_session.hpp"

namespace charter {

Hdf5Session::NoExitHandler::NoExitHandler() {
  // Fails, without harm, where HDF5 is open already.
  H5dont_atexit();
}

Hdf5Session::Hdf5Session() = default;

Hdf5WriteSession::~Hdf5WriteSession() {
  if (succeeded_) return;
  // Never deleted, on purpose.
  static const auto* const kept_open = new Hdf5Session;
  static_cast<void>(kept_open);
}

}  // namespace charter
