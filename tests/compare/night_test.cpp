// SPDX-License-Identifier: Apache-2.0
#include "src/compare/night.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "src/core/error.h"
#include "src/results/journal.h"
#include "tests/compare/made_results.h"
#include "tests/core/messages.h"
#include "tests/support/program.h"

namespace headroom {
namespace {

const std::vector<double> kQuiet = {100, 101, 100.5, 101.5, 100.2};
// Somebody else took a part of the machine half of the time.
const std::vector<double> kNoisy = {100, 131, 100.5, 128, 100.2, 140, 101, 133, 100.8, 126};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(TimeGate, is_green_within_half_of_what_is_allowed) {
  for (const double factor : {1.0, 1.014, 0.5}) {
    const TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, factor)};
    EXPECT_FALSE(needs_rerun(evidence)) << factor;
    EXPECT_EQ(time_light(evidence), Light::green) << factor;
  }
}

TEST(TimeGate, looks_at_the_fastest_processes) {
  std::vector<double> disturbed = scaled(kQuiet, 1.3);
  disturbed.back() = 100.1;
  EXPECT_FALSE(needs_rerun({.old_ns = kQuiet, .new_ns = disturbed}));
  EXPECT_TRUE(needs_rerun({.old_ns = disturbed, .new_ns = scaled(kQuiet, 1.05)}));
}

TEST(TimeGate, is_red_only_where_a_rerun_confirms_it) {
  TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.05)};
  EXPECT_TRUE(needs_rerun(evidence));
  EXPECT_EQ(time_light(evidence), Light::yellow);
  const auto after = [&](const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
    evidence.rerun_old_ns = old_ns;
    evidence.rerun_new_ns = new_ns;
    const Light light = time_light(evidence);
    EXPECT_EQ(needs_rerun(evidence), light == Light::yellow);
    return light;
  };
  EXPECT_EQ(after(kNoisy, kNoisy), Light::green);
  EXPECT_EQ(after(kNoisy, scaled(kNoisy, 1.014)), Light::green);
  EXPECT_EQ(after(kNoisy, scaled(kNoisy, 1.029)), Light::yellow);  // less than allowed
  // Five of ten are below all of the others: p is 0.016. Of twenty ten are.
  EXPECT_EQ(after(kNoisy, scaled(kNoisy, 1.05)), Light::yellow);
  std::vector<double> more = kNoisy;
  more.insert(more.end(), kNoisy.begin(), kNoisy.end());
  EXPECT_EQ(after(more, scaled(more, 1.05)), Light::red);
}

TEST(TimeGate, wants_so_many_processes_or_a_rerun) {
  TimeEvidence evidence{.old_ns = {100, 100, 100}, .new_ns = {100, 100}};
  EXPECT_TRUE(needs_rerun(evidence));
  EXPECT_EQ(time_light(evidence), Light::yellow);
  evidence.rerun_old_ns = evidence.rerun_new_ns = kQuiet;
  EXPECT_FALSE(needs_rerun(evidence));
  EXPECT_EQ(time_light(evidence), Light::green);
  EXPECT_EQ(time_light({.old_ns = {100, 100, 100}, .new_ns = {100, 100, 100}}), Light::green);
}

TEST(TimeGate, turns_red_on_the_third_yellow_night) {
  TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.05)};
  evidence.yellow_nights = 1;
  EXPECT_EQ(time_light(evidence), Light::yellow);
  evidence.yellow_nights = 2;
  EXPECT_EQ(time_light(evidence), Light::red);
}

TEST(History, gives_back_the_nights_of_a_case_on_its_machine) {
  const TemporaryFolder folder;
  const std::string path = folder / "history.db";
  const NightlyCase a{.suite = "s", .name = "it's", .machine = "m"};
  {
    History history(path);
    EXPECT_EQ(history.yellow_nights(a, "1"), 0);
    int night = 0;
    for (const Light light : {Light::yellow, Light::red, Light::yellow, Light::yellow}) {
      NightlyCase one = a;
      one.light = light;
      NightlyCase other = one;
      other.machine = "n";
      other.name = "b";
      history.add(std::to_string(++night), "2026-11-22T00:00:00Z", "old", "new", {one, other});
    }
  }
  const History history(path);
  EXPECT_EQ(history.yellow_nights(a, "5"), 2);
  EXPECT_EQ(history.yellow_nights(a, "4"), 1);
  EXPECT_EQ(history.yellow_nights(a, "2"), 1);
  EXPECT_EQ(history.yellow_nights(a, "1"), 0);
  EXPECT_EQ(history.yellow_nights({.suite = "s", .name = "it's", .machine = "n"}, "5"), 0);
  EXPECT_EQ(history.yellow_nights({.suite = "s", .name = "c", .machine = "m"}, "5"), 0);
}

