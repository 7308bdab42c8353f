// SPDX-License-Identifier: Apache-2.0
#include "src/results/results.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/results/journal.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json header_of(const std::vector<std::string>& cases) {
  Json works = Json::object();
  for (const std::string& name : cases) works[name] = {{"train", {{"seed", 1}}}};
  return {{"format", 2},          {"suite", "s"},  {"kind", "measured"}, {"device", "cpu"},
          {"libtorch", "2.11.0"}, {"worker", "a"}, {"cases", works}};
}

Json record_of(const std::string& name) {
  return {{"case", name},
          {"gate", Json::object()},
          {"environment", Json::object()},
          {"row", {{"case", name}, {"status", "ok"}}},
          {"record", nullptr}};
}

std::string write(const TemporaryFolder& folder, const std::string& name,
                  const std::vector<Json>& records) {
  std::filesystem::create_directories(folder / name);
  Journal journal(folder / name + "/journal.jsonl");
  for (const Json& record : records) journal.append(record);
  return folder / name;
}

/// What reading the folder says; empty: it reads.
std::string why_refused(const std::string& folder) {
  try {
    read_results(folder);
  } catch (const ResultsError& error) {
    return error.what();
  }
  return "";
}

TEST(Results, come_in_the_suite_s_order_and_name_what_is_not_done) {
  const TemporaryFolder folder;
  const Results results = read_results(
      write(folder, "out", {header_of({"a", "b", "c"}), record_of("c"), record_of("a")}));
  EXPECT_EQ(results.suite(), "s");
  ASSERT_EQ(results.cases.size(), 2U);
  EXPECT_EQ(results.cases[0].name, "a");
  EXPECT_EQ(results.cases[0].work["train"]["seed"], 1);
  EXPECT_EQ(results.cases[0].line, 3);
  EXPECT_EQ(results.cases[1].name, "c");
  EXPECT_EQ(results.not_done, std::vector<std::string>{"b"});
  EXPECT_EQ(results.find("b"), nullptr);
  EXPECT_EQ(results.find("c"), &results.cases[1]);
}

TEST(Results, that_are_damaged_are_refused_with_their_place) {
  const TemporaryFolder folder;
  const std::string out = write(folder, "out", {header_of({"a", "b"}), record_of("a")});
  const std::string journal = out + "/journal.jsonl";
  const std::string text = read_text(journal);
  const std::size_t second = text.find('\n') + 1;

  folder.write("out/journal.jsonl", text.substr(0, text.size() - 1));
  EXPECT_EQ(why_refused(out), journal + ":2:1: this record is cut off");
  folder.write("out/journal.jsonl", text.substr(0, second - 5));
  EXPECT_EQ(why_refused(out), journal + ": there is nothing in it");
  folder.write("out/journal.jsonl", "");
  EXPECT_EQ(why_refused(out), journal + ": there is nothing in it");

  std::string edited = text;
  edited.replace(edited.find("\"ok\"", second), 4, "\"OK\"");
  folder.write("out/journal.jsonl", edited);
  EXPECT_EQ(why_refused(out), journal + ":2:1: this record is damaged: its checksum does not fit");
}

TEST(Results, that_no_headroom_writes_are_refused_with_their_place) {
  const TemporaryFolder folder;
  Json old = header_of({"a"});
  old["format"] = 1;
  EXPECT_NE(why_refused(write(folder, "old", {old}))
                .find("old/journal.jsonl:1:1: these results "
                      "have the format 1, this headroom"),
            std::string::npos);
  const Json header = header_of({"a"});
  EXPECT_NE(
      why_refused(write(folder, "1", {header, record_of("b")})).find(":2:1: the suite has no"),
      std::string::npos);
  EXPECT_NE(why_refused(write(folder, "2", {header, record_of("a"), record_of("a")}))
                .find(":3:1: the case a is there a second time"),
            std::string::npos);
  EXPECT_NE(why_refused(write(folder, "3", {header, header})).find(":2:1: this is no record"),
            std::string::npos);
  Json fine = record_of("a");
  fine["row"]["status"] = "fine";
  EXPECT_NE(
      why_refused(write(folder, "4", {header, fine})).find(":2:1: a row has the status 'fine'"),
      std::string::npos);
  Json alone = record_of("a");
  alone["rank_records"] = 2;
  EXPECT_NE(why_refused(write(folder, "6", {header, alone})).find(":2:1: this is no record"),
            std::string::npos);
  std::filesystem::create_directories(folder / "7");
  folder.write("7/journal.jsonl", to_hex(crc32("7"), 8) + " 7\n");  // in the form of before
  EXPECT_NE(why_refused(folder / "7").find(":1:1: this is no header"), std::string::npos);
  Json headless = header;
  headless.erase("suite");
  EXPECT_NE(why_refused(write(folder, "5", {headless})).find(":1:1: this is no header"),
            std::string::npos);
}

TEST(Results, have_the_row_that_was_made_last) {
  const TemporaryFolder folder;
  const Json anew{{"case", "a"}, {"row", {{"case", "a"}, {"status", "ok"}, {"published_x", 7}}}};
  const Json header = header_of({"a", "b"});
  const Results results =
      read_results(write(folder, "out", {header, record_of("a"), record_of("b"), anew}));
  EXPECT_EQ(results.find("a")->row, anew["row"]);
  EXPECT_EQ(results.find("a")->line, 2);
  EXPECT_EQ(results.find("b")->row, record_of("b")["row"]);
  EXPECT_NE(why_refused(write(folder, "1", {header, anew})).find(":2:1: the case a is not done"),
            std::string::npos);
}

TEST(Results, of_two_dry_runs_or_with_two_sets_of_libraries_differ) {
  for (const std::string key : {"dry_run", "libraries"}) {
    Json old_header = header_of({"a"});
    Json new_header = header_of({"a"});
    EXPECT_EQ(header_difference(old_header, new_header), "");
    new_header[key] = "b";
    EXPECT_EQ(header_difference(old_header, new_header), "");  // as headers of before are
    old_header[key] = "a";
    EXPECT_EQ(header_difference(old_header, new_header), key + " was \"a\" and is \"b\"");
  }
}

TEST(Results, with_times_and_without_differ) {
  const Json old_header = header_of({"a"});
  Json new_header = header_of({"a"});
  new_header["memory_only"] = true;
  EXPECT_EQ(header_difference(old_header, new_header), "memory_only was false and is true");
  EXPECT_EQ(header_difference(new_header, new_header), "");
}

TEST(Results, of_suites_with_other_cases_differ) {
  const Json few = header_of({"a"});
  const Json many = header_of({"a", "b"});
  EXPECT_EQ(header_difference(few, many), "it has no case b");
  EXPECT_EQ(header_difference(many, few), "it has a case b");
}

TEST(Results, of_a_folder_are_all_below_it_by_path) {
  const TemporaryFolder folder;
  write(folder, "out/2", {header_of({"a"})});
  write(folder, "out/1/b", {header_of({"a"})});
  const auto all = read_all_results(folder / "out");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].journal, folder / "out/1/b/journal.jsonl");
  EXPECT_EQ(read_all_results(folder / "out/2").size(), 1U);
  EXPECT_THROW(read_all_results(folder / "nothing"), ConfigError);
  std::filesystem::create_directories(folder / "empty");
  EXPECT_THROW(read_all_results(folder / "empty"), ConfigError);
}

}  // namespace
}  // namespace headroom
