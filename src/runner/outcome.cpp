// SPDX-License-Identifier: Apache-2.0
#include "src/runner/outcome.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/results/peak_order.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

using Ending = WorkerReply::Ending;

/// JSON has no NaN and no infinity: a worker's number that is neither finite nor missing is null.
bool is_finite(const Json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

bool has_type(const Json& value, ColumnType type) {
  if (type == ColumnType::text) return value.is_string();
  return type == ColumnType::integer ? value.is_number_integer() : is_finite(value);
}

bool is_loss(std::string_view name) {
  return name == column::first_loss || name == column::last_loss;
}

/// Of columns that have their types.
std::string fault_in_peaks(const Json& columns) {
  for (const auto& [larger, smaller] : kPeakOrder) {
    if (!columns.contains(larger) || !columns.contains(smaller)) continue;
    const auto most = columns[larger].get<std::int64_t>();
    const auto part = columns[smaller].get<std::int64_t>();
    if (most >= part) continue;
    return "the worker's record has a " + std::string(smaller) + " of " + std::to_string(part) +
           ", which is above its " + std::string(larger) + " of " + std::to_string(most);
  }
  return "";
}

/// What is wrong with the record's columns; empty: nothing.
std::string fault_in_columns(const Json& columns, const Catalog& catalog) {
  if (!columns.is_object()) return "the worker's record has columns that are no object";
  for (const auto& [name, value] : columns.items()) {
    const Column* column = catalog.find_column(name);
    if (column == nullptr || column->origin != kWorkerOrigin) {
      return "the worker's record has a column that is not the worker's: " + Json(name).dump();
    }
    if (is_loss(name) && value.is_null()) continue;  // reported as a wrong loss
    if (!has_type(value, column->type)) {
      return "the worker's record has no valid value of " + name + ": " + value.dump();
    }
    if (value.is_number() && value.get<double>() < 0 && column->group == ColumnGroup::memory) {
      return "the worker's record has a negative " + name;
    }
    if (takes_time(name) && value.get<double>() <= 0) {
      return "the worker's record has a " + name + " of 0 or below";
    }
  }
  return fault_in_peaks(columns);
}

/// What is wrong with the record beside its columns.
std::string fault_beside_columns(const Json& record) {
  const Json times = record.value("step_time_ns", Json::array());
  if (!times.is_array()) return "the worker's record has a step_time_ns that is no list";
  for (const Json& time : times) {
    if (!time.is_number_integer() || time.get<std::int64_t>() <= 0) {
      return "the worker's record has a step that took " + time.dump() + " ns";
    }
  }
  const Json memory = record.value("device_memory_bytes", Json());
  const auto peak = columns_of(record).value(column::run_peak_allocated_bytes, std::int64_t{0});
  if (!memory.is_number_integer() || peak <= memory.get<std::int64_t>()) return "";
  return "the worker's record has a peak of " + std::to_string(peak) +
         " bytes, and its device has " + memory.dump();
}

bool losses_are_finite(const Json& record) {
  const Json losses = record.value("loss", Json::array());
  const Json columns = columns_of(record);
  for (const auto& [name, value] : columns.items()) {
    if (is_loss(name) && !is_finite(value)) return false;
  }
  return losses.is_array() && std::all_of(losses.begin(), losses.end(), is_finite);
}

std::optional<Status> status_of_worker(const Json& record) {
  const Json status = record.value("status", Json());
  for (const Status known : {Status::ok, Status::out_of_memory, Status::unsupported,
                             Status::inactive, Status::incorrect, Status::failed}) {
    if (status == enum_name(known)) return known;
  }
  return std::nullopt;
}

Outcome outcome_of_record(const WorkerReply& reply, const Catalog& catalog) {
  const Json& record = reply.record;
  // How the worker ended comes behind what its record says: neither hides the other.
  const auto outcome = [&](Status status, const std::string& reason) {
    return Outcome{{status, join_reasons(reason, reply.reason)}, record};
  };
  const auto status = status_of_worker(record);
  const Json reason = record.value("reason", Json());
  if (!status || !reason.is_string()) {
    return outcome(Status::failed, "the worker's record has no valid status");
  }
  std::string fault = fault_in_columns(columns_of(record), catalog);
  if (fault.empty()) fault = fault_beside_columns(record);
  if (!fault.empty()) return outcome(Status::failed, fault);
  if (*status == Status::ok && !losses_are_finite(record)) {
    return outcome(Status::incorrect, "the loss is not finite");
  }
  return outcome(*status, reason.get<std::string>());
}

void drop_times_of_record(Json& record, const Catalog& catalog) {
  if (!record.is_object()) return;
  record.erase("step_time_ns");
  record.erase("data_wait_ns");
  const auto columns = record.find("columns");
  if (columns == record.end() || !columns->is_object()) return;
  for (const Column& column : catalog.columns) {
    if (column.group == ColumnGroup::time) columns->erase(column.name);
  }
}

/// What a rank has to do with how the case ended, most first.
enum class Role { timed_out, out_of_memory, crashed, own_record, peer_lost, dismissed, none };

Role role_of(const WorkerReply& reply, Status status) {
  if (status == Status::ok) return Role::none;
  // A launcher that loses one of its processes interrupts the others: they were ended too.
  if (reply.ending == Ending::dismissed || reply.ending == Ending::interrupted) {
    return Role::dismissed;
  }
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
    return columns_of(record).value(column::run_peak_allocated_bytes, std::int64_t{0});
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

Outcome outcome_of(const WorkerReply& reply, const Catalog& catalog) {
  switch (reply.ending) {
    case Ending::answered:
      return outcome_of_record(reply, catalog);
    case Ending::timed_out:
      return {{Status::timeout, reply.reason}, nullptr};
    case Ending::crashed:
      if (reply.killed_for_memory) {
        return {{Status::out_of_memory, "host: killed by the kernel's OOM killer"}, nullptr};
      }
      return {{Status::crashed, reply.reason}, nullptr};
    case Ending::lost:
    case Ending::broken:
    case Ending::dismissed:
    case Ending::interrupted:
      break;
  }
  return {{Status::failed, reply.reason}, nullptr};
}

void drop_times(Outcome& outcome, const Catalog& catalog) {
  drop_times_of_record(outcome.record, catalog);
  for (Json& record : outcome.rank_records) drop_times_of_record(record, catalog);
}

Outcome outcome_of_ranks(const std::vector<WorkerReply>& replies, const Catalog& catalog) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(replies.size());
  for (const WorkerReply& reply : replies) outcomes.push_back(outcome_of(reply, catalog));
  if (replies.size() == 1) return outcomes.front();

  const std::size_t deciding = deciding_rank(replies, outcomes);
  Outcome outcome = outcomes[deciding];
  for (const Outcome& own : outcomes) outcome.rank_records.push_back(record_of(own));
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
