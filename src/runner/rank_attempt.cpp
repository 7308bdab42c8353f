// SPDX-License-Identifier: Apache-2.0
#include "src/runner/rank_attempt.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "src/core/file.h"
#include "src/runner/environment.h"
#include "src/runner/rank_outcome.h"
#include "src/workers/agent_messages.h"

namespace headroom {
namespace {

/// Each rank would else start as many threads as there are cores.
void share_cores(std::vector<WorkerRequest>& requests) {
  if (requests.size() == 1 || std::getenv(kThreads) != nullptr) return;
  const int share = usable_cores() / static_cast<int>(requests.size());
  for (WorkerRequest& request : requests) {
    request.environment.emplace_back(kThreads, std::to_string(std::max(1, share)));
  }
}

void share_cores(std::vector<WorkerRequest>& requests, const Agents& agents) {
  const std::vector<std::int64_t> threads = agents.threads_of(requests.size());
  for (std::size_t rank = 0; rank < requests.size(); ++rank) {
    if (threads[rank] == 0) continue;
    requests[rank].environment.emplace_back(kThreads, std::to_string(threads[rank]));
  }
}

void join(std::vector<WorkerRequest>& requests, const std::filesystem::path& folder) {
  const std::string store = std::filesystem::absolute(folder) / "store";
  for (std::size_t rank = 0; rank < requests.size(); ++rank) {
    requests[rank].body.update({{"rank", rank}, {"store", store}});
  }
}

void join(std::vector<WorkerRequest>& requests, Agents& agents) {
  join(requests[0].body, agents.launch());
  for (std::size_t rank = 0; rank < requests.size(); ++rank) {
    nlohmann::ordered_json& body = requests[rank].body;
    body["rank"] = rank;
    body["address"] = agents.address_of(rank);
    if (rank == 0) continue;
    body.erase("snapshot");  // agents write no files
    requests[rank].agent = &agents.of(rank);
  }
}

}  // namespace

RankAttempt attempt_ranks(std::vector<WorkerRequest> requests, Agents* agents,
                          const Catalog& catalog, Interrupts& interrupts,
                          const std::function<void(const WorkerProgress&)>& on_progress) {
  std::optional<ScratchFolder> folder;
  if (agents != nullptr && requests.size() > 1) {
    join(requests, *agents);
    share_cores(requests, *agents);
  } else {
    if (requests.front().body.contains("ranks")) join(requests, folder.emplace().path());
    share_cores(requests);
  }
  const std::vector<WorkerReply> replies = call_workers(requests, interrupts, on_progress);
  RankAttempt result;
  const auto any = [&](WorkerReply::Ending ending) {
    return std::any_of(replies.begin(), replies.end(),
                       [&](const WorkerReply& reply) { return reply.ending == ending; });
  };
  // A launcher that loses one of its processes interrupts the others.
  result.interrupted = any(WorkerReply::Ending::interrupted) && !any(WorkerReply::Ending::lost);
  result.outcome = outcome_of_ranks(replies, catalog);
  return result;
}

}  // namespace headroom
