// SPDX-License-Identifier: Apache-2.0
// What the program answers to wrong calls: the exit code and the whole message.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/core/checksum.h"
#include "tests/runner/program.h"

namespace headroom {
namespace {

const std::string kRunOptions =
    "--help, --only, --shard, --set, --ranks, --out, --resume, --snapshot, --json, --repeat, "
    "--device, --with-plan, --list-cases";

void expect_refused(const std::vector<std::string>& arguments, int code,
                    const std::string& message) {
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, code);
  EXPECT_EQ(ended.err, "headroom: " + message + "\n");
  EXPECT_EQ(ended.out, "");
}

TEST(Message, of_a_wrong_option_names_the_allowed_ones) {
  expect_refused({"run", "suite.yaml", "--devise", "cpu"}, 2,
                 "run: unknown option --devise; did you mean '--device'? Allowed: " + kRunOptions);
  expect_refused({"run", "suite.yaml", "--frobnicate=3"}, 2,
                 "run: unknown option --frobnicate; allowed: " + kRunOptions);
  expect_refused({"run", "suite.yaml", "--dry-run"}, 2,
                 "run: unknown option --dry-run; allowed: " + kRunOptions);
}

TEST(Message, of_a_wrong_command_names_the_allowed_ones) {
  expect_refused({"rum"}, 2,
                 "unknown command rum; did you mean 'run'? Allowed: run, plan, fit, why, "
                 "list, inspect, forward, doctor, compare, gate, nightly, merge, "
                 "verify, report, export, completion, manual");
}

TEST(Message, of_no_argument_at_all_says_what_to_try) {
  const Ended ended = run_program({});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(ended.out.starts_with("Three things to try:\n")) << ended.out;
  for (const char* part : {"\n  headroom plan --gpu h100 -- ", "\n  headroom plan configs/vit_cif",
                           "\n  headroom run configs/quick", "\nheadroom --help has all"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part;
  }
}

TEST(Message, of_options_that_are_not_for_a_program_says_so) {
  expect_refused({"fit"}, 2, "fit: give a suite file or a model, or, behind --, a program");
  expect_refused({"fit", "ok", "--", "true"}, 2,
                 "fit: give a suite file or a model, or, behind --, a program");
  expect_refused({"fit", "ok", "--vary", "N=1..2"}, 2, "--vary is for a program, behind --");
  expect_refused({"fit", "--out", "x", "--", "true"}, 2, "--out is for a suite or a model");
  expect_refused({"fit", "--vary", "N=2..1", "--", "true"}, 2,
                 "--vary: 'N=2..1': allowed is NAME=FIRST..LAST, as in BATCH=1..512, of whole "
                 "numbers from 1");
  expect_refused(
      {"fit", "--gpu", "t4", "--", "true"}, 2,
      "fit: --vary says what of the program is to be varied; plan says whether it fits a "
      "GPU");
  expect_refused({"why"}, 2, "why: behind --, the program to run is missing");
  expect_refused(
      {"plan", "--resume", "--", "true"}, 2,
      "plan: --resume is for suites; before -- PROGRAM, --gpu, --gpu-memory, --ranks, "
      "--rank, --steps, --for, --explain, --out, --name, --snapshot and --json can stand");
  expect_refused({"plan", "ok", "--name", "x"}, 2, "--name is for a program, behind --");
}

TEST(Message, of_a_wrong_value_names_the_allowed_ones) {
  expect_refused({"run", "suite.yaml", "--device", "tpu"}, 2,
                 "run: --device: tpu not in {auto,cpu,cuda}; headroom run --help says more");
  const Ended ended = run_program({"inspect", "okk"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(ended.err.starts_with(
      "headroom: unknown model.name okk; did you mean 'ok'? Allowed: ok, segv, abort, "))
      << ended.err;
}

TEST(Message, of_an_export_names_the_formats_and_what_is_missing) {
  expect_refused({"export", "out", "--format", "xml"}, 2,
                 "export: --format: xml not in {google_benchmark,github_action,bencher,junit,"
                 "markdown,jsonl}; headroom export --help says more");
  expect_refused({"export", "/nowhere", "--format", "junit"}, 2, "/nowhere: no folder of results");
}

// Lists of nothing take the most memory by their length.
TEST(Message, of_memory_that_ends_says_so) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer itself takes more";
#endif
  const TemporaryFolder folder;
  const auto expect_refused = [&] {
    const Ended ended = run_program({"verify", folder.path()}, [] {
      const rlimit limit{256 << 20, 256 << 20};
      setrlimit(RLIMIT_AS, &limit);
    });
    EXPECT_EQ(ended.code, 4);
    EXPECT_EQ(ended.err, "headroom: the system gives no more memory\n");
  };
  std::string lists = "[[]";
  for (int i = 0; i < 6'000'000; ++i) lists += ",[]";
  lists += "]";
  const std::string journal =
      folder.write("journal.jsonl", to_hex(crc32(lists), 8) + " " + lists + "\n");
  expect_refused();  // among many small allocations
  std::filesystem::resize_file(journal, 900 << 20);
  expect_refused();  // in a large one
}

TEST(Message, of_a_wrong_key_names_its_place) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml",
                                         "suite: test\n"
                                         "cases:\n"
                                         "  - name: one\n"
                                         "    model: {name: ok, droput: 0.1}\n");
  const Ended ended = run_program({"run", suite, "--list-cases"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(ended.err.starts_with("headroom: " + suite + ":4:23: ")) << ended.err;
  EXPECT_NE(ended.err.find("did you mean 'dropout'?"), std::string::npos) << ended.err;
}

TEST(Message, of_a_suite_that_is_not_there_names_it) {
  const Ended ended = run_program({"run", "/nowhere/suite.yaml"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("/nowhere/suite.yaml"), std::string::npos) << ended.err;
}

TEST(Message, of_a_selection_of_nothing_says_so) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  expect_refused({"run", suite, "--only", "nothing"}, 2, "--only: no case's name matches nothing");
  expect_refused({"run", suite, "--only", "("}, 2, "--only: no regular expression: (");
}

TEST(Message, of_a_selection_comes_at_once_however_it_is_written) {
  const TemporaryFolder folder;
  const std::string name(64, 'a');
  const std::string suite =
      folder.write("suite.yaml", "suite: s\ncases: [{name: " + name + ", model: {name: ok}}]\n");
  const auto end_in_time = [] { alarm(10); };
  const Ended ended =
      run_program({"run", suite, "--list-cases", "--only", "^(a|aa)+$b"}, end_in_time);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "headroom: --only: no case's name matches ^(a|aa)+$b\n");
  EXPECT_EQ(run_program({"run", suite, "--list-cases", "--only", "^(a|aa)+$"}, end_in_time).code,
            0);
}

TEST(Message, of_a_suite_that_is_given_twice_comes_before_it_runs) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  expect_refused({"run", suite, suite, "--out", folder / "out"}, 2,
                 "two of the suites are named test, and each needs a folder of its own: give them "
                 "in two calls");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(Message, of_a_wrong_number_of_ranks_names_the_allowed_ones) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  for (const std::string wrong : {"0", "-1", "65537", "two", "2.0", "1e1", "02", "0x2"}) {
    expect_refused(
        {"run", suite, "--ranks", wrong}, 2,
        "--set ranks=" + wrong + ": ranks is '" + wrong + "'; allowed: an integer from 1 to 65536");
  }
}

TEST(Message, of_a_worker_that_is_no_program_says_why_and_what_to_do) {
  const TemporaryFolder folder;
  const std::string text = folder.write("worker", "no program");
  const Ended ended = run_program({"doctor"}, [&] { setenv("HEADROOM_WORKER", text.c_str(), 1); });
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.err, "headroom: " + text +
                           ": there is no worker program (Permission denied); build "
                           "headroom-worker, or name it in the environment variable "
                           "HEADROOM_WORKER\n");
}

TEST(Message, of_a_missing_worker_says_what_to_do) {
  const Ended ended = run_program({"doctor"}, [] { setenv("HEADROOM_WORKER", "/nowhere", 1); });
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.err,
            "headroom: /nowhere: there is no worker program; build headroom-worker, or name it in "
            "the environment variable HEADROOM_WORKER\n");
}

// The test catalog is that of a LibTorch without CUDA.
TEST(Message, of_a_libtorch_without_cuda_says_what_it_can_not_do) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  const std::string out = folder / "out";
  const std::string no_plan =
      "this headroom was built with a LibTorch without CUDA, and nothing can be planned without "
      "that (a GPU is not needed)";
  expect_refused({"plan", suite, "--out", out}, 4, no_plan);
  expect_refused({"plan", "--", "true"}, 4, no_plan);
  expect_refused({"fit", "ok", "--out", out}, 4, no_plan);
  expect_refused({"run", suite, "--with-plan", "--out", out}, 4, no_plan);
  expect_refused({"run", suite, "--device", "cuda", "--out", out}, 4,
                 "--device cuda: this headroom was built with a LibTorch without CUDA");
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(run_program({"list", "gpus"}).code, 0);
}

}  // namespace
}  // namespace headroom
