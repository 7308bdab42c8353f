// SPDX-License-Identifier: Apache-2.0
// Several ranks become one row, whatever becomes of one of them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// One run of a suite, and what it left.
struct DoneRun {
  TemporaryFolder folder;
  std::string out = folder / "out";
  Ended ended;
  Rows rows;
  std::chrono::duration<double> time{};

  explicit DoneRun(
      const std::string& suite, const std::vector<std::string>& more = {},
      const std::function<void()>& prepare = [] {}) {
    std::vector<std::string> arguments = {"run", folder.write("suite.yaml", suite), "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto start = Clock::now();
    ended = run_program(arguments, prepare);
    time = Clock::now() - start;
    rows = read_rows(out);
  }

  /// The journal's entry of a case.
  Json entry(const std::string& name) const {
    std::istringstream lines(read_text(out + "/journal.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Json entry = Json::parse(line);
      if (entry.value("case", "") == name) return entry;
    }
    return nullptr;
  }
};

class RanksOk : public testing::TestWithParam<int> {};

TEST_P(RanksOk, become_one_row_by_the_rules_of_its_columns) {
  const int ranks = GetParam();
  const std::string last = std::to_string(ranks - 1);
  const DoneRun run(suite_text(ranks, one_case("a", "together")), {"--json"});
  ASSERT_EQ(run.ended.code, 0) << run.ended.err;
  auto row = run.rows.at("a");
  EXPECT_EQ(row["status"], "ok") << row["reason"];
  EXPECT_EQ(row["ranks"], std::to_string(ranks));
  EXPECT_EQ(row["peak_rank"], "1");  // 0, 3000, 2000, 1000 bytes more by rank
  EXPECT_EQ(row["run_peak_allocated_bytes"], "4003000");
  EXPECT_EQ(row["peak_phase"], "backward of rank 1");
  EXPECT_EQ(row["step_time_median_ns"], std::to_string(8000 + ranks - 1));
  EXPECT_EQ(std::stod(row["samples_per_second"]), 1e6 / 3 - (ranks - 1));

  const Json entry = run.entry("a");
  ASSERT_EQ(entry.at("rank_records").size(), std::size_t(ranks));
  EXPECT_EQ(entry.at("record"), entry.at("rank_records").at(1));
  const Json rank_rows = Json::parse(run.ended.out).at(0).at("rank_rows");
  ASSERT_EQ(rank_rows.size(), std::size_t(ranks));
  EXPECT_EQ(rank_rows.back().at("rank"), ranks - 1);
  EXPECT_EQ(rank_rows.back().at("peak_phase"), "backward of rank " + last);

  EXPECT_EQ(read_text(run.out + "/log/a.log"), "this is \"a\" in rank 0\n");
  EXPECT_EQ(read_text(run.out + "/log/a.rank" + last + ".log"),
            "this is \"a\" in rank " + last + "\n");
}

INSTANTIATE_TEST_SUITE_P(Counts, RanksOk, testing::Values(2, 4));

TEST(Ranks, of_one_have_no_peak_rank) {
  const DoneRun run(suite_text(1, one_case("a", "ok")));
  EXPECT_EQ(run.rows.at("a").at("ranks"), "1");
  EXPECT_EQ(run.rows.at("a").at("peak_rank"), "");
  EXPECT_FALSE(run.entry("a").contains("rank_records"));
}

/// What the ranks of the case "a" say in their reasons.
std::vector<std::string> told(int ranks, const std::string& techniques,
                              const std::function<void()>& prepare) {
  const DoneRun run(suite_text(ranks, one_case("a", "tell_group", techniques)), {}, prepare);
  const Json entry = run.entry("a");
  if (ranks == 1) return {entry.at("record").at("reason")};
  std::vector<std::string> reasons;
  for (const Json& record : entry.at("rank_records")) reasons.push_back(record.at("reason"));
  return reasons;
}

TEST(Ranks, are_told_where_they_meet_and_share_the_cores) {
  using Texts = std::vector<std::string>;
  const auto unset = [] { unsetenv("OMP_NUM_THREADS"); };
  const auto set = [] { setenv("OMP_NUM_THREADS", "3", 1); };
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  const std::string share = std::to_string(std::max(1, CPU_COUNT(&cores) / 2));
  const std::string store = ", store in a private folder";
  EXPECT_EQ(told(2, "[ddp]", unset), (Texts{"rank 0 of 2, threads " + share + store,
                                            "rank 1 of 2, threads " + share + store}));
  EXPECT_EQ(told(2, "[ddp]", set),
            (Texts{"rank 0 of 2, threads 3" + store, "rank 1 of 2, threads 3" + store}));
  EXPECT_EQ(told(1, "[ddp]", unset), Texts{"rank 0 of 1, threads as there are" + store});
  EXPECT_EQ(told(1, "[exact]", unset), Texts{"rank 0 of 1, threads as there are, store none"});
}

TEST(Ranks, leave_no_store_behind) {
  const TemporaryFolder folder;
  const DoneRun run(suite_text(2, one_case("a", "together")), {},
                    [&] { setenv("TMPDIR", folder.path().c_str(), 1); });
  EXPECT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Ranks, that_the_system_has_no_room_for_are_one_row) {
  const auto few_files = [] {
    const rlimit limit{64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
  };
  const std::string many = "  - {name: many, ranks: 40, model: {name: ok}, techniques: [ddp]}\n";
  const DoneRun run(suite_text(2, many + one_case("few", "together")), {}, few_files);
  EXPECT_EQ(run.rows.at("many").at("status"), "unsupported");
  EXPECT_TRUE(run.rows.at("many").at("reason").starts_with("40 ranks can't be started: "));
  EXPECT_TRUE(run.rows.at("many").at("reason").ends_with("Too many open files"));
  EXPECT_EQ(run.rows.at("few").at("status"), "ok") << run.rows.at("few").at("reason");
}

// What the machine lacks for a moment is no result.
TEST(Ranks, that_can_not_be_started_now_end_the_run_and_are_tried_again) {
  const TemporaryFolder folder;
  const std::string cases = one_case("a", "together") + one_case("b", "together");
  const std::vector<std::string> call = {"run", folder.write("s.yaml", suite_text(2, cases)),
                                         "--out", folder / "out", "--resume"};
  ASSERT_EQ(run_program({"run", call[1], "--out", call[3], "--only", "a"}).code, 0);
  const Ended ended = run_program(call, [] { setenv("TMPDIR", "/nowhere/at/all", 1); });
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("the folder that TMPDIR names: No such"), std::string::npos)
      << ended.err;
  EXPECT_EQ(read_rows(folder / "out").size(), 1U);
  EXPECT_EQ(run_program(call).code, 0);
  EXPECT_EQ(read_rows(folder / "out").at("b").at("status"), "ok");
}

TEST(Ranks, of_a_killed_runner_leave_a_store_that_the_next_removes) {
  const TemporaryFolder folder;
  const std::string temporary = folder / "tmp";
  std::filesystem::create_directory(temporary);
  const auto there = [&] { setenv("TMPDIR", temporary.c_str(), 1); };
  const std::string hangs = folder.write("hangs.yaml", suite_text(2, one_case("a", "hang")));
  const std::string suite = folder.write("s.yaml", suite_text(2, one_case("a", "together")));
  Program program = start_program({"run", hangs, "--out", folder / "out"}, there);
  while (program.workers().size() < 2) std::this_thread::yield();
  program.send(SIGKILL);
  program.wait();
  // One that another process works in, and what only looks like one.
  const std::string locked = temporary + "/headroom-scratch-locked";
  std::filesystem::create_directory(locked);
  const int lock = open(locked.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  std::filesystem::create_directory(temporary + "/headroom-scratch-of-mine");
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "out2"}, there).code, 0);
  close(lock);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(temporary)) {
    left.insert(entry.path().filename());
  }
  EXPECT_EQ(left, (std::set<std::string>{"headroom-scratch-locked", "headroom-scratch-of-mine"}));
}

