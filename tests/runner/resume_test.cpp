// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/runner/program.h"

namespace headroom {
namespace {

class Resume : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "segv"}, "{silence_s: 20}"));
  const std::string out = folder / "out";

  Ended run(std::vector<std::string> more) {
    more.insert(more.begin(), {"run", suite, "--out", out});
    return run_program(more);
  }
};

TEST_F(Resume, runs_what_has_no_row) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  const std::string first = read_rows(out).at("ok").at("started_at");
  EXPECT_EQ(run({"--resume"}).code, 1);
  EXPECT_EQ(read_rows(out).size(), 2U);
  EXPECT_EQ(read_rows(out).at("ok").at("started_at"), first);
  const std::string journal = read_text(out + "/journal.jsonl");
  EXPECT_EQ(run({"--resume"}).code, 1);
  EXPECT_EQ(read_text(out + "/journal.jsonl"), journal);
}

TEST_F(Resume, is_asked_for_where_there_are_results) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  const Ended again = run({});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--resume goes on with them; --out names"), std::string::npos)
      << again.err;
}

TEST_F(Resume, refuses_another_plan_and_says_what_differs) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  const Ended other = run({"--resume", "--set", "train.seed=7"});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("of its case ok, train.seed was "), std::string::npos) << other.err;
  folder.write("suite.yaml", suite_of({"ok", "segv", "abort"}, "{silence_s: 20}"));
  EXPECT_NE(run({"--resume"}).err.find("it has no case abort"), std::string::npos);
}

