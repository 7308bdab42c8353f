// SPDX-License-Identifier: Apache-2.0
// A library that is loaded before a program (LD_PRELOAD), to which the system is then as no test
// can make it. Variables say how:
//
//     STRANGE_SLEEP_S      each look at the clock that counts the machine's sleep shows so many
//                          seconds of it more
//     STRANGE_DATE_S       each look at the date shows a jump of so many seconds, forth or back
//     STRANGE_FILE_SYSTEM  the number of the file system (f_type) on which every folder is
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>

namespace {

long number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 0);
}

/// The sum of the jumps up to and with this look.
long jumps(std::atomic<long>& looks, const char* variable) { return ++looks * number_in(variable); }

std::atomic<long> looks_at_sleep;
std::atomic<long> looks_at_date;

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) {
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (clock == CLOCK_BOOTTIME) now->tv_sec += jumps(looks_at_sleep, "STRANGE_SLEEP_S");
  if (clock == CLOCK_REALTIME) now->tv_sec += jumps(looks_at_date, "STRANGE_DATE_S");
  return result;
}

extern "C" time_t time(time_t* into) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}

extern "C" int statfs(const char* path, struct statfs* status) {
  const int result = static_cast<int>(syscall(SYS_statfs, path, status));
  if (const long type = number_in("STRANGE_FILE_SYSTEM"); type != 0) status->f_type = type;
  return result;
}
