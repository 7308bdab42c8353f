// SPDX-License-Identifier: Apache-2.0
// What a worker says to the runner, up to the row that comes of it.
#include "src/core/json.h"
#include "src/runner/case_plan.h"
#include "src/runner/row_of_case.h"
#include "src/workers/conversation.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

constexpr const char* kNonce = "n";

/// A case of a suite, as far as a row reads it.
const Case& any_case() {
  static const Case one{.name = "case",
                        .techniques = Row::array({{{"name", "ddp"}}}),
                        .fields = {{"ranks", 2},
                                   {"model", {{"name", "vit"}}},
                                   {"data", Row::object()},
                                   {"train", {{"batch_size", 4}}}},
                        .published = {{"run_peak_reserved_bytes", 1000}}};
  return one;
}

const RunFacts& any_run(bool is_planned) {
  static const RunFacts measured{"suite", "cpu", false, "commit", {{"cpu", "a processor"}}};
  static const RunFacts planned{"suite", "cuda", true, "commit", {{"cpu", "a processor"}}};
  return is_planned ? planned : measured;
}

/// Rows, and their text, of what came of a case.
void check_rows(const Outcome& outcome) {
  CaseFacts facts{.started_at = "2026-01-01T00:00:00Z", .outcome = outcome, .plan = {}};
  facts.plan.step_time_lower_bound_ns =
      step_time_lower_bound_ns(outcome.record, "a100-40gb", false);
  // A plan is of one process.
  const RunFacts& run = any_run(outcome.rank_records.empty());
  const Row row = make_row(fuzz_catalog(), run, any_case(), facts);
  require(status_of(row) == outcome.verdict.status, "a row tells how its case ended");
  for (const auto& [name, value] : row.items()) {
    require(is_cell(value), "a row holds texts and numbers");
  }
  rows_to_csv(fuzz_catalog(), {row});
  make_rank_rows(fuzz_catalog(), outcome.rank_records);
}

WorkerReply reply_of(const WorkerMessages& messages) {
  WorkerReply reply;
  reply.last = messages.last();
  reply.reason = messages.fault();
  reply.ending = !messages.fault().empty()     ? WorkerReply::Ending::broken
                 : messages.record().is_null() ? WorkerReply::Ending::crashed
                                               : WorkerReply::Ending::answered;
  if (reply.ending == WorkerReply::Ending::answered) reply.record = messages.record();
  return reply;
}

}  // namespace

void fuzz_messages(std::string_view input) {
  WorkerMessages messages(kNonce, [](const WorkerProgress&) {});
  messages.take(input);
  WorkerMessages slow_messages(kNonce, [](const WorkerProgress&) {});
  in_pieces(input, [&](std::string_view piece) { slow_messages.take(piece); });
  require(messages.fault() == slow_messages.fault() &&
              messages.record() == slow_messages.record() &&
              messages.last().messages == slow_messages.last().messages,
          "messages are the same however they come");
  const WorkerReply reply = reply_of(messages);
  if (reply.record.is_null()) return;
  check_rows(outcome_of(reply, fuzz_catalog()));
  check_rows(outcome_of_ranks({reply, reply}, fuzz_catalog()));
}

}  // namespace headroom