TEST(Ranks, need_a_technique_that_joins_them) {
  const DoneRun run(suite_text(2, one_case("a", "ok", "[exact]")));
  EXPECT_EQ(run.ended.code, 4);
  EXPECT_EQ(run.rows.at("a").at("reason"), "2 ranks need a technique that joins them: ddp, shards");
}

TEST(Ranks, that_say_the_same_are_not_named) {
  const DoneRun run(suite_text(2, one_case("a", "out_of_memory")));
  EXPECT_EQ(run.rows.at("a").at("status"), "out_of_memory");
  EXPECT_EQ(run.rows.at("a").at("reason"), "1 GiB asked, 0 free");
}

struct Fault {
  std::string behaviour;
  std::string status;
  std::string reason;  // a part of it, behind the rank
};

const std::vector<Fault> kFaults = {
    {"segv", "crashed", "the worker ended by signal 11"},
    {"exit_3", "crashed",
     "the worker ended with exit status 3 in phase warm_up, step 2 of 3, with no record"},
    {"killed", "crashed", "the worker ended by signal 9 (Killed) in phase warm_up, step 2 of 3"},
    {"no_record", "crashed", "with exit status 0"},
    {"wrong_nonce", "failed", "wrong nonce"},
    {"two_records", "failed", "two records"},
    {"flood_messages", "failed", "a message after its record"},
    {"broken_json", "failed", "no JSON"},
    {"spew_messages", "failed", "more than 4 MiB"},
    {"unknown_column", "failed", "\"luck\""},
    {"nan_loss", "incorrect", "not finite"},
    {"out_of_memory", "out_of_memory", "1 GiB asked, 0 free"},
    {"unsupported", "unsupported", ""},
    {"inactive", "inactive", ""},
    {"failed", "failed", ""},
};

