// SPDX-License-Identifier: Apache-2.0
// The programs that a run measures with stay the same, or it ends.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/core/error.h"
#include "src/runner/suite_run.h"
#include "tests/runner/program.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

const std::string kTestWorker = HEADROOM_BUILD_DIR "/test_worker";

/// A run of two cases whose worker is replaced while the first one is at work.
class ReplacedWorker : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string worker = folder / "worker";
  const std::string out = folder / "out";
  const std::string suite =
      folder.write("mine.yaml",
                   "suite: test\ndefaults: {data: {name: digits}, train: {work_ms: 300}}\n"
                   "cases: [{name: a, model: {name: ok}}, {name: b, model: {name: ok}}]\n");

  /// As a build does it. `more`: what it has behind the worker's own bytes.
  void put_worker(const std::string& more) const {
    fs::copy_file(kTestWorker, folder / "built");
    std::ofstream(folder / "built", std::ios::app | std::ios::binary) << more;
    fs::rename(folder / "built", worker);
  }

  Ended run(const std::string& resume, const std::function<void()>& happens) {
    std::vector<std::string> call = {"run", suite, "--out", out};
    if (!resume.empty()) call.push_back(resume);
    Program program = start_program(call, [&] { setenv("HEADROOM_WORKER", worker.c_str(), 1); });
    if (resume.empty()) {
      while (read_text(out + "/log/a.log").empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    happens();
    return program.wait();
  }
};

TEST_F(ReplacedWorker, by_another_ends_the_run_and_keeps_what_is_done) {
  put_worker("");
  const Ended ended = run("", [&] { put_worker("another"); });
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("headroom: " + worker + ": it is not the program any more"),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(read_rows(out).count("a"), 1U);
  EXPECT_EQ(read_rows(out).size(), 1U);
  const Ended mixed = run("--resume", [] {});
  EXPECT_EQ(mixed.code, 3);
  EXPECT_NE(mixed.err.find("worker was"), std::string::npos) << mixed.err;
  put_worker("");
  EXPECT_EQ(run("--resume", [] {}).code, 0);
  EXPECT_EQ(read_rows(out).size(), 2U);
}

TEST_F(ReplacedWorker, by_nothing_ends_the_run) {
  put_worker("");
  const Ended ended = run("", [&] { fs::remove(worker); });
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(read_rows(out).size(), 1U);
}

TEST_F(ReplacedWorker, by_the_same_bytes_is_the_same) {
  put_worker("");
  const Ended ended = run("", [&] { put_worker(""); });
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read_rows(out).size(), 2U);
}

// It is at work already when anybody can look again: between two looks and its start.
TEST_F(ReplacedWorker, at_its_start_ends_the_run_and_leaves_no_row) {
  for (const char* model : {"ok", "segv"}) {
    folder.write("worker", "#!/bin/sh\necho '#' >>'" + worker + "'\nexec '" + kTestWorker + "'\n");
    fs::permissions(worker, fs::perms::owner_all);
    const std::string one = folder.write("one.yaml", suite_of({model}, "{silence_s: 20}"));
    const Ended ended = run_program({"run", one, "--out", folder / model},
                                    [&] { setenv("HEADROOM_WORKER", worker.c_str(), 1); });
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(ended.err.find(worker + ": it is not the program any more"), std::string::npos);
    EXPECT_TRUE(read_rows(folder / model).empty()) << model;
  }
}

/// That library of this program and of the test worker, which the loader finds by a variable.
fs::path standard_library() {
  Dl_info found{};
  dladdr(dlsym(RTLD_DEFAULT, "__cxa_demangle"), &found);
  return found.dli_fname;
}

/// A worker with a standard library of its own.
class ReplacedLibrary : public ReplacedWorker {
 protected:
  const fs::path library = folder.path() / "libraries" / standard_library().filename();

  void SetUp() override {
    put_worker("");
    fs::create_directory(library.parent_path());
    put_library("");
    setenv("LD_LIBRARY_PATH", library.parent_path().c_str(), 1);
  }
  void TearDown() override { unsetenv("LD_LIBRARY_PATH"); }

  /// `more`: what it has behind the library's own bytes.
  void put_library(const std::string& more) const {
    fs::copy_file(standard_library(), folder / "built");
    std::ofstream(folder / "built", std::ios::app | std::ios::binary) << more;
    fs::rename(folder / "built", library);
  }
};

TEST_F(ReplacedLibrary, ends_the_run_and_keeps_what_is_done) {
  const Ended ended = run("", [&] { put_library(""); });
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("headroom: " + library.string() + ": this library of the worker"),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(read_rows(out).size(), 1U);
}

