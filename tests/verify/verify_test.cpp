// SPDX-License-Identifier: Apache-2.0
// Each rule meets results that break it and nothing else.
#include "src/verify/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "src/core/error.h"
#include "tests/verify/good_results.h"

namespace headroom {
namespace {

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& one : findings) {
    text += one.rule + ": " + one.place + ": " + one.case_name + ": " + one.what + "\n";
  }
  return text;
}

/// The names of the rules that a folder breaks.
std::set<std::string> broken_rules(const std::string& folder) {
  std::set<std::string> rules;
  for (const Finding& one : verify(folder).findings) rules.insert(one.rule);
  return rules;
}

/// One way to spoil good results, and the rule that must see it.
struct Spoilt {
  std::string rule;
  std::function<void(GoodResults&)> spoil;
  std::function<GoodResults()> good = [] { return good_results(); };
};

GoodResults on_gpu() { return good_results("cuda"); }

void expect_exactly(const std::vector<Spoilt>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const TemporaryFolder folder;
    GoodResults results = list[i].good();
    list[i].spoil(results);
    const Verification verification = verify(results.write(folder));
    std::set<std::string> rules;
    for (const Finding& one : verification.findings) {
      rules.insert(one.rule);
      EXPECT_TRUE(one.place.starts_with(folder / "results/")) << one.place;
      EXPECT_FALSE(one.what.empty());
    }
    EXPECT_EQ(rules, std::set<std::string>{list[i].rule}) << "number " << i << ":\n"
                                                          << text_of(verification.findings);
  }
}

TEST(Verify, accepts_good_results_of_every_kind) {
  for (const GoodResults& good :
       {good_results(), on_gpu(), good_plan(), good_results_without_times()}) {
    const TemporaryFolder folder;
    const Verification verification = verify(good.write(folder));
    EXPECT_EQ(text_of(verification.findings), "");
    EXPECT_EQ(verification.folders, 1U);
    EXPECT_EQ(verification.rows, 4U);
  }
}

TEST(Verify, accepts_cases_that_were_measured_at_once_where_there_are_no_times) {
  const TemporaryFolder folder;
  GoodResults results = good_results_without_times();
  results.row(2)["started_at"] = "2026-08-30T10:00:00Z";
  results.set(1, "gpu_uuid", "GPU-2");
  EXPECT_EQ(text_of(verify(results.write(folder)).findings), "");
}

TEST(Verify, knows_which_case_a_row_is_of) {
  expect_exactly({
      {"types", [](GoodResults& r) { r.row(0)["reason"] = 7; }},
      {"types", [](GoodResults& r) { r.set(0, "other_load_percent", -1.0); }},
      {"types", [](GoodResults& r) { r.set(0, "model_states_bytes", 1.5); }},
      {"identity", [](GoodResults& r) { r.row(0)["suite"] = "other"; }},
      {"identity", [](GoodResults& r) { r.row(3)["device"] = "cuda"; }},
      {"identity", [](GoodResults& r) { r.row(1)["techniques"] = "bfloat16"; }},
      {"identity", [](GoodResults& r) { r.row(3)["case"] = "plain"; }},
      {"identity", [](GoodResults& r) { r.set(0, "libtorch", "2.10.0"); }},
      {"identity", [](GoodResults& r) { r.row(2)["peak_rank"] = 0; }},
      {"identity", [](GoodResults& r) { r.row(2)["peak_rank"] = 9; }},
      {"identity", [](GoodResults& r) { r.row(3)["kind"] = "planned"; }},
      {"case_fields", [](GoodResults& r) { r.row(3)["seed"] = 2; }},
      {"case_fields", [](GoodResults& r) { r.row(0)["model"] = "bert"; }},
      {"same_model", [](GoodResults& r) { r.set(1, "parameters", 101); }},
  });
}

TEST(Verify, lets_a_model_that_is_partly_frozen_train_fewer_parameters) {
  const TemporaryFolder folder;
  GoodResults results = good_results();
  results.set(1, "parameters", 7);
  results.set(1, "frozen_parameters", 99);
  EXPECT_TRUE(broken_rules(results.write(folder)).empty());
}

