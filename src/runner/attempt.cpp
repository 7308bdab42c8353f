// SPDX-License-Identifier: Apache-2.0
#include "src/runner/attempt.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/core/scratch_folder.h"
#include "src/runner/outcome.h"
#include "src/workers/agent_messages.h"
#include "src/workers/conversation.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::chrono::seconds limit(const Case& one, const char* path) {
  const Json* value = one.find(path);
  if (value == nullptr) throw std::logic_error(std::string("the catalog has no field ") + path);
  return std::chrono::seconds(value->get<std::int64_t>());
}

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
    Json& body = requests[rank].body;
    body["rank"] = rank;
    body["address"] = agents.address_of(rank);
    if (rank == 0) continue;
    body.erase("snapshot");  // agents write no files
    requests[rank].agent = &agents.of(rank);
  }
}

bool excludes(const Catalog& catalog, const std::string& one, const std::string& other) {
  const TechniqueInfo* info = catalog.find_technique(one);
  return info != nullptr && std::count(info->excludes.begin(), info->excludes.end(), other) > 0;
}

std::string names_of_joining(const Catalog& catalog) {
  std::string names;
  for (const TechniqueInfo& technique : catalog.techniques) {
    if (technique.joins_ranks) names += (names.empty() ? "" : ", ") + technique.name;
  }
  return names;
}

using Ending = WorkerReply::Ending;

constexpr std::chrono::seconds kProbe{60};  // of a GPU: a context of CUDA takes seconds at the most
constexpr std::int64_t kMostGpus = 16;      // of a machine

bool joins_ranks(const Case& one, const Catalog& catalog) {
  return std::any_of(one.techniques.begin(), one.techniques.end(), [&](const Json& technique) {
    const TechniqueInfo* info = catalog.find_technique(technique.at("name").get<std::string>());
    return info != nullptr && info->joins_ranks;
  });
}

/// Of a plan whose dry run left no report.
Verdict without_report(const Outcome& outcome) {
  const auto& [status, reason] = outcome.verdict;
  const bool has_answered = !outcome.record.is_null();
  if (!has_answered || (status != Status::ok && status != Status::out_of_memory)) {
    return outcome.verdict;
  }
  return {Status::failed, "its dry run left no report" + (reason.empty() ? "" : ": " + reason)};
}

}  // namespace

std::optional<std::string> why_unsupported(const Case& one, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Json& technique : one.techniques) names.push_back(technique.at("name"));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      if (excludes(catalog, names[i], names[j]) || excludes(catalog, names[j], names[i])) {
        return names[i] + " and " + names[j] + " exclude each other";
      }
    }
  }
  if (one.ranks() > 1 && !joins_ranks(one, catalog)) {
    return std::to_string(one.ranks()) +
           " ranks need a technique that joins them: " + names_of_joining(catalog);
  }
  return std::nullopt;
}

WorkerRequest measure_request(const std::string& worker, const std::string& device, const Case& one,
                              const Catalog& catalog, int log) {
  WorkerRequest request;
  request.worker = worker;
  request.body = {{"request", "measure"}, {"device", device}, {"case", one.to_json()}};
  if (joins_ranks(one, catalog)) request.body.update({{"rank", 0}, {"ranks", one.ranks()}});
  request.log = log;
  request.silence = limit(one, "limits.silence_s");
  request.total = limit(one, "limits.case_s");
  return request;
}

RankAttempt attempt_ranks(std::vector<WorkerRequest> requests, Agents* agents,
                          const Catalog& catalog, Interrupts& interrupts,
                          const std::function<void(const WorkerProgress&)>& on_progress) {
  const std::string attempt = make_nonce();
  for (WorkerRequest& request : requests) request.body["attempt"] = attempt;
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
  for (const WorkerReply& reply : replies) {
    if (reply.unended) result.unended.push_back(*reply.unended);
  }
  return result;
}

std::optional<std::string> why_gpus_do_not_work(const std::string& worker, std::int64_t gpus,
                                                int log, Interrupts& interrupts) {
  WorkerRequest request;
  request.worker = worker;
  request.body = {{"request", "probe"}, {"device", "cuda"}, {"gpus", gpus}};
  request.log = log;
  request.silence = request.total = kProbe * std::min(gpus, kMostGpus);
  const WorkerReply reply = call_worker(request, interrupts, [](const WorkerProgress&) {});
  if (reply.ending == Ending::interrupted) return std::nullopt;
  std::string reason = reply.reason;
  if (reply.ending == Ending::answered) {
    if (reply.record.value("status", Json()) == "ok") return std::nullopt;
    const Json said = reply.record.value("reason", Json());
    reason = said.is_string() ? said.get<std::string>() : said.dump();
  }
  return "behind it CUDA does not work any more: " + reason;
}

DryAttempt attempt_dry(WorkerRequest request, const DryRun& dry_run, const Catalog& catalog,
                       Interrupts& interrupts,
                       const std::function<void(const WorkerProgress&)>& on_progress) {
  const ScratchFolder scratch;
  request.body["planned"] = true;
  request.environment = dry_run_environment(dry_run, scratch.path());
  // The host computes little in between; threads that spin for more take others' time.
  request.environment.emplace_back("OMP_WAIT_POLICY", "passive");
  const WorkerReply reply = call_worker(request, interrupts, on_progress);
  DryAttempt result;
  result.interrupted = reply.ending == WorkerReply::Ending::interrupted;
  result.outcome = outcome_of(reply, catalog);
  const DryReports reports = read_reports(scratch.path());
  if (!reports.whole.empty()) {
    result.report = reports.whole.front();
  } else if (!result.interrupted) {
    check_has_room_for_report();
    result.outcome.verdict = without_report(result.outcome);
  }
  return result;
}

}  // namespace headroom