TEST_F(ReplacedLibrary, of_other_bytes_is_not_gone_on_with_and_a_copy_is) {
  run("", [&] { put_library("another"); });
  const Ended mixed = run("--resume", [] {});
  EXPECT_EQ(mixed.code, 3);
  EXPECT_NE(mixed.err.find("libraries was"), std::string::npos) << mixed.err;
  EXPECT_EQ(read_rows(out).size(), 1U);
  fs::create_directory(folder / "elsewhere");
  fs::copy_file(standard_library(), folder.path() / "elsewhere" / library.filename());
  setenv("LD_LIBRARY_PATH", (folder / "elsewhere").c_str(), 1);
  EXPECT_EQ(run("--resume", [] {}).code, 0);
  EXPECT_EQ(read_rows(out).size(), 2U);
}

class Silent : public SuiteRunObserver {
 public:
  std::string notes;

  void said(const std::string& note) override { notes += note + "\n"; }
  void case_started(std::size_t, std::size_t, const Case&) override {}
  void case_progressed(const WorkerProgress&) override {}
  void case_ended(const Row&) override {}
};

/// One case that is measured and planned, with a dry run of files that the loader of programs
/// passes over.
class BesideADryRun : public testing::Test {
 protected:
  BesideADryRun() {
    options.worker = kTestWorker;
    options.device = "cpu";
    options.folder = folder / "out";
    options.dry_run = DryRun{.libraries = folder.path(), .gpu = "h100"};
  }
  SuiteRunResult run() { return run_suite(catalog, suite, options, interrupts, observer); }

  const TemporaryFolder folder;
  const Catalog catalog =
      parse_catalog(read_text(HEADROOM_SOURCE_DIR "/tests/runner/test_catalog.json"));
  const Suite suite =
      load_suite(folder.write("mine.yaml", suite_of({"ok"}, "{silence_s: 20}")), catalog);
  SuiteRunOptions options;
  Interrupts interrupts;
  Silent observer;
};
class PlanBesideAMeasurement : public BesideADryRun {};
class LibrariesOfTheDryRun : public BesideADryRun {};

// A measurement stands where its plan can't be made: here, as there is no room for its files.
TEST_F(PlanBesideAMeasurement, that_fails_is_said_and_costs_nothing) {
  folder.write("libcuda.so.1", "");
  folder.write("libnvidia-ml.so.1", "");
  setenv("TMPDIR", "/proc/nowhere", 1);
  const SuiteRunResult result = run();
  unsetenv("TMPDIR");
  EXPECT_TRUE(observer.notes.starts_with("ok has no plan: ")) << observer.notes;
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].at("status"), "ok");
  EXPECT_TRUE(result.rows[0].contains("run_peak_allocated_bytes"));
  EXPECT_EQ(read_rows(folder / "out").size(), 1U);
}

/// The user, who sends SIGINT once the plan is at work.
class InterruptsThePlan : public Silent {
 public:
  void case_progressed(const WorkerProgress& progress) override {
    if (progress.phase == "start" && ++starts_ == 2) raise(SIGINT);
  }

 private:
  int starts_ = 0;  // the measurement's comes first
};

TEST_F(PlanBesideAMeasurement, that_is_interrupted_does_not_cost_what_was_measured) {
  folder.write("libcuda.so.1", "");
  folder.write("libnvidia-ml.so.1", "");
  const Suite slow = load_suite(
      folder.write("slow.yaml",
                   "suite: test\ndefaults: {data: {name: digits}, train: {work_ms: 500}}\n"
                   "cases: [{name: ok, model: {name: ok}}, {name: b, model: {name: ok}}]\n"),
      catalog);
  InterruptsThePlan user;
  const SuiteRunResult result = run_suite(catalog, slow, options, interrupts, user);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(user.notes, "ok has no plan: interrupted\n");
  const Rows rows = read_rows(folder / "out");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.at("ok").at("status"), "ok");
}

// What is looked at is the journal.
TEST_F(LibrariesOfTheDryRun, belong_to_the_results) {
  options.resume = true;
  folder.write("libcuda.so.1", "one");
  folder.write("libnvidia-ml.so.1", "two");
  run();
  const std::string journal = read_text(folder / "out/journal.jsonl");
  run();
  EXPECT_EQ(read_text(folder / "out/journal.jsonl"), journal);
  folder.write("libnvidia-ml.so.1", "three");
  try {
    run();
    FAIL() << "two dry runs were mixed";
  } catch (const ResultsError& error) {
    EXPECT_NE(std::string(error.what()).find("dry_run was"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace headroom
