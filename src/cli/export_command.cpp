// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/file.h"
#include "src/report/export.h"

namespace headroom {
namespace {

struct ExportOptions {
  std::vector<std::string> folders;
  std::string format;
  std::string out;
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
  return names;
}

int export_results(const ExportOptions& options) {
  std::vector<Results> all;
  for (const std::string& folder : options.folders) {
    std::ranges::move(read_all_results(folder), std::back_inserter(all));
  }
  const auto format = std::ranges::find(export_formats(), options.format, &ExportFormat::name);
  const std::string text = format->write(all);
  if (options.out.empty()) {
    print(text);
  } else {
    write_file_atomically(options.out, text);
  }
  return 0;
}

}  // namespace

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
      ->check(CLI::IsMember(format_names()));
  command->add_option("--out", options->out, "The file to write; default: standard output");
  command->callback(
      [&line, options] { line.action = [options] { return export_results(*options); }; });
}

}  // namespace headroom
