// SPDX-License-Identifier: Apache-2.0
#include "src/suite/suite.h"

#include <set>

#include "src/suite/schema.h"
#include "src/suite/suite_file.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

/// load_suite() without its file.
Suite suite_of(std::string_view text, const char* name) {
  const Catalog& catalog = fuzz_catalog();
  return make_suite(parse_suite_file(read_yaml(text, name), catalog), catalog);
}

}  // namespace

void fuzz_suite(std::string_view input) {
  Suite suite;
  if (!is_accepted([&] { suite = suite_of(input, kInputName); })) return;
  require(is_name(suite.name), "a suite has a name that can be a file's");
  require(!suite.cases.empty() && suite.cases.size() <= Suite::kMaxCases,
          "a suite has one case at the least, and no more than the limit");
  std::set<std::string> names;
  for (const Case& one : suite.cases) {
    require(names.insert(one.name).second, "no two cases have one name");
  }
  if (suite.effective_yaml.size() > YamlLimits::kBytes) return;
  const Suite again = suite_of(suite.effective_yaml, "the effective suite");
  require(again.cases == suite.cases, "the effective suite has the same cases");
  require(again.name == suite.name && again.source == suite.source && again.gpu == suite.gpu,
          "the effective suite says the same of itself");
}

}  // namespace headroom
