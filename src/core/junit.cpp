// SPDX-License-Identifier: Apache-2.0
#include "src/core/junit.h"

#include <algorithm>
#include <string>

#include "src/core/text.h"

namespace headroom {
namespace {

using Outcome = JunitTest::Outcome;

/// name="text", the text escaped.
std::string attribute(const std::string& name, const std::string& text) {
  return name + "=\"" + escape_markup(text) + "\"";
}

std::string element(const std::string& name, const std::string& attributes,
                    const std::string& content) {
  return "<" + name + " " + attributes + ">" + content + "</" + name + ">\n";
}

std::string escape_lines(const std::string& text) { return escape_markup(text, "\n"); }

std::string outcome_xml(const JunitTest& test) {
  const std::string message = attribute("message", test.message);
  switch (test.outcome) {
    case Outcome::failed:
      return element("failure", attribute("type", test.type) + " " + message,
                     escape_lines(test.text));
    case Outcome::skipped:
      return element("skipped", message, "");
    case Outcome::passed:
      break;
  }
  return test.text.empty() ? "" : "<system-out>" + escape_lines(test.text) + "</system-out>\n";
}

std::string test_xml(const std::string& suite, const JunitTest& test) {
  return element("testcase", attribute("classname", suite) + " " + attribute("name", test.name),
                 outcome_xml(test));
}

std::string properties_xml(const JunitSuite& suite) {
  if (suite.journal.empty()) return "";
  return "<properties><property name=\"journal\" " + attribute("value", suite.journal) +
         "/></properties>\n";
}

/// The attributes that count tests.
std::string counts_of(const std::vector<JunitTest>& tests) {
  const auto count = [&](Outcome outcome) {
    return std::to_string(std::ranges::count(tests, outcome, &JunitTest::outcome));
  };
  return attribute("tests", std::to_string(tests.size())) + " " +
         attribute("failures", count(Outcome::failed)) + " " + attribute("errors", "0") + " " +
         attribute("skipped", count(Outcome::skipped));
}

}  // namespace

std::string junit_xml(const std::vector<JunitSuite>& suites) {
  std::vector<JunitTest> all;
  std::string text = "\n";
  for (const JunitSuite& suite : suites) {
    std::string tests = "\n" + properties_xml(suite);
    for (const JunitTest& test : suite.tests) tests += test_xml(suite.name, test);
    text +=
        element("testsuite", attribute("name", suite.name) + " " + counts_of(suite.tests), tests);
    all.insert(all.end(), suite.tests.begin(), suite.tests.end());
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         element("testsuites", "name=\"headroom\" " + counts_of(all), text);
}

}  // namespace headroom
