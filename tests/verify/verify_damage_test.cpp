// SPDX-License-Identifier: Apache-2.0
// Files that are damaged, hostile or not files at all: verify says so, and never crashes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "src/verify/verify.h"
#include "tests/verify/good_results.h"

namespace headroom {
namespace {

/// Results of two cases: damage is tried at every byte.
GoodResults small_results() {
  GoodResults results = good_results();
  results.suite_yaml =
      "suite: good\ncases:\n  - {name: plain, published: "
      "{run_peak_allocated_bytes: 1100}}\n  - name: large\n";
  results.cases = {results.cases[0], results.cases[3]};
  results.header["cases"].erase("stack");
  results.header["cases"].erase("ranks");
  return results;
}

/// Flips a bit in each byte of a file of good results, and expects a refusal with a place in that
/// file.
void expect_every_flip_is_seen(const std::string& file) {
  const TemporaryFolder folder;
  const std::string results = small_results().write(folder);
  ASSERT_TRUE(verify(results).findings.empty());
  const std::string whole = read_text(results + "/" + file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    folder.write("results/" + file, damaged);
    const Verification verification = verify(results);
    ASSERT_TRUE(verification.has(Grade::wrong)) << "byte " << i;
    ASSERT_TRUE(verification.findings[0].place.starts_with(results + "/" + file))
        << "byte " << i << ": " << verification.findings[0].place;
  }
}

TEST(VerifyDamage, sees_every_flipped_byte_of_a_journal) {
  expect_every_flip_is_seen("journal.jsonl");
}

TEST(VerifyDamage, sees_every_flipped_byte_of_a_csv) { expect_every_flip_is_seen("results.csv"); }

TEST(VerifyDamage, sees_a_csv_that_ends_early) {
  const TemporaryFolder folder;
  const std::string results = small_results().write(folder);
  const std::string whole = read_text(results + "/results.csv");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.write("results/results.csv", whole.substr(0, size));
    ASSERT_TRUE(verify(results).has(Grade::wrong)) << size;
  }
}

/// All values of a document, itself included.
std::vector<Json::json_pointer> places_in(const Json& document) {
  std::vector<Json::json_pointer> places = {Json::json_pointer()};
  const Json flat = document.flatten();
  for (const auto& [path, unused] : flat.items()) {
    Json::json_pointer place(path);
    for (; !place.empty(); place.pop_back()) {
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  return places;
}

/// Puts values of every kind wherever a record has one, under checksums that fit.
void expect_no_crash(Json& document, const GoodResults& results) {
  const TemporaryFolder folder;
  const std::string path = results.write(folder);
  const std::vector<Json> hostile = {nullptr, true,          -1,           INT64_MAX,      1e308,
                                     "NaN",   Json::array(), {{"a", {1}}}, {nullptr, {{}}}};
  for (const auto& place : places_in(document)) {
    for (const Json& value : hostile) {
      const Json before = document;
      document[place] = value;
      folder.write("results/journal.jsonl", results.journal());
      EXPECT_NO_THROW(verify(path)) << place.to_string() << " = " << value.dump();
      document = before;
    }
  }
}

TEST(VerifyDamage, survives_any_value_anywhere) {
  GoodResults results = small_results();
  expect_no_crash(results.header, results);
  expect_no_crash(results.cases[0], results);
  GoodResults ranks = good_results();
  Json& record = ranks.cases[2]["rank_records"];
  expect_no_crash(record, ranks);
}

TEST(VerifyDamage, names_what_is_missing_or_no_file) {
  const auto remove = [](const std::string& path) { std::filesystem::remove(path); };
  const auto make_folder = [](const std::string& path) {
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
  };
  const auto make_fifo = [](const std::string& path) {
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  };
  const auto make_empty = [](const std::string& path) { std::filesystem::resize_file(path, 0); };
  for (const std::string file : {"journal.jsonl", "results.csv", "suite.yaml"}) {
    for (const std::function<void(const std::string&)>& spoil :
         std::vector<std::function<void(const std::string&)>>{remove, make_folder, make_fifo,
                                                              make_empty}) {
      const TemporaryFolder folder;
      const std::string path = good_results().write(folder) + "/" + file;
      spoil(path);
      const Verification verification = verify(folder / "results");
      ASSERT_EQ(verification.findings.size(), 1U) << file;
      EXPECT_TRUE(verification.findings[0].place.starts_with(path));
      EXPECT_EQ(verification.findings[0].grade, Grade::wrong);
    }
  }
}

TEST(VerifyDamage, refuses_numbers_that_no_figure_can_be) {
  for (const std::string number : {"1e999", "NaN", "-Infinity", "123456789012345678901234567890"}) {
    const TemporaryFolder folder;
    GoodResults results = small_results();
    const std::string path = results.write(folder);
    results.set(0, "first_loss", "HERE");
    std::string record = results.cases[0].dump();
    for (std::size_t at = 0; (at = record.find("\"HERE\"")) != std::string::npos;) {
      record.replace(at, 6, number);
    }
    folder.write("results/journal.jsonl",
                 journal_line(results.header.dump()) + journal_line(record));
    const Verification verification = verify(path);
    ASSERT_EQ(verification.findings.size(), 1U);
    EXPECT_EQ(verification.findings[0].rule, "journal");
    EXPECT_EQ(verification.findings[0].what.find("checksum"), std::string::npos) << number;
  }
}

}  // namespace
}  // namespace headroom
