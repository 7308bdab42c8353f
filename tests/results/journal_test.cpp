// SPDX-License-Identifier: Apache-2.0
#include "src/results/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <sstream>
#include <system_error>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "tests/flushes.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Each begins as a header does, so that it may be the first.
Json record(int number) {
  return {{"format", 2}, {"case", number}, {"text", "\"a\nb\" é"}, {"value", 0.1}};
}

/// The bytes of a journal of `count` records.
std::string journal_text(const TemporaryFolder& folder, int count) {
  const std::string path = folder / "whole";
  Journal journal(path);
  for (int i = 0; i < count; ++i) journal.append(record(i));
  return read_text(path);
}

TEST(Journal, gives_back_what_was_appended) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  {
    Journal journal(path);
    EXPECT_TRUE(journal.records().empty());
    for (int i = 0; i < 3; ++i) journal.append(record(i));
  }
  Journal journal(path);
  ASSERT_EQ(journal.records().size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(journal.records()[i], record(i));
  EXPECT_EQ(journal.cut_bytes(), 0U);
}

TEST(Journal, is_json_lines_with_a_checksum_of_each_line) {
  const TemporaryFolder folder;
  std::istringstream lines(journal_text(folder, 3));
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    Json object = Json::parse(line);
    const std::string checksum = object.at("crc32");
    object.erase("crc32");
    EXPECT_EQ(object, record(number));
    EXPECT_EQ(checksum, to_hex(crc32(object.dump()), 8));
  }
  EXPECT_EQ(number, 3);
}

// As results/ has them: `01234567 {"case":...}`.
TEST(Journal, of_an_earlier_version_is_read_and_gone_on_with) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const std::string json = record(i).dump();
    text += to_hex(crc32(json), 8) + " " + json + "\n";
  }
  const std::string path = folder.write("old", text);
  Journal(path).append(record(3));
  EXPECT_TRUE(read_text(path).starts_with(text));
  const Journal journal(path);
  ASSERT_EQ(journal.records().size(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(journal.records()[std::size_t(i)], record(i));
  for (std::size_t cut = 1; cut < text.size() - text.rfind('\n', text.size() - 2) - 1; ++cut) {
    const Journal torn(folder.write("torn", text.substr(0, text.size() - cut)));
    EXPECT_EQ(torn.records().size(), 2U) << cut;
  }
}

// Else a power loss would cost cases that were said to be done.
TEST(Journal, is_flushed_with_each_record_in_it) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  Journal journal(path);
  std::vector<std::uintmax_t> lengths;
  const FlushObserver observer([&](const std::string& flushed) {
    if (flushed == path) lengths.push_back(std::filesystem::file_size(path));
  });
  journal.append(record(1));
  const std::uintmax_t first = std::filesystem::file_size(path);
  journal.append(record(2));
  EXPECT_EQ(lengths, (std::vector<std::uintmax_t>{first, std::filesystem::file_size(path)}));
}

// As a power loss can leave a file whose length was written and whose blocks were not.
TEST(Journal, keeps_its_whole_records_where_zeros_stand_behind_them) {
  const TemporaryFolder folder;
  const std::string whole = journal_text(folder, 2);
  const std::string unwritten(40, '\0');
  const std::string half_written("{\"crc32\":\"0123abcd\",\"c\0\0\0\n", 26);
  const std::string half_an_old_one("0123abcd {\"c\0\0\0\n", 16);
  for (const std::string& torn : {unwritten, half_written, half_an_old_one}) {
    const Journal journal(folder.write("torn", whole + torn));
    EXPECT_EQ(journal.records().size(), 2U);
    EXPECT_EQ(journal.cut_bytes(), torn.size());
  }
}

/// So much of its first record tells that headroom wrote a file.
constexpr std::size_t kStartOfHeader = std::string_view(R"({"crc32":"01234567","format")").size();

TEST(Journal, of_any_length_keeps_its_whole_records_and_goes_on) {
  const TemporaryFolder folder;
  const std::string whole = journal_text(folder, 5);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    if (length > 0 && length < kStartOfHeader) continue;  // see the next test
    const std::string path = folder.write("cut", whole.substr(0, length));
    const auto kept = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
    {
      Journal journal(path);
      ASSERT_EQ(journal.records().size(), kept) << length;
      for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(journal.records()[i], record(int(i)));
      journal.append(record(99));
    }
    Journal journal(path);
    ASSERT_EQ(journal.records().size(), kept + 1) << length;
    ASSERT_EQ(journal.records().back(), record(99));
    ASSERT_EQ(journal.cut_bytes(), 0U);
  }
}

// It may be anybody's: somebody's word of the letters a to f, with no line end, was cut to nothing.
TEST(Journal, that_is_shorter_than_the_start_of_a_header_is_refused_and_left) {
  const TemporaryFolder folder;
  const std::string whole = journal_text(folder, 1);
  const std::string zeros(3, '\0');
  for (std::size_t length = 1; length < kStartOfHeader; ++length) {
    for (const std::string& text : {whole.substr(0, length), whole.substr(0, length) + zeros}) {
      const std::string path = folder.write("short", text);
      EXPECT_THROW(const Journal journal(path), ResultsError) << length;
      EXPECT_EQ(read_text(path), text);
    }
  }
}

// As a power loss can leave a journal that was just begun.
TEST(Journal, of_nothing_but_zeros_or_of_the_start_of_a_header_is_begun_anew) {
  const TemporaryFolder folder;
  const std::string start = journal_text(folder, 1).substr(0, kStartOfHeader);
  const std::string zeros(5000, '\0');
  for (const std::string& text : {zeros, start, start + zeros, start + zeros + "\n"}) {
    const Journal journal(folder.write("begun", text));
    EXPECT_EQ(journal.cut_bytes(), text.size());
  }
}

