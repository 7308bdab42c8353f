// SPDX-License-Identifier: Apache-2.0
#include "src/results/journal.h"

#include <fstream>

#include "src/core/error.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

void check_journal(std::string_view text) {
  JournalText journal;
  if (!is_accepted([&] { journal = read_journal(text, kInputName); })) return;
  require(journal.whole_bytes <= text.size(), "a journal has no more than its bytes");
  const std::string_view whole = text.substr(0, journal.whole_bytes);
  require(whole.empty() || whole.ends_with('\n'), "a whole record ends its line");
  const JournalText again = read_journal(whole, "without its torn end");
  require(again.records == journal.records && again.whole_bytes == whole.size(),
          "a journal without its torn end holds the same records");
}

}  // namespace

/// A journal's text as it is, and lines of JSON that get checksums.
void fuzz_journal(std::string_view input) {
  check_journal(input);
  check_journal(with_checksums(input));
}

void fuzz_journal_file(std::string_view input) {
  static const TemporaryFolder folder;
  const std::string path = folder.write("journal.jsonl", with_checksums(input));
  std::vector<nlohmann::ordered_json> records;
  const bool is_read = is_accepted(
      [&] {
        Journal journal(path);
        records = journal.records();
        records.push_back({{"case", "last"}});
        journal.append(records.back());
      },
      path);
  if (!is_read) {
    require(read_text(path) == with_checksums(input), "what is refused stays as it was");
    return;
  }
  const Journal again(path);
  require(again.cut_bytes() == 0, "a journal that was appended to has no torn end");
  require(again.records() == records, "a journal holds what it held, and what was appended");
}

}  // namespace headroom
