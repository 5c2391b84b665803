// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_handles.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/message_text.hpp"
#include "src/storage/hdf5_superblock.hpp"

namespace charter {
namespace {

int open_guards = 0;
bool is_kept_open = false;

// The innermost entries say what happened; the outer ones only repeat "can't open file".
constexpr unsigned most_error_entries = 6;

herr_t append_error(unsigned position, const H5E_error2_t* entry, void* text) {
  if (position >= most_error_entries) return 0;
  auto& line = *static_cast<std::string*>(text);
  if (!line.empty()) line += "; ";
  // Some hold a time of day as ctime() writes it, with the end of its line.
  line += fmt::format("{}: {}", entry->func_name,
                      entry->desc != nullptr ? one_line(entry->desc) : "no description");
  return 0;
}

// "/a/b" -> {"/a", "/a/b"}; "a/b" -> {"a", "a/b"}. HDF5 follows links inside a path silently, so each step is
// looked at.
std::vector<std::string> path_steps(const std::string& path) {
  std::vector<std::string> steps;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name == ".") fail(ExitCode::internal, fmt::format("HDF5 path \"{}\" contains \".\"", path));
    if (!name.empty()) steps.push_back(path.substr(0, end));
    begin = end + 1;
  }
  return steps;
}

void require_hard_link(hid_t parent, const std::string& step) {
  H5L_info_t info{};
  const std::string where = hdf5_file_name(parent);
  hdf5_check(H5Lget_info(parent, step.c_str(), &info, H5P_DEFAULT), ExitCode::bad_input, where,
             "looking at link " + step);
  if (info.type == H5L_TYPE_HARD) return;
  const char* kind = info.type == H5L_TYPE_SOFT       ? "a soft link"
                     : info.type == H5L_TYPE_EXTERNAL ? "an external link"
                                                      : "a user-defined link";
  fail(ExitCode::bad_input,
       fmt::format("{}: {} is {}; only plain objects are read, because a link can lead out of the "
                   "file",
                   where, step, kind));
}

Hdf5PropertyList file_access(const std::string& where) {
  Hdf5PropertyList access(hdf5_check(H5Pcreate(H5P_FILE_ACCESS), ExitCode::internal, where, "H5Pcreate"));
  hdf5_check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110), ExitCode::internal, where,
             "H5Pset_libver_bounds");
  hdf5_check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), ExitCode::internal, where,
             "H5Pset_fclose_degree");
#if H5_VERSION_GE(1, 10, 7)
  // Some NFS and Lustre mounts have no locks; the run folder's own lock guards against two writers.
  hdf5_check(H5Pset_file_locking(access.id(), true, true), ExitCode::internal, where, "H5Pset_file_locking");
#endif
  return access;
}

}  // namespace

Hdf5Library::Hdf5Library() {
  if (open_guards == 0) {
    // Its own handler at exit would end it too. Fails, without harm, where HDF5 is open already.
    H5dont_atexit();
    hdf5_check(H5open(), ExitCode::internal, "HDF5", "H5open");
    hdf5_check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), ExitCode::internal, "HDF5", "H5Eset_auto2");
    hdf5_check(H5PLset_loading_state(0), ExitCode::internal, "HDF5", "H5PLset_loading_state");
  }
  ++open_guards;
}

Hdf5Library::~Hdf5Library() {
  if (--open_guards == 0 && !is_kept_open) H5close();
}

void keep_hdf5_open() {
  is_kept_open = true;
}

void require_hdf5_library() {
  require(open_guards > 0, "an Hdf5Library guard lives while HDF5 is used");
}

std::string hdf5_error_text() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append_error, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "HDF5 gives no reason" : text;
}

void hdf5_fail(ExitCode code, std::string_view where, std::string_view action) {
  fail(code, fmt::format("{}: {} failed: {}", where, action, hdf5_error_text()));
}

Hdf5File create_hdf5_file(const std::filesystem::path& path) {
  require_hdf5_library();
  const Hdf5PropertyList access = file_access(path.string());
  return Hdf5File(hdf5_check(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.id()),
                             ExitCode::cannot_write, path.string(), "creating the HDF5 file"));
}

