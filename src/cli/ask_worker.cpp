// SPDX-License-Identifier: Apache-2.0
#include "src/cli/ask_worker.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "src/cli/command_line.h"
#include "src/cli/needed_libtorch.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/workers/worker_call.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Ending = WorkerReply::Ending;

}  // namespace

std::string worker_path() {
  const char* named = std::getenv("HEADROOM_WORKER");
  std::string path =
      named != nullptr
          ? std::string(named)
          : (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headroom-worker")
                .string();
  const int error = access(path.c_str(), X_OK) == 0 ? 0 : errno;
  if (is_of_machine(error)) throw_errno(path);
  if (error != 0 || !std::filesystem::is_regular_file(path)) {
    const bool says_why = error != 0 && error != ENOENT;
    throw Unsupported(path + ": there is no worker program" +
                      (says_why ? " (" + std::generic_category().message(error) + ")" : "") +
                      "; build headroom-worker, or name it in the environment variable "
                      "HEADROOM_WORKER");
  }
  check_needed_libtorch(std::filesystem::path(path).parent_path());
  return path;
}

Json ask_worker(const Json& request) {
  Interrupts interrupts;
  WorkerRequest call;
  call.worker = worker_path();
  call.body = request;
  const WorkerReply reply = call_worker(call, interrupts, [](const WorkerProgress&) {});
  if (reply.ending == Ending::interrupted) throw NoAnswer(kInterrupted, reply.reason);
  if (reply.ending != Ending::answered) throw NoAnswer(kFailed, reply.reason);

  const std::string status = reply.record.value("status", Json()).dump();
  const std::string reason = reply.record.value("reason", Json()).is_string()
                                 ? reply.record["reason"].get<std::string>()
                                 : "the worker gave no reason";
  if (status == "\"ok\"") return reply.record.value("result", Json());
  if (status == "\"unsupported\"" || status == "\"out_of_memory\"") throw Unsupported(reason);
  if (status == "\"invalid\"") throw ConfigError(reason);
  throw NoAnswer(kFailed, reason);
}

}  // namespace headroom
