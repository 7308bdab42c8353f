// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "src/compare/comparison_format.h"
#include "src/compare/comparison_lines.h"
#include "src/core/junit.h"

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

JunitTest test_of(const CaseChange& one) {
  if (one.trend != Trend::worse && one.trend != Trend::unclear) return {.name = one.name};
  const std::string text = text_of(one);
  const std::string message = text.substr(0, text.find('\n'));
  if (one.trend == Trend::unclear) {
    return {.name = one.name, .outcome = JunitTest::Outcome::skipped, .message = message};
  }
  return {.name = one.name,
          .outcome = JunitTest::Outcome::failed,
          .type = "worse",
          .message = message,
          .text = text};
}

}  // namespace

std::string comparison_junit(const Comparison& comparison) {
  std::vector<JunitSuite> suites;
  for (const CaseChange& one : comparison.cases) {
    auto suite = std::ranges::find(suites, one.suite, &JunitSuite::name);
    if (suite == suites.end()) suite = suites.insert(suite, {one.suite, "", {}});
    suite->tests.push_back(test_of(one));
  }
  return junit_xml(suites);
}

}  // namespace headroom
