// SPDX-License-Identifier: Apache-2.0
#include "src/runner/forks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "src/core/error.h"
#include "src/core/json.h"
#include "src/workers/process.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kResult = "result";
// Of what was thrown: who must act. Its text is the member's value.
constexpr const char* kConfigError = "config_error";
constexpr const char* kResultsError = "results_error";
constexpr const char* kUnsupported = "unsupported";
constexpr const char* kFault = "fault";

/// What a copy has to say of its work: one member.
Json outcome_of_work(const std::function<Json()>& work) {
  try {
    return {{kResult, work()}};
  } catch (const ConfigError& error) {
    return {{kConfigError, error.what()}};
  } catch (const ResultsError& error) {
    return {{kResultsError, error.what()}};
  } catch (const Unsupported& error) {
    return {{kUnsupported, error.what()}};
  } catch (const std::system_error& error) {
    return {{kUnsupported, error.what()}};
  } catch (const std::exception& error) {
    return {{kFault, error.what()}};
  }
}

Json result_in(const Json& said) {
  if (said.contains(kResult)) return said[kResult];
  const auto text = [&](const char* kind) { return said[kind].get<std::string>(); };
  if (said.contains(kConfigError)) throw ConfigError(text(kConfigError));
  if (said.contains(kResultsError)) throw ResultsError(text(kResultsError));
  if (said.contains(kUnsupported)) throw Unsupported(text(kUnsupported));
  throw std::runtime_error(said.contains(kFault) ? text(kFault) : said.dump());
}

[[noreturn]] void work_and_end(const std::function<Json()>& work, int pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it ended before the line above
  setpgid(0, 0);                      // a terminal's ctrl-C is the parent's to pass on, once
  int code = 1;
  try {
    // Whatever bytes a text holds, it must come out.
    write_all(pipe, outcome_of_work(work).dump(-1, ' ', false, Json::error_handler_t::replace),
              "a copy's result");
    code = 0;
  } catch (const std::exception&) {  // the parent finds no result
  }
  _exit(code);
}

}  // namespace

Forks::~Forks() {
  for (const Fork& fork : forks_) {
    end_child(fork.process, std::chrono::steady_clock::now() + kUnkillableAfter);
  }
}

void Forks::start(std::size_t piece, const std::function<Json()>& work) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  Fork fork{piece, 0, FileDescriptor(ends[0])};
  const FileDescriptor write_end(ends[1]);
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl");
  const pid_t parent = getpid();
  fork.process = ::fork();
  if (fork.process < 0) throw_errno("fork");
  if (fork.process == 0) work_and_end(work, write_end.get(), parent);
  forks_.push_back(std::move(fork));
}

Forks::Done Forks::wait() {
  for (;;) {
    const auto ended = std::ranges::find_if(forks_, &Forks::take);
    if (ended != forks_.end()) {
      Fork fork = std::move(*ended);
      forks_.erase(ended);
      return done(fork);
    }
    std::vector<pollfd> list{{interrupts_.descriptor(), POLLIN, 0}};
    for (const Fork& fork : forks_) list.push_back({fork.pipe.get(), POLLIN, 0});
    poll(list.data(), list.size(), -1);
    while (const auto signal = interrupts_.next()) {
      was_interrupted_ = true;
      for (const Fork& fork : forks_) kill(fork.process, *signal);
    }
  }
}

bool Forks::take(Fork& fork) {
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const ssize_t count =
        uninterrupted([&] { return read(fork.pipe.get(), buffer.data(), buffer.size()); });
    if (count <= 0) return count == 0;
    fork.text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Forks::Done Forks::done(Fork& fork) {
  int status = 0;
  uninterrupted([&] { return waitpid(fork.process, &status, 0); });
  Json said = Json::parse(fork.text, nullptr, false);
  if (said.is_discarded() || !said.is_object()) {
    throw std::runtime_error("a copy of this process ended with no result, by wait status " +
                             std::to_string(status));
  }
  return {fork.piece, result_in(said)};
}

}  // namespace headroom
