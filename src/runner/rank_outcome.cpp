// SPDX-License-Identifier: Apache-2.0
#include "src/runner/rank_outcome.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Ending = WorkerReply::Ending;

/// What a rank has to do with how the case ended, most first.
enum class Role { timed_out, out_of_memory, crashed, own_record, peer_lost, dismissed, none };

Role role_of(const WorkerReply& reply, Status status) {
  if (status == Status::ok) return Role::none;
  if (reply.ending == Ending::dismissed) return Role::dismissed;
  if (reply.ending == Ending::timed_out) return Role::timed_out;
  if (status == Status::out_of_memory) return Role::out_of_memory;
  if (reply.ending != Ending::answered) return Role::crashed;
  return reply.record.value("peer_lost", Json()) == true ? Role::peer_lost : Role::own_record;
}

/// The rank that decides. Where all are ok: the first one.
std::size_t deciding_rank(const std::vector<WorkerReply>& replies,
                          const std::vector<Outcome>& outcomes) {
  const auto key = [&](std::size_t rank) {
    const WorkerReply& reply = replies[rank];
    return std::tuple(role_of(reply, outcomes[rank].verdict.status), reply.last.messages,
                      reply.ended_at);
  };
  std::size_t deciding = 0;
  for (std::size_t rank = 1; rank < replies.size(); ++rank) {
    if (key(rank) < key(deciding)) deciding = rank;
  }
  return deciding;
}

/// What is kept of a rank: its record, or, where it gave none, the runner's verdict in its place.
Json record_of(const Outcome& outcome) {
  if (!outcome.record.is_null()) return outcome.record;
  return {{"status", enum_name(outcome.verdict.status)}, {"reason", outcome.verdict.reason}};
}

std::string with_rank(std::size_t rank, std::size_t ranks, const std::string& reason) {
  const std::string name = "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
  return reason.empty() ? name : name + ": " + reason;
}

/// Who waits is silent: where a rank that was not silent yet is behind all that were, they waited
/// for it. Nothing: none is.
std::optional<std::size_t> rank_behind(const std::vector<WorkerReply>& replies,
                                       std::size_t timed_out) {
  std::optional<std::size_t> behind;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const std::int64_t least = replies[behind.value_or(timed_out)].last.messages;
    if (replies[rank].ending != Ending::dismissed) continue;
    if (replies[rank].last.messages < least) behind = rank;
  }
  return behind;
}

/// The reason of a case that is not ok.
std::string reason_of(const std::vector<WorkerReply>& replies, std::size_t deciding,
                      const std::string& reason) {
  const std::size_t ranks = replies.size();
  if (replies[deciding].ending != Ending::timed_out) return with_rank(deciding, ranks, reason);
  const auto behind = rank_behind(replies, deciding);
  if (!behind) return with_rank(deciding, ranks, reason);
  return with_rank(*behind, ranks, "behind the others in ") + describe(replies[*behind].last) +
         "; " + with_rank(deciding, ranks, reason);
}

/// The first rank whose peak is the largest.
std::size_t peak_rank_of(const std::vector<Json>& records) {
  const auto peak = [](const Json& record) {
    return columns_of(record).value("run_peak_allocated_bytes", std::int64_t{0});
  };
  const auto largest =
      std::max_element(records.begin(), records.end(),
                       [&](const Json& a, const Json& b) { return peak(a) < peak(b); });
  return static_cast<std::size_t>(largest - records.begin());
}

/// Where all ranks are ok: one of them may have something to say all the same.
std::string reason_of_ok(const std::vector<Outcome>& outcomes) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const std::string& reason = outcomes[rank].verdict.reason;
    if (!reason.empty()) return with_rank(rank, outcomes.size(), reason);
  }
  return "";
}

bool all_answered_the_same(const std::vector<WorkerReply>& replies,
                           const std::vector<Outcome>& outcomes) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (replies[rank].ending != Ending::answered) return false;
    if (outcomes[rank].verdict != outcomes[0].verdict) return false;
  }
  return true;
}

}  // namespace

Outcome outcome_of_ranks(const std::vector<WorkerReply>& replies, const Catalog& catalog) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(replies.size());
  for (const WorkerReply& reply : replies) outcomes.push_back(outcome_of(reply, catalog));
  if (replies.size() == 1) return outcomes.front();

  const std::size_t deciding = deciding_rank(replies, outcomes);
  Outcome outcome = outcomes[deciding];
  for (const Outcome& one : outcomes) outcome.rank_records.push_back(record_of(one));
  std::string& reason = outcome.verdict.reason;
  if (outcome.verdict.status == Status::ok) {
    reason = reason_of_ok(outcomes);
    outcome.peak_rank = peak_rank_of(outcome.rank_records);
    outcome.record = outcome.rank_records[*outcome.peak_rank];
  } else if (!all_answered_the_same(replies, outcomes)) {
    reason = reason_of(replies, deciding, reason);
  }
  return outcome;
}

}  // namespace headroom