TEST(Verify, compares_figures_with_the_records) {
  expect_exactly({
      {"record", [](GoodResults& r) { r.row(0)["steady_peak_allocated_bytes"] = 901; }},
      {"record", [](GoodResults& r) { r.row(0).erase("steady_peak_allocated_bytes"); }},
      {"record", [](GoodResults& r) { r.row(0)["run_peak_reserved_bytes"] = 5000; }},
      {"record", [](GoodResults& r) { r.row(2)["other_load_percent"] = 1.25; }},
      {"record", [](GoodResults& r) { r.row(3)["model_states_bytes"] = 1; }, good_plan},
      {"absent_figures", [](GoodResults& r) { r.row(3)["run_peak_reserved_bytes"] = 1; }},
      {"absent_figures", [](GoodResults& r) { r.row(3)["first_loss"] = 1.0; }},
      {"absent_figures", [](GoodResults& r) { r.row(0)["last_loss"] = 0.5; }, good_plan},
      {"absent_figures", [](GoodResults& r) { r.set(0, "step_time_median_ns", 50); },
       good_results_without_times},
  });
}

TEST(Verify, sums_memory_to_the_byte) {
  expect_exactly({
      {"parts", [](GoodResults& r) { r.set(0, "run_peak_allocated_bytes", 1001); }},
      {"parts", [](GoodResults& r) { r.set(0, "peak_rounding_bytes", 9); }},
      {"parts", [](GoodResults& r) { r.set(3, "peak_rounding_bytes", 9); }, good_plan},
      {"tensors", [](GoodResults& r) { r.record(0)["peak_tensors"][0][0] = 3; }},
      {"tensors", [](GoodResults& r) { r.record(0)["peak_tensors"][0][1] = INT64_MAX; }},
      {"tensors", [](GoodResults& r) { r.record(0)["peak_tensors"][1][2] = "batch"; }},
      {"tensors", [](GoodResults& r) { r.record(0)["peak_tensors"][0] = "weights"; }},
      {"tensors", [](GoodResults& r) { r.record(1).erase("peak_tensors"); }},
      {"order_of_peaks", [](GoodResults& r) { r.set(0, "init_peak_allocated_bytes", 1001); }},
      {"order_of_peaks", [](GoodResults& r) { r.set(0, "model_states_bytes", 901); }},
      {"order_of_peaks", [](GoodResults& r) { r.set(0, "run_peak_reserved_bytes", 999); }},
      {"order_of_peaks", [](GoodResults& r) { r.set(0, "steady_peak_reserved_bytes", 899); }},
  });
}

TEST(Verify, trusts_a_list_of_tensors_that_was_cut_off) {
  const TemporaryFolder folder;
  GoodResults results = good_results();
  Json& tensors = results.record(0)["peak_tensors"];
  while (tensors.size() < 8192) tensors.push_back({1, 1, "weights"});
  EXPECT_TRUE(broken_rules(results.write(folder)).empty());
}

TEST(Verify, computes_time_and_learning_again) {
  expect_exactly({
      {"samples", [](GoodResults& r) { r.record(0)["step_time_ns"][2] = 51; }},
      {"samples", [](GoodResults& r) { r.record(0)["step_time_ns"].erase(4); }},
      {"samples", [](GoodResults& r) { r.record(0)["step_time_ns"][0] = -30; }},
      {"samples", [](GoodResults& r) { r.record(0).erase("step_time_ns"); }},
      {"samples", [](GoodResults& r) { r.set(0, "step_time_mad_ns", 11); }},
      {"samples", [](GoodResults& r) { r.set(0, "step_time_min_ns", 29); }},
      {"samples", [](GoodResults& r) { r.set(0, "samples_per_second", 8e7 + 1); }},
      {"samples", [](GoodResults& r) { r.set(0, "global_batch_size", 5); }},
      {"samples", [](GoodResults& r) { r.set(0, "data_wait_median_ns", 3); }},
      {"samples", [](GoodResults& r) { r.record(0)["data_wait_ns"][1] = 3; }},
      {"samples", [](GoodResults& r) { r.record(0)["data_wait_ns"].erase(2); }},
      {"samples", [](GoodResults& r) { r.record(0)["data_wait_ns"][2] = -1; }},
      {"samples", [](GoodResults& r) { r.cases[2]["rank_records"][0]["data_wait_ns"][1] = 8; }},
      {"samples", [](GoodResults& r) { r.cases[2]["rank_records"][0]["step_time_ns"][2] = 59; }},
      {"losses", [](GoodResults& r) { r.record(0)["loss"].erase(3); }},
      {"losses", [](GoodResults& r) { r.record(0)["loss"][3] = nullptr; }},
      {"losses", [](GoodResults& r) { r.record(0)["loss"][7] = 0.25; }},
      {"losses", [](GoodResults& r) { r.set(0, "first_loss", 2.25); }},
      {"enough_samples",
       [](GoodResults& r) {
         r.work(0)["train"]["warmup_steps"] = 1;
         r.record(0)["loss"].erase(1);
       }},
      {"enough_samples",
       [](GoodResults& r) {
         r.work(0)["train"]["steps"] = 4;
         r.row(0)["steps"] = 4;
         r.record(0)["step_time_ns"] = {30, 40, 60, 60};
         r.record(0)["data_wait_ns"] = {9, 4, 0, 4};
         r.record(0)["loss"].erase(1);
         r.set(0, "step_time_samples", 4);
       }},
  });
}