TEST(History, keeps_one_night_for_the_same_journals) {
  const TemporaryFolder folder;
  History history(folder / "h");
  NightlyCase a{.suite = "s", .name = "a", .machine = "m", .light = Light::yellow};
  for (int look = 0; look < 3; ++look) history.add("1", "t", "o", "n", {a});
  EXPECT_EQ(history.yellow_nights(a, "2"), 1);
  a.light = Light::green;
  history.add("1", "t", "o", "n", {a});
  EXPECT_EQ(history.yellow_nights(a, "2"), 0);
}

TEST(History, is_held_by_one_at_a_time) {
  const TemporaryFolder folder;
  const History history(folder / "h");
  EXPECT_THROW(History(folder / "h"), ConfigError);
}

TEST(History, refuses_a_file_that_is_none) {
  const TemporaryFolder folder;
  EXPECT_THROW(History(folder.write("h", "this is no history, whatever it is called")),
               ResultsError);
  Journal(folder / "other").append({{"format", 2}, {"suite", "s"}});
  EXPECT_EQ(message_of<ResultsError>([&] { History(folder / "other"); }),
            folder / "other" + ":1:1: this is no history of nights");
  const std::string database = folder.write("db", std::string("SQLite format 3\0more", 20));
  EXPECT_NE(message_of<ResultsError>([&] {
              const History history(database);
            }).find("an earlier headroom wrote this history, as a database"),
            std::string::npos);
  EXPECT_EQ(message_of<std::system_error>([&] { History(folder / "missing/h"); }),
            folder / "missing/h" + ": No such file or directory");
}

// As `merge=union` of git leaves two branches that began alike.
TEST(History, of_two_branches_counts_nights_by_when_they_were_judged) {
  const TemporaryFolder folder;
  NightlyCase a{.suite = "s", .name = "a", .machine = "m", .light = Light::green};
  History(folder / "base").add("0", "2026-11-20T00:00:00Z", "o", "n", {a});
  const std::string base = read_text(folder / "base");
  a.light = Light::yellow;
  std::string lines;
  for (const auto& [name, day] : {std::pair{"one", "25"}, {"other", "23"}}) {
    History(folder.write(name, base)).add(name, std::string("2026-11-") + day + "T", "o", "n", {a});
    lines += read_text(folder / name).substr(base.size());
  }
  History merged(folder.write("merged", base + lines));
  EXPECT_EQ(merged.yellow_nights(a, "none"), 2);
  EXPECT_EQ(merged.yellow_nights(a, "one"), 1);
  EXPECT_EQ(merged.yellow_nights(a, "other"), 0);
  a.light = Light::green;
  merged.add("other", "2026-11-26T", "o", "n", {a});  // it was looked at again
  EXPECT_EQ(merged.yellow_nights(a, "one"), 0);
  EXPECT_EQ(merged.yellow_nights(a, "none"), 1);
}

