// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// A record of a journal as a line of its file: an object of JSON whose first member is the checksum
// of what it would be without that member,
//
//     {"crc32":"01234567","case":...}
//
// so that the file is JSON Lines. Versions before wrote `01234567 {"case":...}`; both are read.
namespace headroom {

/// The most bytes that a journal may have. A record may have as many, so that what a journal takes
/// can be read: that of a case of several ranks holds what each of them gave.
inline constexpr std::size_t kMaxBytesOfJournal = std::size_t{1} << 30;

/// The line, with its end. The record is an object that is not empty.
std::string journal_line(const nlohmann::ordered_json& record);

/// The record of a line without its end, without the checksum. Throws JsonError.
nlohmann::ordered_json record_of(std::string_view line);

/// Whether the text can be the start of a line, however short it is.
bool begins_as_record(std::string_view text);

/// Whether the text has what a journal's first line has at least: as much as tells a journal from a
/// file that headroom did not make.
bool begins_as_header(std::string_view text);

}  // namespace headroom
