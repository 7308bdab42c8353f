// SPDX-License-Identifier: Apache-2.0
// The calls that can be made to fail, each with the name of the C library's. They are declared here
// by their names for the linker alone, as headers declare some otherwise, and they are on Linux
// what they are without the 64 too.
#include "tests/campaign/failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <type_traits>

#define FAILING_CALLS(X)                                                                          \
  X(int, open, (const char* path, int flags, mode_t mode), (path, flags, mode))                   \
  X(int, open64, (const char* path, int flags, mode_t mode), (path, flags, mode))                 \
  X(int, openat, (int folder, const char* path, int flags, mode_t mode),                          \
    (folder, path, flags, mode))                                                                  \
  X(int, openat64, (int folder, const char* path, int flags, mode_t mode),                        \
    (folder, path, flags, mode))                                                                  \
  X(FILE*, fopen, (const char* path, const char* mode), (path, mode))                             \
  X(FILE*, fopen64, (const char* path, const char* mode), (path, mode))                           \
  X(int, mkostemp, (char* path, int flags), (path, flags))                                        \
  X(char*, mkdtemp, (char* path), (path))                                                         \
  X(int, memfd_create, (const char* name, unsigned flags), (name, flags))                         \
  X(int, close, (int file), (file))                                                               \
  X(ssize_t, read, (int file, void* bytes, size_t count), (file, bytes, count))                   \
  X(ssize_t, pread, (int file, void* bytes, size_t count, off_t at), (file, bytes, count, at))    \
  X(ssize_t, pread64, (int file, void* bytes, size_t count, off_t at), (file, bytes, count, at))  \
  X(ssize_t, write, (int file, const void* bytes, size_t count), (file, bytes, count))            \
  X(ssize_t, pwrite, (int file, const void* bytes, size_t count, off_t at),                       \
    (file, bytes, count, at))                                                                     \
  X(ssize_t, pwrite64, (int file, const void* bytes, size_t count, off_t at),                     \
    (file, bytes, count, at))                                                                     \
  X(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count))             \
  X(off_t, lseek, (int file, off_t to, int from), (file, to, from))                               \
  X(off_t, lseek64, (int file, off_t to, int from), (file, to, from))                             \
  X(int, fsync, (int file), (file))                                                               \
  X(int, fdatasync, (int file), (file))                                                           \
  X(int, ftruncate, (int file, off_t bytes), (file, bytes))                                       \
  X(int, ftruncate64, (int file, off_t bytes), (file, bytes))                                     \
  X(int, fchmod, (int file, mode_t mode), (file, mode))                                           \
  X(int, flock, (int file, int lock), (file, lock))                                               \
  X(int, fcntl, (int file, int command, long argument), (file, command, argument))                \
  X(int, fcntl64, (int file, int command, long argument), (file, command, argument))              \
  X(int, dup2, (int file, int number), (file, number))                                            \
  X(int, stat, (const char* path, struct stat* status), (path, status))                           \
  X(int, stat64, (const char* path, struct stat64* status), (path, status))                       \
  X(int, lstat, (const char* path, struct stat* status), (path, status))                          \
  X(int, fstat, (int file, struct stat* status), (file, status))                                  \
  X(int, fstat64, (int file, struct stat64* status), (file, status))                              \
  X(int, access, (const char* path, int mode), (path, mode))                                      \
  X(int, rename, (const char* path, const char* to), (path, to))                                  \
  X(int, unlink, (const char* path), (path))                                                      \
  X(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags))              \
  X(int, remove, (const char* path), (path))                                                      \
  X(int, mkdir, (const char* path, mode_t mode), (path, mode))                                    \
  X(int, rmdir, (const char* path), (path))                                                       \
  X(DIR*, fdopendir, (int folder), (folder))                                                      \
  X(dirent*, readdir, (DIR * folder), (folder))                                                   \
  X(ssize_t, readlink, (const char* path, char* to, size_t count), (path, to, count))             \
  X(char*, realpath, (const char* path, char* to), (path, to))                                    \
  X(char*, getcwd, (char* path, size_t count), (path, count))                                     \
  X(void*, mmap, (void* at, size_t bytes, int rights, int flags, int file, off_t from),           \
    (at, bytes, rights, flags, file, from))                                                       \
  X(pid_t, fork, (), ())                                                                          \
  X(int, execve, (const char* path, char* const* arguments, char* const* variables),              \
    (path, arguments, variables))                                                                 \
  X(int, pipe2, (int* ends, int flags), (ends, flags))                                            \
  X(int, signalfd, (int file, const sigset_t* signals, int flags), (file, signals, flags))        \
  X(int, poll, (pollfd * files, nfds_t count, int timeout_ms), (files, count, timeout_ms))        \
  X(pid_t, waitpid, (pid_t child, int* status, int options), (child, status, options))            \
  X(int, waitid, (idtype_t kind, id_t child, siginfo_t * status, int options),                    \
    (kind, child, status, options))                                                               \
  X(int, socket, (int family, int kind, int protocol), (family, kind, protocol))                  \
  X(int, bind, (int file, const sockaddr* at, socklen_t bytes), (file, at, bytes))                \
  X(int, listen, (int file, int count), (file, count))                                            \
  X(int, connect, (int file, const sockaddr* to, socklen_t bytes), (file, to, bytes))             \
  X(int, accept4, (int file, sockaddr* from, socklen_t* bytes, int flags),                        \
    (file, from, bytes, flags))                                                                   \
  X(ssize_t, recv, (int file, void* bytes, size_t count, int flags), (file, bytes, count, flags)) \
  X(ssize_t, send, (int file, const void* bytes, size_t count, int flags),                        \
    (file, bytes, count, flags))                                                                  \
  X(int, clock_gettime, (clockid_t clock, timespec * now), (clock, now))                          \
  X(long, syscall, (long number, long a, long b, long c, long d, long e, long f),                 \
    (number, a, b, c, d, e, f))