class FaultOfRank : public testing::TestWithParam<std::pair<int, int>> {};  // which, of how many

TEST_P(FaultOfRank, is_the_row_and_names_the_rank) {
  const auto [rank, ranks] = GetParam();
  std::string cases;
  for (const Fault& fault : kFaults) {
    cases += one_case(fault.behaviour, fault.behaviour + ", on_rank: " + std::to_string(rank));
  }
  const DoneRun run(suite_text(ranks, cases));
  ASSERT_EQ(run.rows.size(), kFaults.size()) << run.ended.err;
  const std::string name = "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.behaviour);
    auto row = run.rows.at(fault.behaviour);
    EXPECT_EQ(row["status"], fault.status);
    EXPECT_TRUE(row["reason"].starts_with(name)) << row["reason"];
    EXPECT_NE(row["reason"].find(fault.reason), std::string::npos) << row["reason"];
    for (const char* column : {"run_peak_allocated_bytes", "peak_rank", "step_time_median_ns"}) {
      EXPECT_EQ(row[column], "") << column;
    }
    const Json records = run.entry(fault.behaviour).at("rank_records");
    ASSERT_EQ(records.size(), std::size_t(ranks));
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      EXPECT_EQ(records[std::size_t(other)]["peer_lost"], true);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FaultOfRank,
                         testing::Values(std::pair(0, 2), std::pair(1, 2), std::pair(0, 4),
                                         std::pair(2, 4), std::pair(3, 4)));

struct Stall {
  std::string model;
  int ranks;
  std::string status;
  std::string reason;
};

class StallOfRank : public testing::TestWithParam<Stall> {};

TEST_P(StallOfRank, ends_in_bounded_time_and_names_the_rank) {
  const DoneRun run(
      suite_text(GetParam().ranks, one_case("a", GetParam().model), "{silence_s: 2, case_s: 4}"));
  EXPECT_LT(run.time.count(), 9);
  EXPECT_EQ(run.rows.at("a").at("status"), GetParam().status);
  EXPECT_EQ(run.rows.at("a").at("reason"), GetParam().reason);
}

const std::string kSilent = "no message for 2 s in phase warm_up, step 2 of 3";
const std::string kKilled =
    "the worker ended by signal 9 (Killed) in phase warm_up, step 2 of 3, with no record";

INSTANTIATE_TEST_SUITE_P(
    Matrix, StallOfRank,
    testing::Values(
        // The others wait for it, or talk on.
        Stall{"hang, on_rank: 1, others: together_hang", 2, "timeout", "rank 1 of 2: " + kSilent},
        Stall{"hang, on_rank: 0, others: together", 4, "timeout", "rank 0 of 4: " + kSilent},
        Stall{"hang_ignoring_term, on_rank: 2, others: chatter", 4, "timeout",
              "rank 2 of 4: " + kSilent},
        Stall{"stop, on_rank: 3, others: together_hang", 4, "timeout", "rank 3 of 4: " + kSilent},
        Stall{"late_hang, on_rank: 1, others: ok", 2, "ok",
              "rank 1 of 2: the worker did not end after its record"},
        Stall{"killed, on_rank: 1, others: together_hang", 2, "crashed", "rank 1 of 2: " + kKilled},
        Stall{"killed, on_rank: 0, others: hang_ignoring_term", 4, "crashed",
              "rank 0 of 4: " + kKilled},
        Stall{"killed, on_rank: 2, others: chatter", 4, "crashed", "rank 2 of 4: " + kKilled},
        Stall{"killed, on_rank: 2, others: stop", 4, "crashed", "rank 2 of 4: " + kKilled}));

TEST(Stall, of_all_ranks_names_one) {
  const DoneRun run(suite_text(4, one_case("a", "hang"), "{silence_s: 1}"));
  const auto row = run.rows.at("a");
  EXPECT_EQ(row.at("status"), "timeout");
  EXPECT_TRUE(row.at("reason").starts_with("rank ")) << row.at("reason");
  EXPECT_TRUE(row.at("reason").ends_with(" of 4: no message for 1 s in phase warm_up, step 2 of 3"))
      << row.at("reason");
}

