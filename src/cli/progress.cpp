// SPDX-License-Identifier: Apache-2.0
#include "src/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "src/cli/output.h"
#include "src/cli/summary.h"
#include "src/core/printable.h"

namespace headroom {
namespace {

constexpr std::string_view kOverwrite = "\r\x1b[K";

/// Progress is a courtesy: where it can't be written, the run goes on.
void show(const std::string& text) {
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

std::string_view colour_of(Status status) {
  constexpr std::string_view kGreen = "\x1b[32m";
  constexpr std::string_view kYellow = "\x1b[33m";
  constexpr std::string_view kRed = "\x1b[31m";
  if (is_failure(status)) return kRed;
  return status == Status::ok ? kGreen : kYellow;
}

}  // namespace

ProgressLines::ProgressLines(std::string suite)
    : suite_(std::move(suite)),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      has_colour_(is_terminal_ && wants_colour()) {}

void ProgressLines::said(const std::string& note) { say(note); }

void ProgressLines::case_started(std::size_t index, std::size_t count, const Case& one) {
  current_ = printable(fmt::format("{} [{}/{}] {}", suite_, index + 1, count, one.name));
  case_progressed({});
}

void ProgressLines::case_progressed(const WorkerProgress& progress) {
  if (!is_terminal_) return;
  std::string text = std::string(kOverwrite) + current_ + ": " + progress.phase;
  if (progress.steps > 0) {
    text += fmt::format(" {}/{}", progress.step, progress.steps);
  }
  show(text);
}

void ProgressLines::case_ended(const Row& row) {
  const std::string text = printable(format_row(row));
  if (!is_terminal_) return show(current_ + ": " + text + "\n");
  const std::string start = std::string(kOverwrite) + current_ + ": ";
  if (!has_colour_) return show(start + text + "\n");
  show(start + std::string(colour_of(status_of(row))) + text + "\x1b[0m\n");
}

}  // namespace headroom