TEST_F(Resume, refuses_a_damaged_journal_and_leaves_it) {
  run({});
  std::string journal = read_text(out + "/journal.jsonl");
  journal[journal.size() / 2] ^= 2;
  folder.write("out/journal.jsonl", journal);
  const Ended ended = run({"--resume"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("journal.jsonl:"), std::string::npos) << ended.err;
  EXPECT_EQ(read_text(out + "/journal.jsonl"), journal);
}

/// A line of the journal's text, from 0, with its end.
std::string line_of(const std::string& text, int number) {
  std::size_t start = 0;
  for (int i = 0; i < number; ++i) start = text.find('\n', start) + 1;
  return text.substr(start, text.find('\n', start) + 1 - start);
}

TEST_F(Resume, refuses_a_journal_that_says_something_twice) {
  run({});
  const std::string journal = read_text(out + "/journal.jsonl");
  const std::vector<std::pair<int, std::string>> doubled = {
      {0, "this is no record of a case"}, {1, "the case ok is there a second time"}};
  for (const auto& [line, why] : doubled) {
    folder.write("out/journal.jsonl", journal + line_of(journal, line));
    const Ended ended = run({"--resume"});
    EXPECT_EQ(ended.code, 3) << why;
    EXPECT_NE(ended.err.find("journal.jsonl:4:1: " + why), std::string::npos) << ended.err;
  }
}

/// The rules that the files of the folder break beside one another.
std::set<std::string> broken_rules(const std::string& out) {
  const Ended ended = run_program({"verify", out, "--json"});
  const auto verification = nlohmann::json::parse(ended.out);
  std::set<std::string> rules;
  for (const auto& finding : verification.at("findings")) rules.insert(finding.at("rule"));
  return rules;
}

TEST_F(Resume, of_a_suite_in_another_order_leaves_files_that_agree) {
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  folder.write("suite.yaml", suite_of({"segv", "ok"}, "{silence_s: 20}"));
  EXPECT_EQ(run({"--resume"}).code, 1);
  EXPECT_EQ(broken_rules(out).count("csv"), 0U);
  EXPECT_EQ(broken_rules(out).count("suite_file"), 0U);
}

TEST_F(Resume, takes_the_published_figures_that_the_suite_has_now) {
  const auto published = [&] {
    return read_rows(out).at("ok").at("published_run_peak_reserved_bytes");
  };
  const auto write_suite = [&](const std::string& figures) {
    folder.write("suite.yaml",
                 "suite: test\ndefaults: {data: {name: digits}, limits: {silence_s: 20}}\ncases:\n"
                 "  - {name: ok, model: {name: ok}" +
                     figures +
                     "}\n"
                     "  - {name: segv, model: {name: segv}}\n");
  };
  EXPECT_EQ(run({"--only", "^ok$"}).code, 0);
  for (const std::string figure : {"1234567", "7654321", ""}) {
    write_suite(figure.empty() ? "" : ", published: {run_peak_reserved_bytes: " + figure + "}");
    EXPECT_EQ(run({"--resume"}).code, 1);
    EXPECT_EQ(published(), figure);
    EXPECT_EQ(broken_rules(out).count("csv"), 0U);
    EXPECT_EQ(broken_rules(out).count("suite_file"), 0U);
    const std::string journal = read_text(out + "/journal.jsonl");
    EXPECT_EQ(run({"--resume"}).code, 1);
    EXPECT_EQ(read_text(out + "/journal.jsonl"), journal);
  }
}

TEST_F(Resume, reads_the_records_of_many_ranks_and_so_does_verify) {
  folder.write("suite.yaml", suite_text(16, one_case("a", "long_record")));
  EXPECT_EQ(run({}).code, 0);
  EXPECT_GT(std::filesystem::file_size(out + "/journal.jsonl"), 10U << 20);
  EXPECT_EQ(run({"--resume"}).code, 0);
  EXPECT_EQ(broken_rules(out).count("csv"), 0U);
}

TEST_F(Resume, says_that_it_cut_a_torn_record) {
  run({});
  const std::string journal = read_text(out + "/journal.jsonl");
  folder.write("out/journal.jsonl", journal.substr(0, journal.size() - 5));
  const Ended ended = run({"--resume"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("a record torn by a kill"), std::string::npos) << ended.err;
  EXPECT_EQ(read_rows(out).size(), 2U);
}

TEST_F(Resume, of_a_folder_that_another_works_on_is_refused) {
  run({});
  const int journal = open((out + "/journal.jsonl").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(journal, LOCK_EX | LOCK_NB), 0);
  const Ended second = run({"--resume"});
  close(journal);
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find(out + "/journal.jsonl: another headroom is at work"), std::string::npos)
      << second.err;
}

TEST_F(Resume, takes_the_newest_folder_where_none_is_named) {
  const auto here = [this] { ASSERT_EQ(chdir(folder.path().c_str()), 0); };
  EXPECT_EQ(run_program({"run", suite, "--only", "^ok$"}, here).code, 0);
  EXPECT_EQ(run_program({"run", suite, "--resume"}, here).code, 1);
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out/test")) {
    if (!entry.is_directory()) continue;
    ++folders;
    EXPECT_EQ(read_rows(entry.path()).size(), 2U);
    EXPECT_EQ(entry.path().string().find(':'), std::string::npos) << entry.path();
  }
  EXPECT_EQ(folders, 1);
}

TEST_F(Resume, takes_the_folder_whose_journal_was_written_last) {
  const auto here = [this] { ASSERT_EQ(chdir(folder.path().c_str()), 0); };
  const std::vector<std::string> names = {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z",
                                          "2031-01-01T00:00:00Z"};
  for (const std::string& name : names) {
    EXPECT_EQ(run_program({"run", suite, "--only", "^ok$", "--out", "out/test/" + name}, here).code,
              0);
  }
  const auto now = std::filesystem::file_time_type::clock::now();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::filesystem::last_write_time(folder / "out/test/" + names[i] + "/journal.jsonl",
                                     now - std::chrono::hours(i == 1 ? 1 : 2));
  }
  folder.write("out/test/notes.txt", "mine");
  std::filesystem::create_directory(folder / "out/test/photos");
  std::filesystem::remove(folder / "out/test/.last");  // as a headroom of before leaves it
  EXPECT_EQ(run_program({"run", suite, "--resume"}, here).code, 1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(read_rows(folder / "out/test/" + names[i]).size(), i == 1 ? 2U : 1U) << names[i];
  }
}

