// SPDX-License-Identifier: Apache-2.0
// Shards of a suite, and what `headroom merge` makes of their results.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

class Shards : public testing::Test {
 protected:
  const TemporaryFolder folder;
  std::string suite;

  std::string part(int number) const { return folder / ("part/" + std::to_string(number)); }

  std::vector<std::string> call(int number, int count, const std::string& more = "--json") const {
    return {"run",
            suite,
            "--out",
            part(number),
            more,
            "--shard",
            std::to_string(number) + "/" + std::to_string(count)};
  }

  Ended merge(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"merge", folder / "part", "--out", folder / "merged"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
};

std::size_t lines_of(const fs::path& file) {
  const std::string text = read_text(file);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_F(Shards, of_a_thousand_cases_merge_to_what_one_run_leaves) {
  constexpr int kShards = 8;
  std::string seeds = "1";
  for (int seed = 2; seed <= 1000; ++seed) seeds += ", " + std::to_string(seed);
  suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}") +
                                         "matrix: {train.seed: [" + seeds + "]}\n");
  ASSERT_EQ(run_program({"run", suite, "--out", folder / "whole", "--json"}).code, 0);
  for (int number = 1; number <= kShards; ++number) {
    if (number == 3) {  // killed, where it has got some way
      Program killed = start_program(call(number, kShards));
      const fs::path journal = fs::path(part(number)) / "journal.jsonl";
      while (!fs::exists(journal) || lines_of(journal) < 20) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      killed.send(SIGKILL);
      killed.wait();
      EXPECT_LT(lines_of(journal), 100U);
      EXPECT_EQ(run_program(call(number, kShards, "--resume")).code, 0);
    } else {
      EXPECT_EQ(run_program(call(number, kShards)).code, 0);
    }
  }
  const Ended merged = merge();
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_NE(merged.err.find("test: 1000 of 1000 cases, of 8 folders"), std::string::npos);
  EXPECT_EQ(lasting_rows(folder / "merged"), lasting_rows(folder / "whole"));
  // The order as well.
  const auto names = [](const fs::path& csv) {
    std::vector<std::string> list;
    std::istringstream text(read_text(csv));
    for (std::string line; std::getline(text, line);)
      list.push_back(line.substr(0, line.find(",ok,")));
    return list;
  };
  EXPECT_EQ(names(folder / "merged/results.csv"), names(folder / "whole/results.csv"));
  const auto broken_rules = [](const std::string& results) {
    const Ended ended = run_program({"verify", results, "--json"});
    const auto verification = nlohmann::json::parse(ended.out);
    std::set<std::string> rules;
    for (const auto& finding : verification.at("findings")) rules.insert(finding.at("rule"));
    return rules;
  };
  EXPECT_EQ(broken_rules(folder / "merged"), broken_rules(folder / "whole"));
}

TEST_F(Shards, are_merged_with_their_logs_and_say_what_is_missing) {
  suite =
      folder.write("suite.yaml", suite_of({"ok", "segv", "unsupported", "chatter"}, "{case_s: 2}"));
  for (int number = 1; number <= 3; ++number) run_program(call(number, 3));
  ASSERT_EQ(merge().code, 1);  // segv is a failure
  EXPECT_EQ(read_rows(folder / "merged").size(), 4U);
  EXPECT_TRUE(fs::exists(folder / "merged/log/segv.log"));
  EXPECT_NE(merge().err.find("there are results in this folder already"), std::string::npos);
  fs::remove_all(folder / "merged");
  const auto rows = read_rows(part(1));
  fs::remove_all(part(1));
  const Ended less = merge();
  EXPECT_EQ(less.code, 1);
  for (const auto& [name, row] : rows) {
    EXPECT_NE(less.err.find("not done: "), std::string::npos) << less.err;
    EXPECT_NE(less.err.find(name), std::string::npos) << less.err;
  }
}