TEST(Verify, counts_the_samples_that_ranks_share_once) {
  const TemporaryFolder folder;
  Catalog sharing = catalog_of_good_results();
  for (TechniqueInfo& technique : sharing.techniques) {
    if (technique.name == "ddp") technique.replicates_batch = true;
  }
  const auto findings = verify_results({good_results().write(folder)}, sharing).findings;
  ASSERT_EQ(findings.size(), 1U) << text_of(findings);
  EXPECT_EQ(findings[0].case_name, "ranks");
  EXPECT_EQ(findings[0].what,
            "samples_per_second is 160000000.0; by step_time_median_ns it is 80000000.0");
}

TEST(Verify, wants_one_program_on_one_machine_that_nobody_else_uses) {
  expect_exactly({
      {"timestamps", [](GoodResults& r) { r.row(0)["started_at"] = "2026-02-30T10:00:00Z"; }},
      {"timestamps", [](GoodResults& r) { r.row(0)["started_at"] = "2026-08-30 09:00:00Z"; }},
      {"timestamps", [](GoodResults& r) { r.row(0)["started_at"] = "2026-08-30T09:00:00"; }},
      {"timestamps", [](GoodResults& r) { r.row(0)["started_at"] = "2026-08-29T24:00:00Z"; }},
      {"order_in_time", [](GoodResults& r) { r.row(2)["started_at"] = "2026-08-30T10:00:00Z"; }},
      {"complete", [](GoodResults& r) { r.cases.pop_back(); }},
      {"commit",
       [](GoodResults& r) {
         for (std::size_t i = 0; i < 4; ++i) r.row(i)["commit"] = "abc123+";
       }},
      {"commit",
       [](GoodResults& r) {
         for (std::size_t i = 0; i < 4; ++i) r.row(i)["commit"] = "";
       }},
      {"environment", [](GoodResults& r) { r.row(1)["commit"] = "abc124"; }},
      {"environment", [](GoodResults& r) { r.row(1)["environment_hash"] = "f"; }},
      {"environment", [](GoodResults& r) { r.set(1, "gpu_uuid", "GPU-2"); }, on_gpu},
      {"exclusive_gpu", [](GoodResults& r) { r.set(0, "gpu_other_processes", 1); }, on_gpu},
      {"exclusive_gpu", [](GoodResults& r) { r.set(0, "gpu_other_processes", nullptr); }, on_gpu},
      {"throttling",
       [](GoodResults& r) { r.set(0, "gpu_throttle_reasons", "sw_power_cap+hw_slowdown"); },
       on_gpu},
      {"throttling", [](GoodResults& r) { r.set(0, "gpu_throttle_reasons", nullptr); }, on_gpu},
      {"other_load", [](GoodResults& r) { r.set(0, "other_load_percent", 10.5); }},
      {"other_load", [](GoodResults& r) { r.set(0, "other_load_percent", nullptr); }},
  });
}

