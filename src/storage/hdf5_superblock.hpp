// SPDX-License-Identifier: Apache-2.0
// The first 48 bytes of an HDF5 file, looked at before the library is: only files of the format that Charter
// writes are handed to it. Format: HDF5 File Format Specification 3.0, "Disk Format: Level 0A",
// https://docs.hdfgroup.org/hdf5/v1_14/_f_m_t3.html.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace charter {

// Why `file`, the bytes of a whole file, is none that create_hdf5_file made and closed; empty when it may be
// one: superblock of version 3 (HDF5 1.10: all metadata carry checksums; older versions' do not, and the
// library trusts them) at byte 0, no base address, no open writer, and as long as it says it is.
std::string hdf5_superblock_problem(std::span<const std::byte> file);

}  // namespace charter
