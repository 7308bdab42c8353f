// SPDX-License-Identifier: Apache-2.0
#include "src/core/text.h"

#include "src/core/error.h"
#include "src/core/json.h"
#include "src/suite/suite.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

void check_scalars(std::string_view input) {
  if (const auto integer = parse_integer(input)) {
    require(std::to_string(*integer) == input || input == "-0", "an integer has one spelling");
  }
  if (const auto number = parse_number(input)) {
    require(parse_number(format_number(*number)) == number, "a number reads back as it was");
  }
  if (const auto bytes = parse_bytes(input)) {
    require(*bytes >= 0 && *bytes <= std::int64_t{1} << 62, "an amount is within its range");
  }
}

void check_shown(std::string_view input) {
  const std::string shown = printable(input);
  require(find_invalid_utf8(shown) == std::string::npos, "what is shown is UTF-8");
  for (std::string_view rest = shown; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    require(!must_be_escaped(point.value), "what is shown steers nothing");
    rest.remove_prefix(point.bytes);
  }
  require(printable(shown) == shown, "what can be shown stays as it is");
  require(escape_markup(input).find_first_of("<>\"'") == std::string::npos, "markup is escaped");
  require(escape_markdown(input).find('\n') == std::string::npos, "a cell is one line");
}

}  // namespace

void fuzz_text(std::string_view input) {
  check_scalars(input);
  check_shown(input);
  const std::string document = json_text(std::string(input));
  if (find_invalid_utf8(input) == std::string::npos && input.size() < 1000) {
    require(read_json(document) == std::string(input), "a text reads back out of JSON");
  }
  closest_name(input.substr(0, 64), {"train.batch_size", "micro_batches", "adam"});
  is_accepted([&] { parse_override(std::string(input)); }, "--set");
}

}  // namespace headroom
