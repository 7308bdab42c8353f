// SPDX-License-Identifier: Apache-2.0
// A suite in which times don't matter: a case on each GPU at once, and no times. The test worker
// plays the GPUs; it fails a case whose GPU another one holds.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class MemoryOnly : public testing::Test {
 protected:
  /// `cases`: their lines in the file.
  std::string suite(const std::string& cases, const std::string& key = "memory_only: true\n") {
    return folder.write("suite.yaml",
                        "suite: test\n" + key +
                            "defaults: {data: {name: digits}, limits: {silence_s: 20}}\ncases:\n" +
                            cases);
  }

  /// On a machine with such GPUs, of which `visible`, where there is one, says which are seen.
  Program start(const std::vector<std::string>& more, const char* visible = nullptr) const {
    std::vector<std::string> words{"run", folder / "suite.yaml", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return start_program(words, [&] {
      setenv("TEST_CUDA", "1", 1);
      setenv("TEST_GPU", (folder / "gpu").c_str(), 1);
      setenv("TEST_GPUS", gpus.c_str(), 1);
      unsetenv("CUDA_VISIBLE_DEVICES");
      if (visible != nullptr) setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    });
  }

  Ended run(const std::vector<std::string>& more = {}, const char* visible = nullptr) const {
    return start(more, visible).wait();
  }

  /// As a worker of the case saw them.
  std::string seen_gpus(const std::string& log) const {
    std::istringstream text(read_text(fs::path(out) / "log" / log));
    std::string gpus_seen;
    for (std::string line; std::getline(text, line);) {
      const std::size_t at = line.find(" GPUs ");
      if (at != std::string::npos) gpus_seen = line.substr(at + 6);
    }
    return gpus_seen;
  }

  /// The cases of results.csv, in its order.
  std::string order() const {
    std::istringstream text(read_text(out + "/results.csv"));
    std::string line, names;
    std::getline(text, line);
    while (std::getline(text, line)) {
      const std::size_t begin = line.find(',') + 1;
      names += line.substr(begin, line.find(',', begin) - begin) + " ";
    }
    return names;
  }

  void wait_for_row(const std::string& name) const {
    while (!fs::exists(out + "/results.csv") || !read_rows(out).contains(name)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const TemporaryFolder folder;
  const std::string out = folder / "out";
  std::string gpus = "a GPU,a GPU";
};

std::string line_of(const std::string& name, const std::string& model,
                    const std::string& more = "") {
  return "  - {name: " + name + ", model: {name: " + model + "}" + more + "}\n";
}

TEST_F(MemoryOnly, measures_a_case_on_each_gpu_at_once) {
  suite(line_of("a", "meets_another") + line_of("b", "meets_another"));
  const Ended ended = run();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("memory_only: cases are measured on 2 GPUs at once"), std::string::npos);
  EXPECT_EQ((std::set<std::string>{seen_gpus("a.log"), seen_gpus("b.log")}),
            (std::set<std::string>{"0", "1"}));
}

TEST_F(MemoryOnly, gives_a_case_as_many_gpus_as_it_has_ranks) {
  const std::string two = ", ranks: 2, techniques: [ddp]";
  const std::string slow = ", train: {work_ms: 60}";
  suite(line_of("a", "ok", slow) + line_of("b", "together", two) + line_of("c", "ok", slow) +
        line_of("d", "together", two) + line_of("e", "ok", slow) + line_of("f", "ok"));
  gpus = "a GPU,a GPU,a GPU";
  const Ended ended = run({"--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* log : {"b.log", "b.rank1.log", "d.log", "d.rank1.log"}) {
    EXPECT_EQ(seen_gpus(log).size(), 3U) << log << ": " << seen_gpus(log);  // "0,1"
  }
  EXPECT_EQ(seen_gpus("b.log"), seen_gpus("b.rank1.log"));
  EXPECT_EQ(order(), "a b c d e f ");
  for (auto& [name, row] : read_rows(out)) {
    EXPECT_EQ(row["status"], "ok") << name << ": " << row["reason"];
    EXPECT_NE(row["run_peak_allocated_bytes"], "") << name;
    EXPECT_EQ(row["step_time_median_ns"], "") << name;
    EXPECT_EQ(row["samples_per_second"], "") << name;
  }
  // Nor do ranks have times.
  EXPECT_NE(ended.out.find("rank_rows"), std::string::npos);
  EXPECT_EQ(ended.out.find("step_time"), std::string::npos);
  EXPECT_EQ(read_text(out + "/journal.jsonl").find("step_time"), std::string::npos);
}

TEST_F(MemoryOnly, hands_out_the_gpus_that_it_is_given) {
  suite(line_of("a", "meets_another") + line_of("b", "meets_another"));
  EXPECT_EQ(run({}, "5, GPU-8932f937").code, 0);
  EXPECT_EQ((std::set<std::string>{seen_gpus("a.log"), seen_gpus("b.log")}),
            (std::set<std::string>{"5", "GPU-8932f937"}));
}

TEST_F(MemoryOnly, uses_gpus_of_the_first_ones_product) {
  suite(line_of("a", "meets_another") + line_of("b", "meets_another"));
  gpus = "a GPU,another,a GPU";
  EXPECT_EQ(run().code, 0);
  EXPECT_EQ((std::set<std::string>{seen_gpus("a.log"), seen_gpus("b.log")}),
            (std::set<std::string>{"0", "2"}));
}

TEST_F(MemoryOnly, leaves_a_case_of_more_ranks_than_gpus_as_it_is_alone) {
  suite(line_of("a", "ok") + line_of("b", "tell_group", ", ranks: 3, techniques: [ddp]") +
        line_of("c", "ok"));
  EXPECT_EQ(run().code, 0);
  EXPECT_EQ(seen_gpus("b.log"), "all");
  EXPECT_EQ(read_rows(out).at("c").at("status"), "ok");
}

TEST_F(MemoryOnly, measures_one_case_after_the_other_on_one_gpu_and_keeps_no_times) {
  suite(line_of("a", "ok") + line_of("b", "ok"));
  for (const std::string device : {"cuda", "cpu"}) {
    gpus = "a GPU";
    fs::remove_all(out);
    const Ended ended = run({"--device", device});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err.find("at once"), std::string::npos);
    EXPECT_EQ(seen_gpus("b.log"), "all");
    EXPECT_EQ(read_rows(out).at("b").at("step_time_median_ns"), "");
    EXPECT_NE(read_text(out + "/suite.yaml").find("memory_only: true\n"), std::string::npos);
  }
}

TEST_F(MemoryOnly, checks_a_case_against_a_reference_that_takes_longer) {
  const std::string shifted = ", techniques: [{exact: {loss_shift: 1.0e-12}}]";
  suite(line_of("vanilla", "plain_is_slow") + line_of("shifted", "plain_is_slow", shifted) +
        line_of("other", "ok"));
  EXPECT_EQ(run().code, 1);
  Rows rows = read_rows(out);
  EXPECT_EQ(rows["vanilla"]["status"], "ok");
  EXPECT_EQ(rows["shifted"]["status"], "incorrect");
  EXPECT_NE(rows["shifted"]["reason"].find("that of vanilla is"), std::string::npos);
  EXPECT_EQ(rows["other"]["status"], "ok");
  // It did not wait, and was kept first.
  const std::string journal = read_text(out + "/journal.jsonl");
  EXPECT_LT(journal.find(R"("case":"other")"), journal.find(R"("case":"vanilla")"));
  EXPECT_EQ(order(), "vanilla shifted other ");
}

TEST_F(MemoryOnly, goes_on_after_an_interrupt) {
  suite(line_of("a", "waits_for_go") + line_of("b", "ok") + line_of("c", "waits_for_go") +
        line_of("d", "ok"));
  Program program = start({});
  wait_for_row("b");
  program.send(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  EXPECT_EQ(order(), "b ");
  const std::string started_at = read_rows(out).at("b").at("started_at");
  folder.write("gpu.go", "");
  const Ended resumed = run({"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(order(), "a b c d ");
  EXPECT_EQ(read_rows(out).at("b").at("started_at"), started_at);
}

TEST_F(MemoryOnly, ends_behind_a_gpu_that_broke_once_the_others_have_ended) {
  suite(line_of("a", "ok", ", train: {work_ms: 1000}") + line_of("b", "gpu_breaks") +
        line_of("c", "ok"));
  const Ended ended = run();
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("b: behind it CUDA does not work any more: cuda:0: unspecified launch "
                           "failure; what is done is kept"),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(seen_gpus("b.probe.log"), "1");
  EXPECT_EQ(order(), "a b ");
  fs::remove(folder / "gpu.broken");
  EXPECT_EQ(run({"--resume"}).code, 1);
  EXPECT_EQ(order(), "a b c ");
}

TEST_F(MemoryOnly, is_not_mixed_with_rows_that_have_times) {
  suite(line_of("a", "ok"));
  EXPECT_EQ(run().code, 0);
  suite(line_of("a", "ok"), "");
  const Ended refused = run({"--resume"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("memory_only was true and is false"), std::string::npos)
      << refused.err;
}

TEST_F(MemoryOnly, is_read_by_all_that_reads_results) {
  suite(line_of("a", "ok") + line_of("b", "ok", ", techniques: [exact]"));
  EXPECT_EQ(run().code, 0);
  const Ended verified = run_program({"verify", out});
  // All rules but those that no record of the test worker keeps.
  for (const char* rule :
       {"csv", "suite_file", "record", "absent_figures", "samples", "enough_samples",
        "order_in_time", "environment", "exclusive_gpu", "throttling", "other_load"}) {
    EXPECT_EQ(verified.out.find("(" + std::string(rule) + ")"), std::string::npos) << verified.out;
  }
  EXPECT_EQ(run_program({"compare", out, out}).code, 0);
  for (const std::string side : {"old", "new"}) {
    fs::create_directories(folder / ("night/" + side));
    fs::copy(out, folder / ("night/" + side + "/00"), fs::copy_options::recursive);
  }
  const Ended judged =
      run_program({"gate", folder / "night", "--history", folder / "history.jsonl"});
  EXPECT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ(run_program({"report", out, "--out", folder / "report.html"}).code, 0);
  EXPECT_NE(read_text(folder / "report.html").find("measured on cuda, memory only"),
            std::string::npos);
  for (const std::string format :
       {"google_benchmark", "github_action", "bencher", "junit", "markdown", "jsonl"}) {
    const Ended exported = run_program({"export", out, "--format", format});
    EXPECT_EQ(exported.code, 0) << exported.err;
    EXPECT_EQ(exported.out.find("step_time"), std::string::npos) << format;
  }
}

}  // namespace
}  // namespace headroom