TEST(Night, judges_bytes_at_once_and_times_by_a_rerun) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  NightlyResults results{.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  EXPECT_EQ(judge_night(results, history).light(), Light::green);
  EXPECT_TRUE(suspects(results, history).empty());

  results.new_results = made_repeats(scaled(kQuiet, 1.05));
  ASSERT_EQ(suspects(results, history).size(), 1U);
  EXPECT_EQ(suspects(results, history)[0].name, "a");
  EXPECT_EQ(judge_night(results, history).light(), Light::yellow);
  results.rerun_old = made_repeats(kQuiet);
  results.rerun_new = made_repeats(scaled(kQuiet, 1.05));
  const Night night = judge_night(results, history);
  EXPECT_EQ(night.light(), Light::red);
  EXPECT_EQ(night.cases[0].reason, "a step takes +5.0 %, +5.0 % in a rerun of 5 and 5 processes");

  results = {.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  results.new_results[3].cases[0].row["run_peak_allocated_bytes"] = (4 << 20) + 1;
  EXPECT_EQ(judge_night(results, history).light(), Light::red);
}

/// Writes the journals of a side, as that many processes leave them.
void write_side(const std::string& side, const std::vector<double>& step_times_ns) {
  std::size_t i = 0;
  for (const Results& results : made_repeats(step_times_ns)) {
    const std::string folder = side + "/" + std::to_string(i++);
    std::filesystem::create_directories(folder);
    Journal journal(folder + "/journal.jsonl");
    journal.append(results.header);
    const CaseResult& one = results.cases[0];
    journal.append({{"case", one.name},
                    {"gate", one.gate},
                    {"environment", one.environment},
                    {"row", one.row},
                    {"record", one.record}});
  }
}

/// What `headroom gate` says of the night in a folder.
Ended look_at(
    const std::string& night, const std::string& history,
    const std::function<void()>& prepare = [] {}) {
  return Program("headroom_with_test_catalog", {"gate", night, "--history", history}, prepare)
      .wait();
}

/// The light that a call ended with: the last line.
std::string light_of(const Ended& gate) {
  EXPECT_EQ(gate.code, gate.out.ends_with("\nred\n") ? 1 : 0) << gate.err;
  const std::size_t line = gate.out.rfind('\n', gate.out.size() - 2) + 1;
  return gate.out.substr(line, gate.out.size() - 1 - line);
}

/// Nights in which a step takes 5 % more than before. No two nights measure the same.
void write_slower_nights(const TemporaryFolder& folder, int count) {
  for (int night = 1; night <= count; ++night) {
    const std::string path = folder / std::to_string(night);
    write_side(path + "/old", scaled(kQuiet, 1 + night / 1000.0));
    write_side(path + "/new", scaled(kQuiet, 1.05 + night / 1000.0));
  }
}

TEST(Gate, of_a_night_that_is_looked_at_again_counts_the_nights_before_it) {
  const TemporaryFolder folder;
  write_slower_nights(folder, 3);
  const auto light = [&](const char* night) {
    return light_of(look_at(folder / night, folder / "history.db"));
  };
  for (int look = 0; look < 3; ++look) EXPECT_EQ(light("1"), "yellow") << look;
  EXPECT_EQ(light("2"), "yellow");
  EXPECT_EQ(light("3"), "red");
  EXPECT_EQ(light("3"), "red");
  EXPECT_EQ(light("2"), "yellow");
}

TEST(Gate, of_a_night_whose_rerun_clears_it_is_green_in_the_history_too) {
  const TemporaryFolder folder;
  write_slower_nights(folder, 3);
  const auto light = [&](const char* night) {
    return light_of(look_at(folder / night, folder / "history.db"));
  };
  EXPECT_EQ(light("1"), "yellow");
  EXPECT_EQ(light("2"), "yellow");
  write_side(folder / "2/rerun/old", kQuiet);
  write_side(folder / "2/rerun/new", kQuiet);
  EXPECT_EQ(light("2"), "green");
  EXPECT_EQ(light("3"), "yellow");
}

/// Makes a call of the C library fail (tests/campaign/failing_calls.h).
void fail_calls(const std::string& fault) {
  setenv("FAILING_CALLS", ("headroom_with_test_catalog - " + fault).c_str(), 1);
  setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/failing_calls.so", 1);
  setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);  // its library is not the first then
}

TEST(Gate, says_why_the_history_can_not_be_used_and_goes_on_from_the_night_before) {
  const TemporaryFolder folder;
  write_slower_nights(folder, 3);
  const std::string history = folder / "history.db";
  const std::vector<std::pair<std::string, std::string>> reasons = {
      {"pwrite:1:ENOSPC:ever", "No space left on device"},
      {"pwrite:1:EDQUOT:ever", "Disk quota exceeded"},
      {"fdatasync:1:EIO:ever", "Input/output error"},
      {"pread:1:EIO:ever", "Input/output error"}};
  EXPECT_EQ(light_of(look_at(folder / "1", history)), "yellow");
  for (const auto& [fault, reason] : reasons) {
    const Ended ended = look_at(folder / "2", history, [&] { fail_calls(fault); });
    EXPECT_EQ(ended.code, 4) << fault;
    EXPECT_EQ(ended.err, "headroom: " + history + ": " + reason + "\n");
    EXPECT_EQ(ended.out, "") << fault;
  }
  EXPECT_EQ(light_of(look_at(folder / "2", history)), "yellow");
  EXPECT_EQ(light_of(look_at(folder / "3", history)), "red");
}