TEST(Journal, never_accepts_a_flipped_bit_silently) {
  const TemporaryFolder folder;
  const std::string whole = journal_text(folder, 8);
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    damaged[random() % whole.size()] ^= static_cast<char>(1U << (random() % 8));
    const std::string path = folder.write("damaged", damaged);
    try {
      const Journal journal(path);
      // Only what looks like a torn end may be cut, it is said, and the rest is as it was.
      ASSERT_GT(journal.cut_bytes(), 0U);
      ASSERT_EQ(journal.records().size(), 7U);
      for (int k = 0; k < 7; ++k) ASSERT_EQ(journal.records()[std::size_t(k)], record(k));
    } catch (const ResultsError& error) {
      ++refused;
      ASSERT_EQ(read_text(path), damaged);
      ASSERT_NE(std::string(error.what()).find(path + ":"), std::string::npos);
    }
  }
  EXPECT_GT(refused, 1900);
}

// What is as deep or as long as the workers of a case of many ranks can make it.
TEST(Journal, reads_whatever_it_takes) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  Json deep = 0;
  for (std::size_t i = 0; i < JsonLimits{}.depth - 1; ++i) deep = Json::array({deep});
  const Json nested{{"case", "a"}, {"rank_records", {deep}}};
  const Json large{{"case", "b"}, {"text", std::string(70 << 20, 'x')}};
  for (const Json& each : {nested, large}) {
    Journal(path).append(each);
    EXPECT_NO_THROW(EXPECT_EQ(Journal(path).records().back(), each)) << each.at("case");
    std::filesystem::remove(path);
  }
}

TEST(Journal, takes_whatever_bytes_a_text_holds) {
  const TemporaryFolder folder;
  Journal(folder / "journal").append({{"case", "no UTF-8: \xff"}});
  EXPECT_EQ(Journal(folder / "journal").records().at(0).at("case"), "no UTF-8: \xef\xbf\xbd");
}

TEST(Journal, that_is_a_pipe_is_refused) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  try {
    const Journal journal(folder / "pipe");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), folder / "pipe" + ": not a regular file");
  }
}

TEST(Journal, that_is_too_large_is_refused_unread_and_left) {
  const TemporaryFolder folder;
  const std::string large = folder.write("large", "");
  const std::uintmax_t bytes = (std::uintmax_t{1} << 30) + 1;
  std::filesystem::resize_file(large, bytes);
  EXPECT_THROW(const Journal journal(large), ResultsError);
  EXPECT_EQ(std::filesystem::file_size(large), bytes);
}

TEST(Journal, stays_as_it_is_where_a_record_would_make_it_too_large) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  const std::size_t most = journal_text(folder, 3).size();
  {
    Journal journal(path, most);
    journal.append(record(0));
    const std::string before = read_text(path);
    try {
      journal.append({{"case", std::string(most, 'x')}});
      FAIL();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::file_too_large);
      EXPECT_NE(std::string(error.what()).find(path + ": with this record"), std::string::npos);
    }
    EXPECT_EQ(read_text(path), before);
    for (const int number : {1, 2}) journal.append(record(number));  // to the last byte
  }
  EXPECT_EQ(Journal(path, most).records().size(), 3U);
  EXPECT_THROW(Journal(path, most - 1), ResultsError);
}

TEST(Journal, that_was_moved_says_so) {
  const TemporaryFolder folder;
  Journal journal(folder / "journal");
  journal.append(record(1));
  std::filesystem::rename(folder / "journal", folder / "moved");
  EXPECT_THROW(journal.append(record(2)), std::system_error);
  const std::string text = read_text(folder / "moved");
  Json second = Json::parse(text.substr(text.find('\n') + 1));
  second.erase("crc32");
  EXPECT_EQ(second, record(2));
}

TEST(Journal, names_the_damaged_line) {
  const TemporaryFolder folder;
  std::string text = journal_text(folder, 3);
  text[text.find('\n') + 20] ^= 1;
  const std::string path = folder.write("damaged", text);
  try {
    const Journal journal(path);
    FAIL();
  } catch (const ResultsError& error) {
    EXPECT_EQ(error.what(), path + ":2:1: this record is damaged: its checksum does not fit");
  }
}

// What a write leaves that is cut short begins as a record does, with an object: this is none.
TEST(Journal, whose_last_line_is_no_record_and_has_no_end_is_refused) {
  const std::string seven = to_hex(crc32("7"), 8) + " 7";
  for (const std::string& before : {std::string(), to_hex(crc32("{}"), 8) + " {}\n"}) {
    const std::string text = before + seven;
    try {
      read_journal(text, "journal");
      FAIL() << text;
    } catch (const ResultsError& error) {
      EXPECT_EQ(std::string(error.what()), std::string("journal:") + (before.empty() ? "1" : "2") +
                                               ":1: this record is damaged: its line has no end");
    }
  }
}

TEST(Journal, is_held_by_one_at_a_time) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  {
    Journal first(path);
    first.append(record(1));
    try {
      const Journal second(path);
      FAIL();
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
  EXPECT_EQ(Journal(path).records().size(), 1U);
}

TEST(Journal, is_as_before_where_a_record_does_not_fit) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  std::size_t whole = 0;
  {
    Journal journal(path);
    journal.append(record(1));
    whole = read_text(path).size();
  }
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{whole + 10, whole + 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    Journal journal(path);
    try {
      journal.append(record(2));
    } catch (const std::system_error& error) {
      _exit(error.code() == std::errc::file_too_large && journal.records().size() == 1 ? 0 : 2);
    }
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Journal journal(path);
  EXPECT_EQ(journal.records().size(), 1U);
  EXPECT_EQ(journal.cut_bytes(), 0U);
}

}  // namespace
}  // namespace headroom
