// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>

#include "src/core/error.h"
#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

/// A suite that must be refused, and how the message starts.
struct Refused {
  std::string text;
  std::string message;
};

void expect_refused(const std::vector<Refused>& table) {
  for (const Refused& refused : table) {
    const std::string message = refusal_of<ConfigError>(refused.text);
    EXPECT_TRUE(message.starts_with(refused.message)) << refused.text << "\n" << message;
  }
}

// A suite of one case, with a text put into it.
std::string with_case(const std::string& entry) {
  return "suite: s\ndefaults:\n  model: {name: vit}\ncases:\n  - name: a\n" + entry;
}

TEST(SuiteErrors, OfTheFileAsAWhole) {
  const std::string cases = "cases:\n  - {name: a, model: {name: vit}}\n";
  expect_refused({
      {"", "s.yaml:1:1: the file is empty"},
      {"suite: s\n", "s.yaml:1:1: the file lacks 'cases'"},
      {cases, "s.yaml:1:1: the file lacks 'suite'"},
      {"suite: s\ncases: []\n", "s.yaml:2:8: cases is empty; give at least one"},
      {"suite: s\ncases: a\n", "s.yaml:2:8: cases is 'a'; allowed: a list"},
      {"suite: s\ncases: [a]\n", "s.yaml:2:9: a case is 'a'; allowed: a map"},
      {"suite: s\ncase: []\n" + cases,
       "s.yaml:2:1: unknown key 'case' in the suite; did you mean 'cases'? Allowed: suite, source, "
       "gpu, memory_only, defaults, groups, cases, matrix, set"},
      {"suite: s\nsource: [a]\n" + cases, "s.yaml:2:9: source is a list; allowed: a text"},
      {"suite: s\nmemory_only: 1\n" + cases,
       "s.yaml:2:14: memory_only is '1'; allowed: true, false"},
      {"suite: s\nmemory_only: [true]\n" + cases, "s.yaml:2:14: memory_only is a list; allowed: "},
      {"suite: s\ndefaults: {memory_only: true}\n" + cases,
       "s.yaml:2:12: unknown key 'memory_only'; allowed: ranks, model"},
      {"suite: s\ndefaults: 1\n" + cases, "s.yaml:2:11: defaults is '1'; allowed: a map"},
      {"suite: s\ndefaults: {techniques: []}\n" + cases,
       "s.yaml:2:12: unknown key 'techniques'; allowed: ranks, model, data, train, limits, gate"},
      {"suite: s\nenv: {LD_PRELOAD: x.so}\n" + cases, "s.yaml:2:1: unknown key 'env'"},
      {"suite: s\nset: {train.sed: 1}\n" + cases,
       "s.yaml:2:7: unknown key 'train.sed'; did you mean 'train.seed'?"},
  });
}

TEST(SuiteErrors, OfNames) {
  for (const std::string name : {"''", ".", "..", "../x", "/etc/passwd", "-rf", "a b", "'a;b'",
                                 "$(id)", "\"a\\nb\"", "_a", "a/b", "'*x'", "gr\xC3\xBC\xC3\x9F"}) {
    EXPECT_TRUE(refusal_of<ConfigError>("suite: " + name + "\ncases:\n  - {name: a}\n")
                    .starts_with("s.yaml:1:8: the suite's name is "))
        << name;
    EXPECT_TRUE(refusal_of<ConfigError>("suite: s\ncases:\n  - {name: " + name + "}\n")
                    .starts_with("s.yaml:3:12: the case's name is "))
        << name;
  }
  const std::string longest(64, 'x');
  EXPECT_EQ(
      load_text("suite: " + longest + "\ncases:\n  - {name: 0.a_b-C, model: {name: vit}}\n").name,
      longest);
  expect_refused({
      {"suite: " + longest + "x\ncases:\n  - {name: a}\n", "s.yaml:1:8: the suite's name is "},
      {"suite: s\ncases:\n  - {model: {name: vit}}\n", "s.yaml:3:5: the case lacks 'name'"},
      {with_case("  - {name: a}\n"), "s.yaml:6:12: the case 'a' stands twice"},
  });
}

TEST(SuiteErrors, OfFields) {
  const auto train = [](const std::string& text) { return with_case("    train: " + text + "\n"); };
  expect_refused({
      {with_case("    trian: {}\n"),
       "s.yaml:6:5: unknown key 'trian' in a case; did you mean 'train'?"},
      {with_case("    train: 1\n"), "s.yaml:6:12: train is '1'; allowed: a map"},
      {train("{batchsize: 1}"),
       "s.yaml:6:13: unknown key 'batchsize' in train; did you mean 'batch_size'? Allowed: "
       "batch_size, "
       "seed, tf32, optimizer"},
      {train("{optimizer: {lrr: 1}}"),
       "s.yaml:6:25: unknown key 'lrr' in train.optimizer; did you mean 'lr'?"},
      {train("{optimizer: sgd}"), "s.yaml:6:24: train.optimizer is 'sgd'; allowed: a map"},
      {train("{optimizer: {name: sdg}}"),
       "s.yaml:6:31: train.optimizer.name is 'sdg'; did you mean 'sgd'? Allowed: adam, sgd"},
      {train("{optimizer: {name: [sgd]}}"),
       "s.yaml:6:31: train.optimizer.name is a list; allowed: adam, sgd"},
  });
}