Hdf5File open_hdf5_file(const std::filesystem::path& path) {
  require_hdf5_library();
  // A mapping costs nothing and gives errno's text for a missing file, a folder or a lack of permission.
  const MappedFile probe(path);
  if (const std::string problem = hdf5_superblock_problem(probe.bytes()); !problem.empty()) {
    fail(ExitCode::bad_input,
         fmt::format("{}: not a complete HDF5 file of Charter's: {}", path.string(), problem));
  }
  const Hdf5PropertyList access = file_access(path.string());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id());
  if (file < 0) {
    fail(ExitCode::bad_input, fmt::format("{}: not a complete HDF5 file of Charter's ({} bytes): {}",
                                          path.string(), probe.size(), hdf5_error_text()));
  }
  return Hdf5File(file);
}

void close_hdf5_file(Hdf5File file, const std::filesystem::path& path) {
  hdf5_check(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), ExitCode::cannot_write, path.string(), "flushing");
  file.close(ExitCode::cannot_write, path.string());
  try {
    fsync_path(path);
  } catch (const Error& error) {
    fail(ExitCode::cannot_write, error.what());
  }
}

std::string hdf5_file_name(hid_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  if (length <= 0) {
    H5Eclear2(H5E_DEFAULT);
    return "HDF5 file of unknown name";
  }
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  name.pop_back();
  return name;
}

Hdf5Group create_hdf5_group(hid_t parent, const std::string& path) {
  require_hdf5_library();
  const std::string where = hdf5_file_name(parent);
  if (path_steps(path).empty() || hdf5_path_exists(parent, path)) {
    return Hdf5Group(hdf5_check(H5Gopen2(parent, path.c_str(), H5P_DEFAULT), ExitCode::cannot_write, where,
                                "opening group " + path));
  }
  const Hdf5PropertyList links(
      hdf5_check(H5Pcreate(H5P_LINK_CREATE), ExitCode::internal, where, "H5Pcreate"));
  hdf5_check(H5Pset_create_intermediate_group(links.id(), 1), ExitCode::internal, where,
             "H5Pset_create_intermediate_group");
  return Hdf5Group(hdf5_check(H5Gcreate2(parent, path.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT),
                              ExitCode::cannot_write, where, "creating group " + path));
}

Hdf5Group open_hdf5_group(hid_t parent, const std::string& path) {
  require_hard_links(parent, path);
  return Hdf5Group(hdf5_check(H5Gopen2(parent, path.c_str(), H5P_DEFAULT), ExitCode::bad_input,
                              hdf5_file_name(parent), "opening group " + path));
}

std::vector<std::string> list_hdf5_group(hid_t group) {
  const std::string where = hdf5_file_name(group);
  H5G_info_t info{};
  hdf5_check(H5Gget_info(group, &info), ExitCode::bad_input, where, "H5Gget_info");
  std::vector<std::string> names;
  for (hsize_t index = 0; index < info.nlinks; ++index) {
    const auto get = [&](char* buffer, std::size_t size) {
      return hdf5_check(
          H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, buffer, size, H5P_DEFAULT),
          ExitCode::bad_input, where, "listing a group");
    };
    std::string name(static_cast<std::size_t>(get(nullptr, 0)) + 1, '\0');
    get(name.data(), name.size());
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

bool hdf5_path_exists(hid_t parent, const std::string& path) {
  require_hdf5_library();
  for (const std::string& step : path_steps(path)) {
    const htri_t exists = hdf5_check(H5Lexists(parent, step.c_str(), H5P_DEFAULT), ExitCode::bad_input,
                                     hdf5_file_name(parent), "looking for " + step);
    if (exists == 0) return false;
    require_hard_link(parent, step);
  }
  return true;
}

void require_hard_links(hid_t parent, const std::string& path) {
  if (hdf5_path_exists(parent, path)) return;
  fail(ExitCode::bad_input, fmt::format("{}: there is no {}", hdf5_file_name(parent), path));
}

}  // namespace charter