TEST(Verify, reads_the_suite_file) {
  const auto replace = [](const std::string& old_text, const std::string& text) {
    return [=](GoodResults& r) {
      r.suite_yaml.replace(r.suite_yaml.find(old_text), old_text.size(), text);
    };
  };
  expect_exactly({
      {"suite_file", replace("\"good\"", "\"better\"")},
      {"suite_file", replace("\"stack\"", "\"heap\"")},
      {"suite_file", replace("  - name: \"large\"\n", "")},
      {"suite_file", replace("  - name: \"large\"\n", "matrix: {train.seed: [1, 2]}\n")},
      {"suite_file", replace("1100", "1101")},
      {"suite_file", replace("\"run_peak_allocated_bytes\": 1100", "\"context_bytes\": 1")},
      {"suite_file", replace("cases:", "cases: {")},
      {"suite_file", [](GoodResults& r) { r.row(0)["published_run_peak_allocated_bytes"] = 1; }},
  });
}

TEST(Verify, reads_no_more_cases_than_a_suite_can_have) {
  std::string values;
  for (int i = 0; i < 30; ++i) values += (i == 0 ? "" : ", ") + std::to_string(i);
  std::string matrix = "matrix:\n";
  for (int axis = 0; axis < 8; ++axis) {
    matrix += "  train.axis" + std::to_string(axis) + ": [" + values + "]\n";
  }
  std::string entries = "cases:\n";
  for (int i = 0; i < 200; ++i) entries += "  - name: case" + std::to_string(i) + "\n";
  for (const std::string& suite : {"cases: [{name: large}]\n" + matrix,
                                   entries + "matrix: {train.seed: [" + values + "]}\n"}) {
    const TemporaryFolder folder;
    GoodResults results = good_results();
    results.suite_yaml = "suite: good\n" + suite;
    const auto findings = verify(results.write(folder)).findings;
    ASSERT_EQ(findings.size(), 1U) << text_of(findings).substr(0, 500);
    EXPECT_EQ(findings[0].rule, "suite_file");
    EXPECT_EQ(findings[0].what, "more than 5000 cases in all");
  }
}

