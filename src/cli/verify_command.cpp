// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/enum_names.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/verify/verify.h"

namespace headroom {
namespace {

struct VerifyOptions {
  std::vector<std::string> results;
  bool json = false;
};

std::string count(std::size_t number, const std::string& word) {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

/// A line a finding, and one that counts.
std::string to_text(const Verification& verification) {
  std::string text;
  for (const Finding& finding : verification.findings) {
    const std::string who = finding.case_name.empty() ? "" : finding.case_name + ": ";
    text += printable(fmt::format("{}: {}: {}{} ({})", finding.place, enum_name(finding.grade), who,
                                  finding.what, finding.rule)) +
            "\n";
  }
  return text + fmt::format("{}, {}, {}\n", count(verification.folders, "folder"),
                            count(verification.rows, "row"),
                            count(verification.findings.size(), "finding"));
}

nlohmann::ordered_json to_json(const Verification& verification) {
  nlohmann::ordered_json json{{"folders", verification.folders},
                              {"rows", verification.rows},
                              {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& finding : verification.findings) {
    json["findings"].push_back({{"rule", finding.rule},
                                {"grade", enum_name(finding.grade)},
                                {"place", finding.place},
                                {"case", finding.case_name},
                                {"what", finding.what}});
  }
  return json;
}

int verify(const Catalog& catalog, const VerifyOptions& options) {
  const Verification verification = verify_results(options.results, catalog);
  print(options.json ? json_text(to_json(verification)) : to_text(verification));
  if (verification.has(Grade::wrong)) return kUnusableResults;
  return verification.has(Grade::weak) ? kFailed : 0;
}

}  // namespace

void add_verify(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "verify", "Whether results hold together, and can be published as they are");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("RESULTS", options->results, "Folders of results, or folders above them")
      ->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] { return verify(line.catalog(), *options); };
  });
}

}  // namespace headroom
