// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded into one rank: opening a file whose path ends with $CHARTER_UNREADABLE for
// reading fails there with an I/O error, as on a node whose file system has gone bad, and on no other rank.
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>

namespace {

using Open = int (*)(const char*, int, ...);

bool is_refused(const char* path, int flags) {
  const char* ending = std::getenv("CHARTER_UNREADABLE");
  return ending != nullptr && (flags & O_ACCMODE) == O_RDONLY && std::string_view(path).ends_with(ending);
}

int open_unless_refused(const char* name, const char* path, int flags, mode_t mode) {
  if (is_refused(path, flags)) {
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<Open>(::dlsym(RTLD_NEXT, name))(path, flags, mode);
}

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_unless_refused("open", path, flags, mode);
}

extern "C" int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_unless_refused("open64", path, flags, mode);
}
