// SPDX-License-Identifier: Apache-2.0
#include "src/report/report_page.h"

#include <memory>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/file.h"

namespace headroom {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  std::string out = "report.html";
};

int report(const ReportOptions& options) {
  std::vector<Results> all;
  for (const std::string& folder : options.results) {
    for (Results& results : read_all_results(folder)) all.push_back(std::move(results));
  }
  write_file_atomically(options.out, html_report(all));
  print(options.out + "\n");
  return 0;
}

}  // namespace

void add_report(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("report", "Show results as one HTML file");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("RESULTS", options->results, "Folders of results, with all those below them")
      ->required();
  command->add_option("--out", options->out, "The file to write")->capture_default_str();
  command->callback([&line, options] { line.action = [options] { return report(*options); }; });
}

}  // namespace headroom
