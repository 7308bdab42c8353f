// SPDX-License-Identifier: Apache-2.0
// `headroom completion` and `headroom manual`: for the shell, and for `man`.
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/shell_texts.h"
#include "src/gpus/gpu.h"

namespace headroom {

void add_completion(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "completion", "A script by which bash and zsh complete commands and options");
  command->callback([&line] {
    line.action = [&line] {
      print(completion_script(line.app, dry_run::gpu_names()));
      return 0;
    };
  });
}

void add_manual(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("manual", "The manual page: headroom manual | man -l -");
  command->callback([&line] {
    line.action = [&line] {
      print(manual_page(line.app, version(line.catalog())));
      return 0;
    };
  });
}

}  // namespace headroom
