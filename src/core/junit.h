// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// JUnit's XML, which most CI servers show. It has no standard; tests/report/junit.xsd has what its
// readers agree on.
namespace headroom {

struct JunitTest {
  enum class Outcome { passed, skipped, failed };

  std::string name;
  Outcome outcome = Outcome::passed;
  /// Of a failed test, in a word.
  std::string type = {};
  /// Why it was skipped or failed, in a line.
  std::string message = {};
  /// All that is to say, with line breaks: shown where it failed or passed.
  std::string text = {};
};

struct JunitSuite {
  std::string name;
  /// The results that it tells of, a property of the suite; empty: not of one journal.
  std::string journal;
  std::vector<JunitTest> tests;
};

/// All texts printable() (src/core/text.h); line breaks of `text` stay.
std::string junit_xml(const std::vector<JunitSuite>& suites);

}  // namespace headroom
