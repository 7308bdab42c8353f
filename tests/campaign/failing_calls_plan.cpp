// SPDX-License-Identifier: Apache-2.0
// What FAILING_CALLS asks for, and how far it is.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "tests/campaign/failing_calls.h"

namespace headroom::failing_calls {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr int kExitCode = 125;

struct Fault {
  std::size_t call = kAny;
  std::uint64_t number = 0;
  Action action;
  bool ever = false;
};

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

struct Count {
  std::array<char, 16> name;
  Counter calls;
  Counter met;
};

/// Shared by all processes of the program.
struct Log {
  std::array<Counter, kMostFaults> counted;
  Count of_call[];
};

Log* shared_log = nullptr;  // none: it is another program
std::array<Fault, kMostFaults> faults;
std::size_t number_of_faults = 0;

[[noreturn]] void refuse(const std::string& what) {
  const std::string text = "FAILING_CALLS: " + what + "\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  _exit(kExitCode);
}

/// Takes what stands before the next `separator` off a text.
std::string take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  std::string word(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

Action read_action(const std::string& name) {
  if (name == "short") return {ActionKind::shorten};
  if (name == "kill") return {ActionKind::kill};
  if (name == "kill_after") return {ActionKind::kill_after};
  constexpr int kLastError = EHWPOISON;
  for (int error = 1; error <= kLastError; ++error) {
    const char* known = strerrorname_np(error);
    if (known != nullptr && name == known) return {ActionKind::fail, error};
  }
  refuse("'" + name + "' is no action");
}

std::size_t read_call(const std::string& name, const char* const* names, std::size_t count) {
  if (name == "any") return kAny;
  for (std::size_t call = 0; call < count; ++call) {
    if (name == names[call]) return call;
  }
  refuse("'" + name + "' is no call that can fail");
}

Fault read_fault(std::string_view text, const char* const* names, std::size_t count) {
  Fault fault;
  fault.call = read_call(take(text, ':'), names, count);
  const std::string number = take(text, ':');
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, fault.number);
  if (read.ec != std::errc() || read.ptr != end || fault.number == 0) {
    refuse("'" + number + "' is no number of a call");
  }
  fault.action = read_action(take(text, ':'));
  fault.ever = text == "ever";
  if (!fault.ever && !text.empty()) refuse("'" + std::string(text) + "' is not 'ever'");
  return fault;
}

bool is_program(const std::string& name) {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return false;
  const std::string_view all(path.data(), static_cast<std::size_t>(length));
  return all.substr(all.rfind('/') + 1) == name;
}

bool is_of_disks(int error) { return error == ENOSPC || error == EDQUOT || error == EIO; }

Log* open_log(const std::string& path, const char* const* names, std::size_t count) {
  const std::size_t bytes = sizeof(Log) + count * sizeof(Count);
  int file = -1;
  if (path != "-") {
    file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      refuse(path + ": " + std::strerror(errno));
    }
  }
  const int flags = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) refuse(path + ": " + std::strerror(errno));
  if (file >= 0) close(file);
  Log* log = static_cast<Log*>(memory);
  for (std::size_t call = 0; call < count; ++call) {
    std::array<char, 16>& name = log->of_call[call].name;
    std::strncpy(name.data(), names[call], name.size() - 1);
  }
  return log;
}

}  // namespace

void begin(const char* const* names, std::size_t count) {
  const char* variable = std::getenv("FAILING_CALLS");
  if (variable == nullptr) return;
  std::string_view text = variable;
  const std::string program = take(text, ' ');
  const std::string log = take(text, ' ');
  if (log.empty()) refuse("it begins with a program and a log");
  if (!is_program(program)) return;
  while (!text.empty()) {
    if (number_of_faults == kMostFaults) refuse("there are too many faults");
    faults[number_of_faults++] = read_fault(take(text, ' '), names, count);
  }
  shared_log = open_log(log, names, count);
}

Action next_action(std::size_t call, bool has_no_disk) {
  if (shared_log == nullptr) return {};
  Count& count = shared_log->of_call[call];
  ++count.calls;
  Action action;
  for (std::size_t i = 0; i < number_of_faults; ++i) {
    const Fault& fault = faults[i];
    if (fault.call != kAny && fault.call != call) continue;
    const bool is_begun = i == 0 || shared_log->counted[i - 1].load() >= faults[i - 1].number;
    if (!is_begun) break;
    const std::uint64_t number = ++shared_log->counted[i];
    const bool meets = fault.ever ? number >= fault.number : number == fault.number;
    const bool can_meet = !has_no_disk || !is_of_disks(fault.action.error);
    if (meets && can_meet && action.kind == ActionKind::none) action = fault.action;
    if (number == fault.number) break;  // the next fault counts from the next call on
  }
  if (action.kind != ActionKind::none) ++count.met;
  return action;
}

}  // namespace headroom::failing_calls
