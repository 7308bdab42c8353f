// SPDX-License-Identifier: Apache-2.0
#include "src/report/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/markup.h"

namespace headroom {
namespace {

using Outcome = JunitTest::Outcome;

std::string element(const std::string& name, const std::string& attributes,
                    const std::string& content) {
  return fmt::format("<{0} {1}>{2}</{0}>\n", name, attributes, content);
}

std::string escape_lines(const std::string& text) {
  std::string escaped;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    escaped += escape_markup(text.substr(begin, end - begin));
    if (end < text.size()) escaped += '\n';
    begin = end + 1;
  }
  return escaped;
}

std::string outcome_xml(const JunitTest& test) {
  const std::string message = fmt::format("message=\"{}\"", escape_markup(test.message));
  switch (test.outcome) {
    case Outcome::failed:
      return element("failure", fmt::format("type=\"{}\" {}", escape_markup(test.type), message),
                     escape_lines(test.text));
    case Outcome::skipped:
      return element("skipped", message, "");
    case Outcome::passed:
      break;
  }
  return test.text.empty() ? "" : "<system-out>" + escape_lines(test.text) + "</system-out>\n";
}

std::string test_xml(const std::string& suite, const JunitTest& test) {
  return element(
      "testcase",
      fmt::format("classname=\"{}\" name=\"{}\"", escape_markup(suite), escape_markup(test.name)),
      outcome_xml(test));
}

std::string properties_xml(const JunitSuite& suite) {
  if (suite.journal.empty()) return "";
  return "<properties><property name=\"journal\" value=\"" + escape_markup(suite.journal) +
         "\"/></properties>\n";
}

/// The attributes that count tests.
std::string counts_of(const std::vector<JunitTest>& tests) {
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(tests, outcome, &JunitTest::outcome);
  };
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", tests.size(),
                     count(Outcome::failed), count(Outcome::skipped));
}

}  // namespace

std::string junit_xml(const std::vector<JunitSuite>& suites) {
  std::vector<JunitTest> all;
  std::string text = "\n";
  for (const JunitSuite& suite : suites) {
    std::string tests = "\n" + properties_xml(suite);
    for (const JunitTest& test : suite.tests) tests += test_xml(suite.name, test);
    text += element(
        "testsuite",
        fmt::format("name=\"{}\" {}", escape_markup(suite.name), counts_of(suite.tests)), tests);
    all.insert(all.end(), suite.tests.begin(), suite.tests.end());
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         element("testsuites", "name=\"headroom\" " + counts_of(all), text);
}

}  // namespace headroom