TEST(SuiteErrors, OfValues) {
  for (const std::string value : {"010", "0x10", "1_000", "+1", "1.0", "1.5", "1e3", "'4'", "0",
                                  "-1", "4097", "9223372036854775808", "99999999999999999999",
                                  "yes", "true", "''", "[1]", "{a: 1}", ".inf"}) {
    const std::string message =
        refusal_of<ConfigError>(with_case("    train: {batch_size: " + value + "}\n"));
    EXPECT_TRUE(message.starts_with("s.yaml:6:25: train.batch_size is ")) << message;
    EXPECT_TRUE(message.ends_with("; allowed: an integer from 1 to 4096")) << message;
  }
  for (const std::string value : {".nan", ".inf", "-.inf", "nan", "1e400", ".5", "5.", "0x1p3",
                                  "'0.1'", "-0.1", "10.5", "lr"}) {
    const std::string message =
        refusal_of<ConfigError>(with_case("    train: {optimizer: {lr: " + value + "}}\n"));
    EXPECT_TRUE(contains(message, "train.optimizer.lr is ")) << message;
    EXPECT_TRUE(message.ends_with("; allowed: a number from 0 to 10")) << message;
  }
  for (const std::string value : {"yes", "on", "True", "TRUE", "1", "'true'"}) {
    const std::string message =
        refusal_of<ConfigError>(with_case("    train: {tf32: " + value + "}\n"));
    EXPECT_TRUE(message.starts_with("s.yaml:6:19: train.tf32 is ")) << message;
    EXPECT_TRUE(message.ends_with("; allowed: true, false")) << message;
  }
}

TEST(SuiteErrors, OfTechniques) {
  const auto list = [](const std::string& text) {
    return with_case("    techniques: " + text + "\n");
  };
  expect_refused({
      {list("bfloat16"), "s.yaml:6:17: techniques is 'bfloat16'; allowed: a list"},
      {list("[bf16]"), "s.yaml:6:18: unknown technique 'bf16'; "},
      {list("[bfloat61]"), "s.yaml:6:18: unknown technique 'bfloat61'; did you mean 'bfloat16'?"},
      {list("[[bfloat16]]"), "s.yaml:6:18: a technique is a list; allowed: a name, or"},
      {list("[{bfloat16: {}, mixed_precision: {}}]"),
       "s.yaml:6:18: a technique is a map; allowed: a name"},
      {list("[bfloat16, bfloat16]"), "s.yaml:6:28: the technique 'bfloat16' stands twice"},
      {list("[bfloat16, {bfloat16: {}}]"), "s.yaml:6:28: the technique 'bfloat16' stands twice"},
      {list("[{bfloat16: 1}]"), "s.yaml:6:29: techniques.bfloat16 is '1'; allowed: a map"},
      {list("[{bfloat16: {x: 1}}]"),
       "s.yaml:6:30: unknown key 'x' in techniques.bfloat16; nothing is allowed here"},
      {list("[{gradient_accumulation: {micro_batches: 65}}]"),
       "s.yaml:6:58: techniques.gradient_accumulation.micro_batches is '65'; allowed: an integer "
       "from 1 to 64"},
      {list("[mixed_precision]"),
       "s.yaml:6:18: techniques.mixed_precision.dtype must be given; allowed: float16, bfloat16"},
  });
}

TEST(SuiteErrors, OfPublishedFigures) {
  const auto published = [](const std::string& text) {
    return with_case("    published: " + text + "\n");
  };
  expect_refused({
      {published("1"), "s.yaml:6:16: published is '1'; allowed: a map"},
      {published("{published_samples_per_second: 1}"),
       "s.yaml:6:17: unknown key 'published_samples_per_second'"},
      {published("{status: ok}"),
       "s.yaml:6:17: unknown key 'status' in published; allowed: run_peak_reserved_bytes, "
       "samples_per_second"},
      {published("{run_peak_reserved_bytes: 2.5}"),
       "s.yaml:6:42: published.run_peak_reserved_bytes is '2.5'; allowed: an integer"},
  });
}

// The largest file that is read, with the most cases that are made of it.
TEST(SuiteErrors, NoSuiteTakesLong) {
  std::string text = "suite: s\ncases:\n";
  for (int i = 0; i < 1000; ++i)
    text += "  - {name: c" + std::to_string(i) + ", model: {name: vit}}\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(load_text(text + "matrix: {train.seed: [1, 2, 3, 4, 5]}\n").cases.size(), 5000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace headroom