TEST_F(Shards, have_their_losses_checked_where_the_reference_is_in_another_one) {
  suite = folder.write("suite.yaml",
                       "suite: test\ndefaults: {model: {name: ok}, data: {name: digits}}\ncases:\n"
                       "  - {name: vanilla}\n"
                       "  - {name: shifted, techniques: [{exact: {loss_shift: 1.0e-12}}]}\n");
  for (const std::string name : {"vanilla", "shifted"}) {
    const Ended ended =
        run_program({"run", suite, "--only", name, "--out", folder / ("part/" + name)});
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  EXPECT_EQ(merge().code, 1);
  const auto shifted = read_rows(folder / "merged").at("shifted");
  EXPECT_EQ(shifted.at("status"), "incorrect");
  EXPECT_EQ(shifted.at("first_loss"), "");
  EXPECT_NE(shifted.at("reason").find("that of vanilla is"), std::string::npos);
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "whole"}).code, 1);
  EXPECT_EQ(lasting_rows(folder / "merged"), lasting_rows(folder / "whole"));
}

TEST_F(Shards, say_as_one_run_does_what_was_not_compared) {
  suite =
      folder.write("suite.yaml",
                   "suite: test\ndefaults: {model: {name: mixes_samples}, data: {name: digits}}\n"
                   "cases:\n  - {name: vanilla}\n"
                   "  - {name: split, techniques: [{close: {loss_shift: 1.0}}]}\n");
  const auto part = [&](const std::string& name) {
    run_program({"run", suite, "--only", name, "--out", folder / ("part/" + name)});
  };
  part("vanilla");
  part("split");
  EXPECT_EQ(merge().code, 0);
  run_program({"run", suite, "--out", folder / "whole"});
  EXPECT_NE(read_rows(folder / "whole").at("split").at("reason"), "");
  EXPECT_EQ(lasting_rows(folder / "merged"), lasting_rows(folder / "whole"));
  // What one run compared is not said twice.
  fs::remove_all(folder / "part");
  fs::rename(folder / "merged", folder / "part");
  EXPECT_EQ(merge().code, 0);
  EXPECT_EQ(lasting_rows(folder / "merged"), lasting_rows(folder / "whole"));
}

TEST_F(Shards, are_not_merged_where_they_do_not_belong_together) {
  suite = folder.write("suite.yaml", suite_of({"ok", "segv"}, "{silence_s: 20}"));
  const std::string first = folder / "part/first";
  const std::string second = folder / "part/second";
  run_program({"run", suite, "--only", "ok", "--out", first});
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    fs::remove_all(second);
    std::vector<std::string> words{"run", suite, "--out", second};
    words.insert(words.end(), more.begin(), more.end());
    run_program(words, [] { setenv("OMP_PROC_BIND", "true", 1); });
    const Ended ended = merge();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
    EXPECT_FALSE(fs::exists(folder / "merged"));
  };
  refused({"--set", "train.seed=7"}, "of its case ok, train.seed was ");
  refused({"--only", "segv"}, "of its case segv, variables.OMP_PROC_BIND was missing and is");
  fs::remove_all(second);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // they differ by when they began alone
  run_program({"run", suite, "--out", second, "--only", "ok"});
  EXPECT_NE(merge().err.find("the case ok came to something else in another part"),
            std::string::npos);
  fs::remove_all(second);
  fs::copy(first, second, fs::copy_options::recursive);
  EXPECT_EQ(merge().code, 1);  // one is a copy; segv is not done
}

TEST_F(Shards, may_be_of_several_gpus_of_a_machine) {
  suite = folder.write("suite.yaml", suite_of({"ok", "segv"}, "{silence_s: 20}"));
  for (int number = 1; number <= 2; ++number) {
    run_program(call(number, 2),
                [&] { setenv("CUDA_VISIBLE_DEVICES", std::to_string(number).c_str(), 1); });
  }
  EXPECT_EQ(merge().err.find("can't be merged"), std::string::npos);
  EXPECT_EQ(read_rows(folder / "merged").size(), 2U);
}

}  // namespace
}  // namespace headroom
