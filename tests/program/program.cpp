// SPDX-License-Identifier: Apache-2.0
#include "tests/program/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "src/core/csv.h"

namespace headroom {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "headroom_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

std::filesystem::path source(const std::string& name) {
  return std::filesystem::path(HEADROOM_SOURCE_DIR) / name;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

pid_t start_headroom(const std::vector<std::string>& arguments,
                     const std::filesystem::path& output) {
  const std::string program = std::string(HEADROOM_BUILD_DIR) + "/headroom";
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  return child;
}

int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Ended run_headroom(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const int code = wait_for(start_headroom(arguments, folder / "output"));
  return {code, read_text(folder / "output")};
}

std::int64_t Cells::parts_of_the_peak() const {
  std::int64_t sum = 0;
  for (const char* part : {"weights", "gradients", "optimizer_state", "activations", "batch",
                           "communication", "temporary", "rounding"}) {
    sum += number("peak_" + std::string(part) + "_bytes");
  }
  return sum;
}

std::vector<Cells> read_results(const std::filesystem::path& folder) {
  const std::string path = (folder / "results.csv").string();
  const CsvTable table = read_csv(read_text(path), path);
  std::vector<Cells> rows;
  for (const auto& row : table.rows) {
    std::map<std::string, std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells[table.header[i]] = row[i];
    rows.emplace_back(std::move(cells));
  }
  return rows;
}

}  // namespace headroom
