// SPDX-License-Identifier: Apache-2.0
#include "src/runner/local_worker.h"

#include <unistd.h>

#include <csignal>

#include "src/runner/oom_kills.h"

namespace headroom {

LocalWorker::LocalWorker(const std::string& program, const std::string& request,
                         const Environment& environment)
    : oom_kills_(count_oom_kills()), process_({program}, request, environment) {}

std::array<pollfd, 3> LocalWorker::awaited() const {
  // A closed pipe stays readable for ever; a negative number is passed over.
  return {{{process_.ended(), POLLIN, 0},
           {messages_.is_open ? process_.messages() : -1, POLLIN, 0},
           {output_.is_open ? process_.output() : -1, POLLIN, 0}}};
}

std::string_view LocalWorker::read_some(int pipe, Read& into) {
  if (!into.is_open) return {};
  const ssize_t count = read(pipe, into.bytes.data(), into.bytes.size());
  if (count < 0) return {};
  into.is_open = count > 0;
  return {into.bytes.data(), static_cast<std::size_t>(count)};
}

std::optional<WorkerEnd> LocalWorker::try_wait() {
  const auto exit = process_.try_wait();
  if (!exit) return std::nullopt;
  WorkerEnd end{*exit};
  end.killed_for_memory =
      exit->signal == SIGKILL && oom_kills_ && count_oom_kills().value_or(0) > *oom_kills_;
  return end;
}

}  // namespace headroom
