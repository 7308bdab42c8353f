// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "src/report/export.h"
#include "src/report/markup.h"

namespace headroom {
namespace {

struct Counts {
  int tests = 0;
  int failures = 0;
  int skipped = 0;

  void add(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    skipped += other.skipped;
  }
  std::string attributes() const {
    return fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}")", tests, failures,
                       skipped);
  }
};

std::string element(const std::string& name, const std::string& attributes,
                    const std::string& content) {
  return fmt::format("<{0}{1}{2}>{3}</{0}>\n", name, attributes.empty() ? "" : " ", attributes,
                     content);
}

/// What a test holds: nothing where the case is ok.
std::string outcome_of(const CaseResult& one, Counts& counts) {
  const Status status = status_of(one.row);
  const std::string name(enum_name(status));
  const std::string reason = escape_markup(text_in(one.row, "reason"));
  if (status == Status::ok) return "";
  if (status == Status::out_of_memory) return element("system-out", "", name + ": " + reason);
  const std::string message = fmt::format("message=\"{}\"", name + ": " + reason);
  if (status == Status::unsupported) {
    ++counts.skipped;
    return element("skipped", message, "");
  }
  ++counts.failures;
  return element("failure", fmt::format("type=\"{}\" {}", name, message), reason);
}

std::string test(const Results& results, const std::string& name, const std::string& outcome) {
  const std::string attributes = fmt::format(R"(classname="{}" name="{}")",
                                             escape_markup(results.suite()), escape_markup(name));
  return element("testcase", attributes, outcome);
}

/// The testsuite of one results folder; adds to `counts`.
std::string suite_of(const Results& results, Counts& counts) {
  Counts own;
  std::string tests;
  for (const CaseResult& one : results.cases) {
    ++own.tests;
    tests += test(results, one.name, outcome_of(one, own));
  }
  for (const std::string& name : results.not_done) {
    ++own.tests;
    ++own.skipped;
    tests += test(results, name, element("skipped", "message=\"not done\"", ""));
  }
  counts.add(own);
  const std::string attributes =
      fmt::format(R"(name="{}" {})", escape_markup(results.suite()), own.attributes());
  const std::string property =
      fmt::format(R"(<property name="journal" value="{}"/>)", escape_markup(results.journal));
  return element("testsuite", attributes, "\n" + element("properties", "", property) + tests);
}

}  // namespace

std::string junit_export(const std::vector<Results>& all) {
  Counts counts;
  std::string suites = "\n";
  for (const Results& results : all) suites += suite_of(results, counts);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         element("testsuites", "name=\"headroom\" " + counts.attributes(), suites);
}

}  // namespace headroom
