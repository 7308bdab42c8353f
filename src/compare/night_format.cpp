// SPDX-License-Identifier: Apache-2.0
// A night in the forms that people and programs read.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/compare/night.h"
#include "src/core/enum_names.h"
#include "src/core/github.h"
#include "src/core/json.h"
#include "src/core/junit.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::string light_text(Light light) { return std::string(enum_name(light)); }

std::string table(const Night& night) {
  std::vector<std::vector<std::string>> lines;
  for (const NightlyCase& one : night.cases) {
    lines.push_back({one.suite, one.name, light_text(one.light), one.reason});
  }
  return comparison_table(night.comparison) + "\n" +
         format_table({"suite", "case", "light", "reason"}, lines) + "\n" +
         light_text(night.light()) + "\n";
}

std::string markdown(const Night& night) {
  std::string text = "## " + light_text(night.light()) + "\n\n" +
                     "| suite | case | light | reason |\n| --- | --- | --- | --- |\n";
  for (const NightlyCase& one : night.cases) {
    text += "| " + escape_markdown(one.suite) + " | " + escape_markdown(one.name) + " | " +
            light_text(one.light) + " | " + escape_markdown(one.reason) + " |\n";
  }
  return text + "\n" + comparison_markdown(night.comparison);
}

std::string json(const Night& night) {
  Json cases = Json::array();
  for (const NightlyCase& one : night.cases) {
    Json entry{{"suite", one.suite},
               {"case", one.name},
               {"light", light_text(one.light)},
               {"reason", one.reason}};
    if (one.ratio) entry["ratio"] = *one.ratio;
    cases.push_back(std::move(entry));
  }
  return json_text({{"light", light_text(night.light())},
                    {"cases", std::move(cases)},
                    {"comparison", Json::parse(comparison_json(night.comparison))}});
}

std::string junit(const Night& night) {
  std::vector<JunitSuite> suites;
  for (const NightlyCase& one : night.cases) {
    auto suite = std::ranges::find(suites, one.suite, &JunitSuite::name);
    if (suite == suites.end()) suite = suites.insert(suite, {one.suite, "", {}});
    JunitTest test{.name = one.name};
    if (one.light != Light::green) {
      test.outcome =
          one.light == Light::red ? JunitTest::Outcome::failed : JunitTest::Outcome::skipped;
      test.type = light_text(one.light);
      test.message = one.reason;
    }
    suite->tests.push_back(std::move(test));
  }
  return junit_xml(suites);
}

std::string github(const Night& night) {
  std::string text;
  for (const NightlyCase& one : night.cases) {
    if (one.light == Light::green) continue;
    text += github_annotation(one.light == Light::red, one.suite + ": " + one.name,
                              light_text(one.light) + ": " + one.reason);
  }
  return text;
}

}  // namespace

const std::vector<NightFormat>& night_formats() {
  static const std::vector<NightFormat> formats = {{"table", &table},
                                                   {"markdown", &markdown},
                                                   {"json", &json},
                                                   {"junit", &junit},
                                                   {"github", &github}};
  return formats;
}

}  // namespace headroom
