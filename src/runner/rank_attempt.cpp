// SPDX-License-Identifier: Apache-2.0
#include "src/runner/rank_attempt.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "src/core/temporary_folder.h"
#include "src/runner/environment.h"
#include "src/runner/rank_outcome.h"

namespace headroom {
namespace {

constexpr const char* kThreads = "OMP_NUM_THREADS";

/// Each rank would else start as many threads as there are cores.
void share_cores(std::vector<WorkerRequest>& requests) {
  if (requests.size() == 1 || std::getenv(kThreads) != nullptr) return;
  const int share = usable_cores() / static_cast<int>(requests.size());
  for (WorkerRequest& request : requests) {
    request.environment.emplace_back(kThreads, std::to_string(std::max(1, share)));
  }
}

void join(std::vector<WorkerRequest>& requests, const std::filesystem::path& folder) {
  const std::string store = std::filesystem::absolute(folder) / "store";
  for (std::size_t rank = 0; rank < requests.size(); ++rank) {
    requests[rank].body.update({{"rank", rank}, {"store", store}});
  }
}

}  // namespace

RankAttempt attempt_ranks(std::vector<WorkerRequest> requests, const Catalog& catalog,
                          Interrupts& interrupts,
                          const std::function<void(const WorkerProgress&)>& on_progress) {
  std::optional<TemporaryFolder> folder;
  if (requests.front().body.contains("ranks")) join(requests, folder.emplace().path());
  share_cores(requests);
  const std::vector<WorkerReply> replies = call_workers(requests, interrupts, on_progress);
  RankAttempt result;
  result.interrupted = std::any_of(replies.begin(), replies.end(), [](const WorkerReply& reply) {
    return reply.ending == WorkerReply::Ending::interrupted;
  });
  result.outcome = outcome_of_ranks(replies, catalog);
  return result;
}

}  // namespace headroom
