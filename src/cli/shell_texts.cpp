// SPDX-License-Identifier: Apache-2.0
#include "src/cli/shell_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

namespace headroom {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// "-h --help", each with its dashes; empty: it is no option but an argument.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string option_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (std::string& name : names_of(*option)) words.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// As troff takes it: a backslash, and a dot or an apostrophe at the begin of a line, mean
/// something there, and a dash would be a hyphen.
std::string troff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    if (c == '\n') result += "\\&";
  }
  return "\\&" + result;
}

std::string option_entry(const CLI::Option& option) {
  std::vector<std::string> names = names_of(option);
  const bool takes_value = option.get_items_expected_max() > 0;
  std::string head = names.empty() ? option.get_name() : fmt::format("{}", fmt::join(names, ", "));
  if (!names.empty() && takes_value) head += " " + option.get_type_name();
  return ".TP\n.B " + troff(head) + "\n" + troff(option.get_description()) + "\n";
}

std::string entries(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) text += option_entry(*option);
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::vector<std::string>& gpus) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), option_words(*command));
  }
  return fmt::format(
      R"(# bash: source <(headroom completion)
# zsh: the same, where its own completion is on (compinit)
if [[ -n ${{ZSH_VERSION:-}} ]]; then
  autoload -U +X bashcompinit && bashcompinit
fi

_headroom() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} {}' -- "$word"))
    return
  fi
  if [[ $before == --gpu ]]; then
    COMPREPLY=($(compgen -W '{}' -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _headroom headroom
)",
      fmt::join(names, " "), option_words(app), fmt::join(gpus, " "), cases);
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string text = fmt::format(
      ".TH HEADROOM 1 \"\" \"{}\"\n.SH NAME\nheadroom \\- {}\n.SH SYNOPSIS\n.B headroom\n"
      ".I COMMAND\n[\\fIOPTIONS\\fR]\n.SH OPTIONS\n{}",
      troff(version), troff(app.get_description()), entries(app));
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format(".SH HEADROOM {}\n{}\n{}", troff(command->get_name()),
                        troff(command->get_description()), entries(*command));
  }
  return text +
         ".SH EXIT STATUS\n0: as asked. 1: some case failed. 2: the call or a file of the user is "
         "wrong.\n3: earlier results can't be used. 4: the machine lacks something. 5: the program "
         "that was\nplanned does not fit. 130: interrupted; what was done is kept.\n";
}

}  // namespace headroom