TEST_F(Resume, takes_the_folder_that_was_named_last_however_it_is_spelled) {
  const auto here = [this] { ASSERT_EQ(chdir(folder.path().c_str()), 0); };
  for (const std::string path : {"out/test/a", "out/test/z", "./out//test/b/", "elsewhere"}) {
    EXPECT_EQ(run_program({"run", suite, "--only", "^ok$", "--out", path}, here).code, 0);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / ".last"));
  const auto later = std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);
  std::filesystem::last_write_time(folder / "out/test/z/journal.jsonl", later);
  EXPECT_EQ(run_program({"run", suite, "--resume"}, here).code, 1);
  EXPECT_EQ(read_rows(folder / "out/test/b").size(), 2U);
  // Names that are no folder of results beside it say nothing.
  for (const std::string name : {"", "../test/a", "/", "gone", "a\n"}) {
    folder.write("out/test/.last", name);
    const Ended ended = run_program({"run", suite, "--resume"}, here);
    EXPECT_NE(ended.err.find("going on in out/test/z\n"), std::string::npos) << ended.err;
  }
}

TEST_F(Resume, of_several_suites_goes_on_with_the_last_call) {
  const auto here = [this] { ASSERT_EQ(chdir(folder.path().c_str()), 0); };
  const auto suite_named = [this](const std::string& name) {
    return folder.write(name + ".yaml", "suite: " + name +
                                            "\ndefaults: {model: {name: ok}, data: {name: digits}, "
                                            "train: {work_ms: 300}}\n"
                                            "cases: [{name: one}, {name: two}]\n");
  };
  const std::vector<std::string> call{"run", suite_named("first"), suite_named("second")};
  const auto last = [this](const std::string& name) {
    return folder / ("out/" + name + "/" + read_text(folder / ("out/" + name + "/.last")));
  };
  EXPECT_EQ(run_program(call, here).code, 0);
  const std::string earlier = last("second");
  sleep(1);  // a folder's name is the time in seconds
  Program program = start_program(call, here);
  while (last("second") == earlier || !std::filesystem::exists(last("first") + "/log/one.log")) {
    usleep(1000);
  }
  program.send(SIGINT);
  const Ended interrupted = program.wait();
  EXPECT_EQ(interrupted.code, 130);
  EXPECT_TRUE(interrupted.err.ends_with("To go on: the same call with --resume\n"))
      << interrupted.err;
  std::vector<std::string> again = call;
  again.emplace_back("--resume");
  const Ended resumed = run_program(again, here);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_rows(last("first")).size(), 2U);
  EXPECT_NE(last("second"), earlier);
  EXPECT_EQ(read_rows(last("second")).size(), 2U);
}

TEST_F(Resume, goes_on_with_repeats_where_they_were) {
  const std::vector<std::string> again{"--repeat", "3", "--only", "^ok$"};
  const Ended first = run(again);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("ok    ok              3  7.63 MiB"), std::string::npos) << first.out;
  EXPECT_EQ(first.out.find("segv"), std::string::npos);  // it was not asked for
  for (const std::string round : {"00", "01", "02"}) {
    EXPECT_EQ(read_rows(folder / ("out/" + round)).size(), 1U);
  }
  EXPECT_EQ(run_program({"compare", out, out}).code, 0);
  const std::string started = read_rows(folder / "out/01").at("ok").at("started_at");
  std::filesystem::remove_all(folder / "out/02");
  const Ended more = run({"--repeat", "4", "--only", "^ok$", "--resume"});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(read_rows(folder / "out/01").at("ok").at("started_at"), started);
  EXPECT_EQ(read_rows(folder / "out/03").size(), 1U);
  const Ended where = run_program({"run", suite, "--repeat", "2", "--resume"});
  EXPECT_NE(where.err.find("--resume: of which repeats? --out says it"), std::string::npos);
  EXPECT_EQ(run({"--repeat", "100"}).code, 2);
}

}  // namespace
}  // namespace headroom
