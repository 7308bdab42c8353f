// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "src/report/comparison_format.h"
#include "src/report/comparison_lines.h"
#include "src/report/markup.h"

namespace headroom {
namespace {

/// What a case's lines and notes say, as one text.
std::string text_of(const CaseChange& one) {
  std::string text;
  for (const ComparisonEntry& entry :
       comparison_entries({.machine_differences = {}, .cases = {one}})) {
    for (const ComparisonLine& line : entry.lines) {
      text += line.figure + ": " + line.old_text + " to " + line.new_text + ", " + line.change +
              ": " + line.trend + "\n";
    }
    for (const std::string& note : entry.notes) text += note + "\n";
  }
  return text;
}

std::string case_xml(const CaseChange& one) {
  const std::string open = "    <testcase classname=\"" + escape_markup(one.suite) + "\" name=\"" +
                           escape_markup(one.name) + "\" time=\"0\"";
  const bool is_worse = one.trend == Trend::worse;
  if (!is_worse && one.trend != Trend::unclear) return open + "/>\n";
  const std::string text = text_of(one);
  const std::string message = escape_markup(text.substr(0, text.find('\n')));
  if (!is_worse) return open + ">\n      <skipped message=\"" + message + "\"/>\n    </testcase>\n";
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines += escape_markup(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return open + ">\n      <failure type=\"worse\" message=\"" + message + "\">" + lines +
         "</failure>\n    </testcase>\n";
}

}  // namespace

std::string comparison_junit(const Comparison& comparison) {
  const auto count = [&](Trend trend) {
    return std::to_string(std::ranges::count(comparison.cases, trend, &CaseChange::trend));
  };
  const std::string counts = "tests=\"" + std::to_string(comparison.cases.size()) +
                             "\" failures=\"" + count(Trend::worse) + "\" errors=\"0\" skipped=\"" +
                             count(Trend::unclear) + "\" time=\"0\"";
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts +
                     ">\n  <testsuite name=\"headroom compare\" " + counts + ">\n";
  for (const CaseChange& one : comparison.cases) text += case_xml(one);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace headroom
