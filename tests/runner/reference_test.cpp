// SPDX-License-Identifier: Apache-2.0
#include "src/runner/reference.h"

#include <gtest/gtest.h>

#include "tests/runner/program.h"

namespace headroom {
namespace {

std::string suite(const std::string& first_cases, const std::string& model = "{name: ok}") {
  return "suite: test\ndefaults: {model: " + model + ", data: {name: digits}}\ncases:\n" +
         first_cases;
}

/// The statuses of all cases, by name.
std::map<std::string, std::string> statuses(const std::string& text) {
  const TemporaryFolder folder;
  const Ended ended =
      run_program({"run", folder.write("suite.yaml", text), "--out", folder / "out"});
  std::map<std::string, std::string> result;
  for (const auto& [name, row] : read_rows(folder / "out")) {
    result[name] = row.at("status") + (row.at("first_loss").empty() ? "" : " with a loss");
  }
  return result;
}

const std::string kVanilla = "  - {name: vanilla}\n";
const std::string kShifted = "  - {name: shifted, techniques: [{exact: {loss_shift: 1.0e-12}}]}\n";

TEST(Reference, must_be_met_to_the_bit_without_a_tolerance) {
  const auto result =
      statuses(suite(kVanilla + kShifted + "  - {name: equal, techniques: [exact]}\n"));
  EXPECT_EQ(result.at("shifted"), "incorrect");
  EXPECT_EQ(result.at("equal"), "ok with a loss");
}

TEST(Reference, that_is_missed_hides_no_other_reason) {
  const TemporaryFolder folder;
  const std::string text = suite(kVanilla + kShifted, "{name: late_crash}");
  run_program({"run", folder.write("suite.yaml", text), "--out", folder / "out"});
  const auto row = read_rows(folder / "out").at("shifted");
  EXPECT_EQ(row.at("status"), "incorrect");
  EXPECT_TRUE(row.at("reason").starts_with("the loss of the first step is ")) << row.at("reason");
  EXPECT_TRUE(
      row.at("reason").ends_with("; they must be equal; the worker ended by signal 11 "
                                 "(Segmentation fault) after its record"))
      << row.at("reason");
}

TEST(Reference, may_be_missed_by_the_sum_of_the_tolerances) {
  // The loss of vanilla is 4.67: 2 % of it are 0.093.
  const auto result =
      statuses(suite(kVanilla + "  - {name: near, techniques: [{close: {loss_shift: -0.09}}]}\n" +
                     "  - {name: far, techniques: [{close: {loss_shift: 0.1}}]}\n" +
                     "  - {name: both, techniques: [exact, {close: {loss_shift: 0.09}}]}\n"));
  EXPECT_EQ(result.at("near"), "ok with a loss");
  EXPECT_EQ(result.at("far"), "incorrect");
  EXPECT_EQ(result.at("both"), "ok with a loss");
}

TEST(Reference, is_met_by_the_gradients_too) {
  // The norm of vanilla is 5: 1 % of it is 0.05.
  const auto result = statuses(
      suite(kVanilla + "  - {name: near, techniques: [{exact: {gradient_shift: 0.04}}]}\n" +
            "  - {name: far, techniques: [{exact: {gradient_shift: 0.06}}]}\n"));
  EXPECT_EQ(result.at("near"), "ok with a loss");
  EXPECT_EQ(result.at("far"), "incorrect");
}

TEST(Reference, has_no_gradient_to_compare_where_others_are_trained) {
  const auto result =
      statuses(suite(kVanilla + "  - {name: steep, techniques: [{tunes: {gradient_shift: 5}}]}\n" +
                     "  - {name: far, techniques: [{tunes: {loss_shift: 1.0e-12}}]}\n"));
  EXPECT_EQ(result.at("steep"), "ok with a loss");
  EXPECT_EQ(result.at("far"), "incorrect");
}

TEST(Reference, is_met_by_what_an_option_may_round) {
  const auto technique = [](const std::string& name, const std::string& options) {
    return "  - {name: " + name + ", techniques: [{exact: {" + options + "}}]}\n";
  };
  const auto result = statuses(
      suite(kVanilla + technique("near", "loss_shift: 0.09, gradient_shift: 0.2, narrow: true") +
            technique("wide", "loss_shift: 0.09, narrow: false") +
            technique("far", "loss_shift: 0.1, narrow: true") +
            technique("steep", "gradient_shift: 0.4, narrow: true")));
  EXPECT_EQ(result.at("near"), "ok with a loss");
  EXPECT_EQ(result.at("wide"), "incorrect");
  EXPECT_EQ(result.at("far"), "incorrect");
  EXPECT_EQ(result.at("steep"), "incorrect");
}

TEST(Reference, is_of_the_same_settings_and_stands_before) {
  const std::string other =
      "  - {name: other, train: {seed: 7}, techniques: [{exact: {loss_shift: 1.0}}]}\n";
  EXPECT_EQ(statuses(suite(kVanilla + other)).at("other"), "ok with a loss");
  EXPECT_EQ(statuses(suite(kShifted + kVanilla)).at("shifted"), "ok with a loss");
}

TEST(Reference, says_nothing_where_the_model_drops_out) {
  EXPECT_EQ(statuses(suite(kVanilla + kShifted, "{name: ok, dropout: 0.1}")).at("shifted"),
            "ok with a loss");
}

TEST(Reference, is_met_by_gradients_as_far_as_the_model_rounds) {
  // The norm of vanilla is 5: 10 times 1 % of it are 0.5.
  const auto result =
      statuses(suite(kVanilla + "  - {name: near, techniques: [{exact: {gradient_shift: 0.4}}]}\n" +
                         "  - {name: far, techniques: [{exact: {gradient_shift: 0.6}}]}\n",
                     "{name: mixes_samples}"));
  EXPECT_EQ(result.at("near"), "ok with a loss");
  EXPECT_EQ(result.at("far"), "incorrect");
}

TEST(Reference, of_a_model_that_mixes_samples_is_not_that_of_a_split_batch) {
  const TemporaryFolder folder;
  const std::string text =
      suite(kVanilla + kShifted + "  - {name: split, techniques: [{close: {loss_shift: 1.0}}]}\n",
            "{name: mixes_samples}");
  run_program({"run", folder.write("suite.yaml", text), "--out", folder / "out"});
  const auto rows = read_rows(folder / "out");
  EXPECT_EQ(rows.at("shifted").at("status"), "incorrect");
  EXPECT_EQ(rows.at("split").at("status"), "ok");
  EXPECT_EQ(rows.at("split").at("reason"),
            "the loss of the first step is not compared with that of vanilla: mixes_samples "
            "normalises by the statistics of a micro-batch, and close makes other ones");
}

TEST(Reference, of_weights_that_a_gpu_draws_is_the_first_with_them) {
  const auto draws = [](const std::string& name, const std::string& loss_shift) {
    return "  - {name: " + name + ", techniques: [{draws: {loss_shift: " + loss_shift + "}}]}\n";
  };
  const std::string text =
      suite(kVanilla + draws("first", "1.0") + draws("equal", "1.0") + draws("far", "1.1"));
  const TemporaryFolder folder;
  run_program(
      {"run", folder.write("suite.yaml", text), "--out", folder / "out", "--device", "cuda"}, [&] {
        setenv("TEST_CUDA", "1", 1);
        setenv("TEST_GPU", (folder / "gpu").c_str(), 1);
      });
  const auto rows = read_rows(folder / "out");
  EXPECT_EQ(rows.at("first").at("status"), "ok");
  EXPECT_EQ(rows.at("first").at("reason"),
            "the loss of the first step is not compared with that of vanilla: the device draws "
            "other random weights than the host");
  EXPECT_EQ(rows.at("equal").at("status"), "ok");
  EXPECT_EQ(rows.at("equal").at("reason"), "");
  EXPECT_EQ(rows.at("far").at("status"), "incorrect");
  EXPECT_EQ(statuses(text).at("first"), "incorrect");  // the CPU draws the same
}

TEST(Reference, comes_from_the_journal_on_resume) {
  const TemporaryFolder folder;
  const std::string file = folder.write("suite.yaml", suite(kVanilla + kShifted));
  const std::string out = folder / "out";
  EXPECT_EQ(run_program({"run", file, "--out", out, "--only", "vanilla"}).code, 0);
  EXPECT_EQ(run_program({"run", file, "--out", out, "--resume"}).code, 1);
  EXPECT_EQ(read_rows(out).at("shifted")["reason"],
            "the loss of the first step is 4.666666666667666, that of vanilla is "
            "4.666666666666666; they must be equal");
}

}  // namespace
}  // namespace headroom
