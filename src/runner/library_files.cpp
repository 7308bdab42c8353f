// SPDX-License-Identifier: Apache-2.0
#include "src/runner/library_files.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/runner/build_id.h"
#include "src/workers/process.h"

namespace headroom {
namespace {

constexpr std::chrono::seconds kLoaderPatience{30};  // with a loader that reads from a slow disk

/// All that a process prints, or what it printed in that time.
std::string output_of(const Process& process) {
  const auto end = std::chrono::steady_clock::now() + kLoaderPatience;
  std::string text;
  std::array<char, 4096> buffer;
  for (auto left = kLoaderPatience; left.count() > 0;
       left = std::chrono::ceil<std::chrono::seconds>(end - std::chrono::steady_clock::now())) {
    pollfd output{process.output(), POLLIN, 0};
    poll(&output, 1, static_cast<int>(std::chrono::milliseconds(left).count()));
    const ssize_t count = read(process.output(), buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno != EAGAIN && errno != EINTR) throw_errno("the dynamic loader");
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

constexpr int kMaxTries = 3;

/// What the loader prints of a program's libraries. One that is killed meanwhile is asked again, as
/// a part of its list would pass for other libraries. Throws Unsupported where all are killed.
std::string libraries_of(const std::string& program) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    // What the caller has loaded before is the environment's, which each record keeps.
    const Process loader({program}, "", {{"LD_TRACE_LOADED_OBJECTS", "1"}, {"LD_PRELOAD", ""}});
    std::string text = output_of(loader);
    pollfd ended{loader.ended(), POLLIN, 0};
    poll(&ended, 1, 1000);  // which it does at once, where its output is at its end
    if (loader.try_wait().value_or(ExitStatus{}).signal != SIGKILL) return text;
  }
  throw Unsupported("the dynamic loader was killed whenever it was to list the libraries of " +
                    program);
}

/// The path in a line of the loader's: "\tNAME => PATH (0xADDRESS)", or "\tPATH (0xADDRESS)"; empty
/// where it has none.
std::string path_in(const std::string& line) {
  const std::size_t end = line.rfind(" (0x");
  const std::size_t begin = line.find('/');
  const std::size_t arrow = line.find("=> /");
  if (end == std::string::npos || begin == std::string::npos || begin > end) return "";
  const std::size_t path = arrow == std::string::npos ? begin : arrow + 3;
  return line.substr(path, end - path);
}

constexpr std::size_t kBytesOfStart = 1024 * 1024;

/// What a library has in common with its copies, and with no other one of its name: bytes of its
/// own choice in place of all of them.
std::string contents_of(const std::string& path) {
  const std::string id = build_id_of(path);
  const FileStart start = read_file_start(path, id.empty() ? kBytesOfStart : 0);
  return std::filesystem::path(path).filename().string() + " " + std::to_string(start.size) + " " +
         fingerprint(id.empty() ? start.bytes : id);
}

}  // namespace

LibraryFiles::LibraryFiles(const std::string& program) {
  std::istringstream lines(libraries_of(program));
  for (std::string line; std::getline(lines, line);) {
    const std::string path = path_in(line);
    if (!path.empty()) files_.emplace(path, identity_of(path));
  }
  std::set<std::string> contents;  // in an order that does not hang on where they lie
  for (const auto& [path, identity] : files_) contents.insert(contents_of(path));
  std::string all;
  for (const std::string& one : contents) all += one + "\n";
  if (!all.empty()) hash_ = fingerprint(all);
}

void LibraryFiles::check_are_the_same() const {
  for (const auto& [path, identity] : files_) {
    if (identity_of(path) == identity) continue;
    throw ResultsError(path +
                       ": this library of the worker is not the file any more that this run began "
                       "with, and results of two must not be mixed. What is done is kept: --resume "
                       "goes on with it where that library is back, --out names a folder for the "
                       "new one");
  }
}

}  // namespace headroom