TEST(Stall, of_all_ranks_that_talk_is_the_end_of_the_case_s_time) {
  const DoneRun run(suite_text(2, one_case("a", "chatter"), "{case_s: 1}"));
  const auto row = run.rows.at("a");
  EXPECT_EQ(row.at("status"), "timeout");
  EXPECT_NE(row.at("reason").find(" of 2: not done after 1 s in phase warm_up"), std::string::npos)
      << row.at("reason");
}

TEST(Stall, of_the_others_takes_a_second) {
  const DoneRun run(suite_text(4, one_case("a", "killed, on_rank: 1, others: together_hang")));
  EXPECT_LT(run.time.count(), 3);
  const Json records = run.entry("a").at("rank_records");
  EXPECT_EQ(records[1]["status"], "crashed");
  EXPECT_EQ(records[3]["status"], "failed");
  EXPECT_EQ(records[3]["reason"],
            "the worker was ended in phase timing, step 1 of 3, since another rank had gone wrong");
}

TEST(Ranks, leave_no_process_behind) {
  // The first rank ends while the second one goes on: what the first left must not cost the second.
  const DoneRun run(suite_text(2, one_case("a", "grandchild, on_rank: 0, others: spew_output")));
  EXPECT_EQ(run.rows.at("a").at("status"), "ok") << run.rows.at("a").at("reason");
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    EXPECT_FALSE(read_text(entry.path() / "comm").starts_with("left_behind")) << entry.path();
  }
}

TEST(Ranks, of_a_plain_case_are_the_reference_of_others) {
  const std::string cases = one_case("plain", "together") +
                            one_case("equal", "together", "[shards]") +
                            one_case("far", "together", "[{shards: {loss_shift: 0.1}}]");
  const DoneRun run(suite_text(2, cases));
  EXPECT_EQ(run.rows.at("plain").at("status"), "ok");
  EXPECT_EQ(run.rows.at("equal").at("status"), "ok") << run.rows.at("equal").at("reason");
  EXPECT_EQ(run.rows.at("far").at("status"), "incorrect");
  EXPECT_EQ(run.rows.at("far").at("peak_rank"), "");
  EXPECT_NE(run.rows.at("far").at("reason").find("that of plain is"), std::string::npos);
  EXPECT_NE(run.ended.out.find("equal  ok         3.82 MiB  0.0 %"), std::string::npos)
      << run.ended.out;
}

TEST(Ranks, are_kept_on_resume) {
  const TemporaryFolder folder;
  const std::string cases = one_case("a", "together") + one_case("b", "together");
  const std::string suite = folder.write("suite.yaml", suite_text(2, cases));
  const std::vector<std::string> call = {"run", suite, "--out", folder / "out", "--json"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = call;
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  };
  ASSERT_EQ(with({"--only", "a"}).code, 0);
  const Ended resumed = with({"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const Json rows = Json::parse(resumed.out);
  ASSERT_EQ(rows.size(), 2U);
  for (const Json& row : rows) EXPECT_EQ(row.at("rank_rows").size(), 2U);
  EXPECT_EQ(with({"--resume", "--ranks", "4"}).code, 3);  // these are other cases
}

TEST(Ranks, are_set_where_a_case_s_fields_are) {
  const auto ranks_of = [](const std::string& suite, const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    std::vector<std::string> call = {"run", folder.write("s.yaml", suite), "--list-cases",
                                     "--json"};
    call.insert(call.end(), more.begin(), more.end());
    const Ended ended = run_program(call);
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::string found;
    for (const Json& one : Json::parse(ended.out)) {
      found += one.at("name").get<std::string>() + ":" + one.at("ranks").dump() + " ";
    }
    return found;
  };
  const std::string suite = suite_text(2, one_case("a", "ok") +
                                              "  - {name: b, ranks: 3, model: "
                                              "{name: ok}}\n");
  EXPECT_EQ(ranks_of(suite, {}), "a:2 b:3 ");
  EXPECT_EQ(ranks_of(suite, {"--ranks", "8"}), "a:8 b:8 ");
  EXPECT_EQ(ranks_of(suite, {"--set", "ranks=8"}), "a:8 b:8 ");
  EXPECT_EQ(ranks_of(suite + "matrix: {ranks: [2, 4]}\n", {"--only", "^a"}),
            "a@ranks=2:2 a@ranks=4:4 ");
  EXPECT_EQ(ranks_of("suite: s\ncases: [{name: a, model: {name: ok}}]\n", {}), "a:1 ");
}

}  // namespace
}  // namespace headroom
