// SPDX-License-Identifier: Apache-2.0
#include "src/report/export.h"
#include "src/core/junit.h"

namespace headroom {
namespace {

using Outcome = JunitTest::Outcome;

JunitTest test_of(const CaseResult& one) {
  const Status status = status_of(one.row);
  if (status == Status::ok) return {.name = one.name};
  const std::string end(enum_name(status));
  const std::string reason = text_in(one.row, "reason");
  const std::string message = end + ": " + reason;
  switch (status) {
    case Status::out_of_memory:
      return {.name = one.name, .text = message};
    case Status::unsupported:
      return {.name = one.name, .outcome = Outcome::skipped, .message = message};
    default:
      return {.name = one.name,
              .outcome = Outcome::failed,
              .type = end,
              .message = message,
              .text = reason};
  }
}

}  // namespace

std::string junit_export(const std::vector<Results>& all) {
  std::vector<JunitSuite> suites;
  for (const Results& results : all) {
    JunitSuite& suite = suites.emplace_back(JunitSuite{results.suite(), results.journal, {}});
    for (const CaseResult& one : results.cases) suite.tests.push_back(test_of(one));
    for (const std::string& name : results.not_done) {
      suite.tests.push_back({.name = name, .outcome = Outcome::skipped, .message = "not done"});
    }
  }
  return junit_xml(suites);
}

}  // namespace headroom