TEST(Night, says_that_processes_are_too_few) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  const NightlyResults results{.old_results = made_repeats({100}),
                               .new_results = made_repeats({100})};
  EXPECT_EQ(suspects(results, history).size(), 1U);
  const Night night = judge_night(results, history);
  EXPECT_EQ(night.light(), Light::yellow);
  EXPECT_EQ(night.cases[0].reason,
            "a step takes +0.0 % by 1 and 1 processes, fewer than 3, no rerun");
}

// As where the other side's case crashed in all of them.
TEST(Night, whose_rerun_has_times_of_one_side_alone_had_none) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  NightlyResults results{.old_results = made_repeats(kQuiet),
                         .new_results = made_repeats(scaled(kQuiet, 1.05))};
  results.rerun_old = made_repeats(kQuiet);
  const Night night = judge_night(results, history);
  EXPECT_EQ(night.light(), Light::yellow);
  EXPECT_EQ(night.cases.at(0).reason, "a step takes +5.0 %, no rerun");
}

TEST(Night, says_what_is_bad_on_both_sides) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  CaseResult crashed = made_case("b");
  crashed.row = {{"suite", "s"}, {"case", "b"}, {"kind", "measured"}, {"status", "crashed"}};
  const std::vector<Results> side = {made_results({made_case("a"), crashed})};
  const Night night = judge_night({.old_results = side, .new_results = side}, history);
  ASSERT_EQ(night.cases.size(), 2U);
  EXPECT_EQ(night.cases[1].light, Light::green);
  EXPECT_EQ(night.cases[1].reason, "crashed on both sides");
}

TEST(Night, refuses_results_of_another_machine) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  NightlyResults results{.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  for (Results& one : results.new_results) one.cases[0].environment["cores"] = 64;
  EXPECT_THROW(judge_night(results, history), ResultsError);
}

NightlyResults over_another_libtorch() {
  NightlyResults results{.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  for (Results& one : results.old_results) one.header["libraries"] = "a";
  for (Results& one : results.new_results) {
    one.header["libraries"] = "b";
    one.cases[0].environment["libtorch"] = "2.12.0";
  }
  return results;
}

TEST(Night, may_be_of_two_libtorches_where_that_is_what_is_tried) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  const NightlyResults results = over_another_libtorch();
  EXPECT_THROW(judge_night(results, history), ResultsError);
  EXPECT_THROW(judge_night(results, history, {Varied::driver}), ResultsError);
  const Night night = judge_night(results, history, {Varied::libtorch});
  EXPECT_EQ(night.light(), Light::green);
  EXPECT_EQ(night.comparison.varied,
            (std::vector<std::string>{"libtorch was missing and is \"2.12.0\"",
                                      "libraries was \"a\" and is \"b\""}));
  // Nights of later LibTorches are of the same history.
  NightlyResults later = over_another_libtorch();
  for (Results& one : later.new_results) one.cases[0].environment["libtorch"] = "2.13.0";
  EXPECT_EQ(judge_night(later, history, {Varied::libtorch}).cases[0].machine,
            night.cases[0].machine);
  EXPECT_NE(judge_night({.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)},
                        history)
                .cases[0]
                .machine,
            "");
}

TEST(History, keeps_what_was_varied) {
  const TemporaryFolder folder;
  History(folder / "h")
      .add("1", "t", "o", "n", {{.suite = "s", .name = "a", .machine = "m"}},
           {"libtorch was 1 and is 2"});
  const std::string text = read_text(folder / "h");
  const auto night = nlohmann::json::parse(text.substr(text.find('\n') + 1));
  EXPECT_EQ(night.at("varied").at(0), "libtorch was 1 and is 2");
  EXPECT_EQ(night.at("cases").at(0).at("light"), "green");
}

}  // namespace
}  // namespace headroom
