// SPDX-License-Identifier: Apache-2.0
// `headroom report` and `headroom export`: results as pages and files for others.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/file.h"
#include "src/core/table.h"
#include "src/report/export.h"
#include "src/report/report_page.h"

namespace headroom {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  std::string out = "report.html";
};

int report(const ReportOptions& options) {
  write_output(options.out, html_report(read_all_results(options.results)));
  print(options.out + "\n");
  return 0;
}

struct ExportOptions {
  std::vector<std::string> folders;
  std::string format;
  std::string out;
};

int export_results(const ExportOptions& options) {
  const auto format = std::ranges::find(export_formats(), options.format, &ExportFormat::name);
  const std::string text = format->write(read_all_results(options.folders));
  if (options.out.empty()) {
    print(text);
  } else {
    write_output(options.out, text);
  }
  return 0;
}

}  // namespace

void add_report(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("report", "Show results as one HTML file");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("RESULTS", options->results, "Folders of results, with all those below them")
      ->required();
  command->add_option("-o,--out", options->out, "The file to write")->capture_default_str();
  command->callback([&line, options] { line.action = [options] { return report(*options); }; });
}

void add_export(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("export", "Results in the formats of other tools and services");
  const auto options = std::make_shared<ExportOptions>();
  std::string formats = "The format:";
  for (const ExportFormat& format : export_formats()) {
    formats += fmt::format("\n{}: {}", format.name, format.summary);
  }
  command->add_option("RESULTS", options->folders, "Results folders, or folders of those")
      ->required();
  command->add_option("--format", options->format, formats)
      ->required()
      ->check(CLI::IsMember(names_of(export_formats())));
  command->add_option("-o,--out", options->out, "The file to write; default: standard output");
  command->callback(
      [&line, options] { line.action = [options] { return export_results(*options); }; });
}

}  // namespace headroom
