// SPDX-License-Identifier: Apache-2.0
// HDF5, made safe to use: one library guard, identifiers that close themselves, every return code turned into
// an Error that carries HDF5's own error stack. Data sets are in hdf5_dataset.hpp, attributes in
// hdf5_attribute.hpp, virtual data sets in hdf5_virtual.hpp. Rule: the library is not thread-safe, so one
// thread makes all HDF5 calls of a process. Nothing here knows what a checkpoint is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "src/base/exit_code.hpp"

namespace charter {

// Opens the HDF5 library, turns its automatic printing off and forbids it ever to load a plugin; closes the
// library (and with it every identifier still open) when the last guard goes, unless closing an object has
// failed: HDF5 1.10 does not survive its own end then (the object is gone, its identifier stays, and the end
// follows a dangling pointer; measured after a full disk and with damaged files). Guards may nest. Everything
// else in these headers throws internal when no guard lives. Make it on the main thread after MPI is
// initialised, destroy it before MPI is finalised, after every Hdf5Handle and after the thread that used them
// has been joined.
class Hdf5Library {
 public:
  Hdf5Library();
  ~Hdf5Library();
  Hdf5Library(const Hdf5Library&) = delete;
  Hdf5Library& operator=(const Hdf5Library&) = delete;
};

// From now on the library is never ended in this process.
void keep_hdf5_open();

// Throws internal unless an Hdf5Library lives.
void require_hdf5_library();

// HDF5's error stack of the last failed call as one line, innermost cause first; empties the stack.
std::string hdf5_error_text();

// Throws Error(code, "<where>: <action> failed: <HDF5's error stack>").
[[noreturn]] void hdf5_fail(ExitCode code, std::string_view where, std::string_view action);

// Passes the result of an HDF5 call through; a negative one (HDF5's sign of failure) throws as hdf5_fail
// does.
template <class Result>
Result hdf5_check(Result result, ExitCode code, std::string_view where, std::string_view action) {
  if (result < 0) hdf5_fail(code, where, action);
  return result;
}

// Sole owner of one HDF5 identifier. Move-only; the destructor closes and ignores errors (it may run while
// unwinding), so what was written is closed by hand where a failure must be seen: see close() and
// close_hdf5_file.
template <herr_t (*close_id)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  ~Hdf5Handle() {
    if (id_ >= 0 && close_id(id_) < 0) keep_hdf5_open();
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;

  hid_t id() const { return id_; }
  bool is_open() const { return id_ >= 0; }
  // Closes now. Throws Error(code) with HDF5's error stack when that fails.
  void close(ExitCode code, std::string_view where) {
    if (id_ < 0) return;
    const herr_t closed = close_id(std::exchange(id_, -1));
    if (closed < 0) keep_hdf5_open();
    hdf5_check(closed, code, where, "closing an HDF5 object");
  }

 private:
  hid_t id_ = -1;
};

using Hdf5File = Hdf5Handle<H5Fclose>;
using Hdf5Group = Hdf5Handle<H5Gclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Attribute = Hdf5Handle<H5Aclose>;
using Hdf5PropertyList = Hdf5Handle<H5Pclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;

// Creates a file that must not exist yet, in the format of HDF5 1.10 (metadata carry checksums; a file whose
// writer died before close is refused at opening). Closing it also closes every object inside. Throws
// cannot_write.
Hdf5File create_hdf5_file(const std::filesystem::path& path);

// Opens for reading what create_hdf5_file made. Throws missing_input when it is not there or not a regular
// file, bad_input when it is not HDF5, of an older format (hdf5_superblock.hpp), truncated, or was never
// closed by its writer.
Hdf5File open_hdf5_file(const std::filesystem::path& path);

// Flush, close, fsync of the file; its folder is the caller's to fsync. Call it for every file that was
// written: HDF5's own close neither fsyncs nor reports all earlier failures. Throws cannot_write.
void close_hdf5_file(Hdf5File file, const std::filesystem::path& path);

// The path of the file an object lies in, for messages.
std::string hdf5_file_name(hid_t object);

// Creates the group `path` ("/t/model.norm.weight") and every missing group above it; opens it when it is
// there already. Throws cannot_write.
Hdf5Group create_hdf5_group(hid_t parent, const std::string& path);

// Opens an existing group. Every link on the way must be a hard link: soft, external and user-defined links
// are refused. Throws bad_input.
Hdf5Group open_hdf5_group(hid_t parent, const std::string& path);

// The names directly inside a group, in alphabetical order. Throws bad_input.
std::vector<std::string> list_hdf5_group(hid_t group);

// Whether `path` exists below `parent`; every link on the way must be a hard link, else bad_input.
bool hdf5_path_exists(hid_t parent, const std::string& path);

// Throws bad_input unless `path` exists below `parent` by hard links only, so that opening it cannot leave
// the file.
void require_hard_links(hid_t parent, const std::string& path);

}  // namespace charter
