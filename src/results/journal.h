// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/file_descriptor.h"

namespace headroom {

/// The records of a journal's text.
struct JournalText {
  std::vector<nlohmann::ordered_json> records;
  std::size_t whole_bytes = 0;  // what lies behind is a record that was torn while it was written
};

/// Reads a journal's text; `path` names it in errors. Throws ResultsError with file:line where a
/// record is damaged otherwise than by being torn at the end (no line end, or zeros in it).
JournalText read_journal(std::string_view text, const std::string& path);

/// The file that holds what was measured: records, appended and never changed, one a line, as
/// "crc32 JSON\n". What append() returned from is on the disk. One process at a time.
class Journal {
 public:
  /// Opens the file, or makes an empty one, locks it and reads its records. A record that was torn
  /// while it was written (at the end, with no line end or with zeros in it) is cut off.
  /// Throws ConfigError where another process holds it, ResultsError with file:line where it is
  /// damaged in any other way (it stays as it is), std::system_error where it can't be opened.
  explicit Journal(std::string path);

  const std::vector<nlohmann::ordered_json>& records() const { return records_; }
  /// The bytes of a torn record that were cut off when the journal was opened.
  std::size_t cut_bytes() const { return cut_bytes_; }

  /// Adds a record. Tries twice, then throws std::system_error that names the file; the journal
  /// is then as before.
  void append(const nlohmann::ordered_json& record);

 private:
  void lock() const;
  std::string read_all() const;
  void append_line(const std::string& line) const;

  std::string path_;
  FileDescriptor file_;
  std::vector<nlohmann::ordered_json> records_;
  std::size_t bytes_ = 0;  // the length of what is whole
  std::size_t cut_bytes_ = 0;
};

}  // namespace headroom
