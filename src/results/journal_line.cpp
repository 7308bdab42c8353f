// SPDX-License-Identifier: Apache-2.0
#include "src/results/journal_line.h"

#include "src/core/checksum.h"
#include "src/core/json.h"

namespace headroom {
namespace {

constexpr int kDigits = 8;
constexpr std::string_view kHeader = R"("format")";  // begins what stands behind in a header
// What stands before the checksum, and behind it.
struct Form {
  std::string_view before;
  std::string_view behind;

  std::size_t size() const { return before.size() + kDigits + behind.size(); }
};
constexpr Form kForm{.before = R"({"crc32":")", .behind = R"(",)"};
constexpr Form kOldForm{.before = "", .behind = " {"};

// A worker's record lies two levels deeper here than in its message, in the list of all ranks'. The
// number of values is bounded by the bytes.
constexpr JsonLimits kLimits{
    .bytes = kMaxBytesOfJournal, .depth = JsonLimits{}.depth + 2, .values = kMaxBytesOfJournal};

const Form& form_of(std::string_view text) { return text.starts_with('{') ? kForm : kOldForm; }

}  // namespace

std::string journal_line(const nlohmann::ordered_json& record) {
  // Whatever bytes a text holds, the record must come out.
  const std::string json =
      record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return std::string(kForm.before) + to_hex(crc32(json), kDigits) + std::string(kForm.behind) +
         json.substr(1) + "\n";
}

nlohmann::ordered_json record_of(std::string_view line) {
  const bool is_old = !line.starts_with('{');
  const std::size_t start = is_old ? kDigits + 1 : kForm.size();
  if (line.size() <= start) throw JsonError("it is too short");
  const std::string json = (is_old ? "" : "{") + std::string(line.substr(start));
  const std::string checksum = to_hex(crc32(json), kDigits);
  // The text is compared, not its number: "A" for "a" in it would be damage as well.
  const std::string expected =
      is_old ? checksum + " " : std::string(kForm.before) + checksum + std::string(kForm.behind);
  if (!line.starts_with(expected)) throw JsonError("its checksum does not fit");
  return read_json(json, kLimits);
}

bool begins_as_record(std::string_view text) {
  const Form& form = form_of(text);
  const std::string_view before = text.substr(0, form.before.size());
  if (!form.before.starts_with(before)) return false;
  text.remove_prefix(before.size());
  const std::string_view checksum = text.substr(0, kDigits);
  return checksum.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         form.behind.starts_with(text.substr(checksum.size(), form.behind.size()));
}

bool begins_as_header(std::string_view text) {
  const Form& form = form_of(text);
  return begins_as_record(text) && text.size() > form.size() &&
         text.substr(form.size()).starts_with(kHeader);
}

}  // namespace headroom
