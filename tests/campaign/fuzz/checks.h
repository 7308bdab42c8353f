// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/suite/catalog.h"

// What the targets have in common.
namespace headroom {

/// The name under which targets have their input read: messages start with it.
inline constexpr const char* kInputName = "input";

/// Says what does not hold, and ends the process, where it does not.
void require(bool holds, std::string_view what);

/// Calls `read`, which may refuse its input: by ConfigError, ResultsError or JsonError with a
/// message of printable text that starts with `place`. Any other exception ends the process.
/// Returns whether it was read.
bool is_accepted(const std::function<void()>& read, std::string_view place = kInputName);

/// The input cut in pieces of one to seven bytes, as a pipe or a socket may deliver it.
void in_pieces(std::string_view input, const std::function<void(std::string_view)>& take);

/// What a reader of a stream finds in the input. Requires that it is the same, and so is the fault,
/// whether the input comes whole or in pieces.
template <class Reader>
auto read_however(std::string_view input, Reader reader) {
  using Found = std::vector<typename decltype(reader.next())::value_type>;
  const auto take = [](Reader& from, std::string_view bytes, Found& into) {
    from.take(bytes);
    while (auto one = from.next()) into.push_back(std::move(*one));
  };
  Reader slow_reader = reader;
  Found whole;
  take(reader, input, whole);
  Found in_parts;
  in_pieces(input, [&](std::string_view piece) { take(slow_reader, piece, in_parts); });
  require(whole == in_parts && reader.fault() == slow_reader.fault(),
          "what is read is the same however it comes");
  return whole;
}

/// Lines of JSON as a journal's records, with checksums that fit.
std::string with_checksums(std::string_view lines);

/// What the built worker prints.
const Catalog& fuzz_catalog();

}  // namespace headroom