namespace headroom::failing_calls {
namespace {

#define FAILING_CALL_NUMBER(RESULT, NAME, ...) k_##NAME,
#define FAILING_CALL_NAME(RESULT, NAME, ...) #NAME,

enum Number : std::size_t { FAILING_CALLS(FAILING_CALL_NUMBER) };
constexpr std::array kNames = {FAILING_CALLS(FAILING_CALL_NAME)};

__attribute__((constructor)) void load() { begin(kNames.data(), kNames.size()); }

/// The C library's own, or that of a library that is loaded before it. Looked up once: where a
/// process is forked, most are known.
template <class Function>
Function* real(std::size_t call) {
  static std::array<void*, kNames.size()> known{};
  if (known[call] == nullptr) known[call] = dlsym(RTLD_NEXT, kNames[call]);
  return reinterpret_cast<Function*>(known[call]);
}

template <class Result>
Result failure() {
  if constexpr (std::is_same_v<Result, void*>) return MAP_FAILED;
  if constexpr (std::is_pointer_v<Result>) return nullptr;
  if constexpr (std::is_integral_v<Result>) return -1;
}

template <class Bytes, class... Rest>
void shorten(int, Bytes*, size_t& count, Rest...) {
  count = std::max<size_t>(1, count / 2);
}
void shorten(...) {}  // what has no such count

/// Of what reads and writes bytes: whether they are those of a pipe, a socket or the like.
bool has_no_disk(int file, const void*, size_t) {
  const int before = errno;
  struct stat status;
  const bool is_known = real<int(int, struct stat*)>(k_fstat)(file, &status) == 0;
  errno = before;
  return is_known && !S_ISREG(status.st_mode);
}
bool has_no_disk(...) { return false; }

void end_process(pid_t process) {
  if (process != getpid()) return;  // fork() returned in the child
  kill(process, SIGKILL);
  pause();
}

}  // namespace

#define FAILING_CALL(RESULT, NAME, PARAMETERS, ARGUMENTS)                                    \
  extern "C" RESULT failing_##NAME PARAMETERS __asm__(#NAME);                                \
  extern "C" __attribute__((visibility("default"))) RESULT failing_##NAME PARAMETERS {       \
    const auto call = real<RESULT PARAMETERS>(k_##NAME);                                     \
    const Action action = next_action(k_##NAME, has_no_disk ARGUMENTS);                      \
    if (action.kind == ActionKind::none) return call ARGUMENTS;                              \
    const pid_t caller = getpid();                                                           \
    if (action.kind == ActionKind::kill) end_process(caller);                                \
    if (action.kind == ActionKind::fail) {                                                   \
      if (k_##NAME == k_close) call ARGUMENTS; /* Linux frees the number whatever happens */ \
      errno = action.error;                                                                  \
      return failure<RESULT>();                                                              \
    }                                                                                        \
    if (action.kind == ActionKind::shorten) shorten ARGUMENTS;                               \
    const auto result = call ARGUMENTS;                                                      \
    if (action.kind == ActionKind::kill_after) end_process(caller);                          \
    return result;                                                                           \
  }

FAILING_CALLS(FAILING_CALL)

}  // namespace headroom::failing_calls
