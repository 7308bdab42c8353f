// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/file.h"
#include "src/results/journal_line.h"
#include "src/suite/suite.h"

namespace headroom {

/// The records of a journal's text.
struct JournalText {
  std::vector<nlohmann::ordered_json> records;
  std::size_t whole_bytes = 0;  // what lies behind is a record that was torn while it was written
};

/// Reads a journal's text; `path` names it in errors. Throws ResultsError with file:line where a
/// record is damaged otherwise than by being torn at the end (no line end, or zeros in it), or
/// where it is the first and too little of it is there to know that headroom wrote it.
JournalText read_journal(std::string_view text, const std::string& path);

/// The file that holds what was measured: records, appended and never changed, one a line, as
/// journal_line() writes it. What append() returned from is on the disk. One process at a time.
class Journal {
 public:
  /// Opens the file, or makes an empty one, locks it and reads its records. A record that was torn
  /// while it was written (at the end, with no line end or with zeros in it) is cut off, where it
  /// is known for one of headroom's.
  /// Throws ConfigError where another process holds it or it is no regular file, ResultsError with
  /// file:line where it is damaged in any other way or too large (it stays as it is),
  /// std::system_error where it can't be opened.
  /// `max_bytes`: no more than kMaxBytesOfJournal.
  explicit Journal(std::string path, std::size_t max_bytes = kMaxBytesOfJournal);

  const std::vector<nlohmann::ordered_json>& records() const { return records_; }
  /// The bytes of a torn record that were cut off when the journal was opened.
  std::size_t cut_bytes() const { return cut_bytes_; }

  /// Adds a record. Tries twice, then throws std::system_error that names the file; the journal
  /// is then as before. So it does where the journal would be larger than it may be, and, with the
  /// record in it, where somebody has moved or removed the file.
  void append(const nlohmann::ordered_json& record);

 private:
  void lock() const;
  void check_is_file() const;
  void check_is_in_place() const;
  std::string read_all() const;
  void append_line(const std::string& line) const;
  int cut() const;  // behind its whole records; not 0: errno says why not
  int synchronize() const;

  std::string path_;
  std::size_t max_bytes_;
  FileDescriptor file_;
  std::vector<nlohmann::ordered_json> records_;
  std::size_t bytes_ = 0;  // the length of what is whole
  std::size_t cut_bytes_ = 0;
};

inline constexpr const char* kDryRunKey = "dry_run";
inline constexpr const char* kLibrariesKey = "libraries";

/// What a journal's first record says: what the folder's results are results of.
///
///     {"format": 2, "suite", "kind", "device", "libtorch", "worker", "cases": {NAME: WORK, ...}}
///
/// The kind is "measured" or "planned"; the device "cpu", "cuda" or the name of the GPU that is
/// planned for; the worker a hash of the program; WORK as Case::work() has it. Where cases are
/// planned there is also "dry_run", a hash of the libraries of the dry run, and where the worker is
/// linked with libraries "libraries", which tells those from others. Headers of before have
/// neither. Of cases that were measured with no times (a suite's `memory_only`) there is
/// "memory_only": true.
nlohmann::ordered_json make_header(const Suite& suite, const Catalog& catalog,
                                   const std::string& kind, const std::string& device,
                                   const std::string& worker);

/// Whether a header is of results with no times.
bool is_memory_only(const nlohmann::ordered_json& header);

/// Throws ResultsError where the header of the file `journal` is of another format than this
/// version's, lacks something, or has a case that is none.
void check_header(const nlohmann::ordered_json& header, const std::string& journal);

/// What differs first between the headers of two journals, whose results must not be mixed then.
/// Empty: nothing. Both have passed check_header().
std::string header_difference(const nlohmann::ordered_json& old_header,
                              const nlohmann::ordered_json& new_header);

}  // namespace headroom