TEST(Verify, tells_no_end_of_findings) {
  const TemporaryFolder folder;
  GoodResults results = good_results();
  for (std::size_t i = 0; i < 20'000; ++i) results.cases[2]["rank_records"].push_back({{"a", 1}});
  const auto findings = verify(results.write(folder)).findings;
  for (const char* rule : {"tensors", "losses"}) {
    std::vector<Finding> own;
    for (const Finding& one : findings) {
      if (one.rule == rule) own.push_back(one);
    }
    ASSERT_EQ(own.size(), kMaxFindings) << rule;
    EXPECT_EQ(own.back().what, "there are more of these, which are not told");
  }
}

TEST(Verify, sees_what_stands_twice) {
  const auto twice = [](const std::string& file, std::size_t line) {
    const TemporaryFolder folder;
    const std::string results = good_results().write(folder);
    std::string text = read_text(results + "/" + file);
    std::size_t begin = 0;
    for (std::size_t i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
    const std::string copy = text.substr(begin, text.find('\n', begin) + 1 - begin);
    folder.write("results/" + file, text.insert(begin, copy));
    const auto findings = verify(results).findings;
    return findings.size() == 1 ? findings[0].rule + ": " + findings[0].what : text_of(findings);
  };
  EXPECT_EQ(twice("journal.jsonl", 1), "journal: this is no record of a case");
  EXPECT_EQ(twice("journal.jsonl", 3), "journal: the case stack is there a second time");
  EXPECT_EQ(twice("results.csv", 1), "csv: suite is 'suite'; the journal says 'good'");
  EXPECT_EQ(twice("results.csv", 3), "csv: case is 'stack'; the journal says 'ranks'");
  EXPECT_EQ(twice("results.csv", 5), "csv: 5 rows; the journal has 4");
  EXPECT_EQ(twice("suite.yaml", 12), "suite_file: the case large is there a second time");
}

TEST(Verify, knows_the_names_that_a_matrix_gives) {
  const TemporaryFolder folder;
  GoodResults results = good_results();
  const std::string name = "large@train.seed=1,model.name=vit";
  results.suite_yaml =
      "suite: good\ncases: [{name: large}]\nmatrix:\n  train.seed: [1]\n"
      "  model.name: [\"vit\"]\n";
  results.header["cases"] = {{name, results.header["cases"]["large"]}};
  results.cases = {results.cases[3]};
  results.cases[0]["case"] = name;
  results.row(0)["case"] = name;
  EXPECT_EQ(text_of(verify(results.write(folder)).findings), "");
}

TEST(Verify, names_the_cell_that_is_not_the_journal_s) {
  const TemporaryFolder folder;
  const std::string path = good_results().write(folder) + "/results.csv";
  const std::string csv = read_text(path);
  std::string edited = csv;
  const std::size_t at = edited.find(",1000,");
  edited.replace(at, 6, ",1007,");
  folder.write("results/results.csv", edited);
  const auto findings = verify(folder / "results").findings;
  ASSERT_EQ(findings.size(), 1U) << text_of(findings);
  EXPECT_EQ(findings[0].rule, "csv");
  EXPECT_EQ(findings[0].place, path + ":2:" + std::to_string(at + 4 - csv.find('\n')));
  EXPECT_EQ(findings[0].what, "run_peak_allocated_bytes is '1007'; the journal says '1000'");

  folder.write("results/results.csv", csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1));
  EXPECT_EQ(text_of(verify(folder / "results").findings),
            "csv: " + path + ":5:1: : 3 rows; the journal has 4\n");
  folder.write("results/results.csv", "case\nplain\nstack\nranks\nlarge\n");
  EXPECT_EQ(broken_rules(folder / "results"), std::set<std::string>{"csv"});
}

// results.csv holds no control characters; the journal has the exact text.
TEST(Verify, knows_how_a_csv_shows_what_no_cell_can_hold) {
  const TemporaryFolder folder;
  GoodResults results = good_results();
  results.row(3)["reason"] = "\x1b]0;x\x07\u009b,\u202e\n";
  const std::string path = results.write(folder) + "/results.csv";
  EXPECT_EQ(text_of(verify(folder / "results").findings), "");
  const std::string csv = read_text(path);
  EXPECT_NE(csv.find("\"\\x1b]0;x\\x07\\u{9b},\\u{202e}\n\""), std::string::npos) << csv;
  std::string edited = csv;
  edited.replace(edited.rfind("abc123"), 6, "abc124");
  folder.write("results/results.csv", edited);
  const auto findings = verify(folder / "results").findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].what, "commit is 'abc124'; the journal says 'abc123'");
}

TEST(Verify, reads_results_of_another_version) {
  const TemporaryFolder folder;
  Catalog later = catalog_of_good_results();
  std::erase_if(later.columns, [](const Column& one) { return one.name == "device_name"; });
  later.columns.push_back({"gpu_mood", ColumnType::text, ColumnGroup::time, "", "worker"});
  EXPECT_EQ(text_of(verify_results({good_results().write(folder)}, later).findings), "");
}

TEST(Verify, goes_on_behind_a_folder_that_can_not_be_read) {
  const TemporaryFolder folder;
  good_results().write(folder, "all/a");
  good_results().write(folder, "all/b");
  good_results().write(folder, "all/c");
  folder.write("all/b/journal.jsonl", "hello\n");
  const Verification verification = verify(folder / "all");
  EXPECT_EQ(verification.folders, 3U);
  EXPECT_EQ(verification.rows, 8U);
  ASSERT_EQ(verification.findings.size(), 1U) << text_of(verification.findings);
  EXPECT_EQ(verification.findings[0].rule, "journal");
  EXPECT_EQ(verification.findings[0].place, folder / "all/b/journal.jsonl:1:1");
  EXPECT_TRUE(verification.has(Grade::wrong));
  EXPECT_FALSE(verification.has(Grade::weak));
}

TEST(Verify, refuses_what_holds_no_results) {
  const TemporaryFolder folder;
  EXPECT_THROW(verify(folder / "nothing"), ConfigError);
  EXPECT_THROW(verify(folder.path()), ConfigError);
}

TEST(Verify, has_all_its_rules_explained) {
  const std::string text = read_text(HEADROOM_SOURCE_DIR "/docs/verifying.md");
  for (const std::string_view rule : verified_rules()) {
    EXPECT_NE(text.find("| `" + std::string(rule) + "` |"), std::string::npos) << rule;
  }
}

}  // namespace
}  // namespace headroom
