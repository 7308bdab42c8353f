// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace headroom {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "headroom_test_XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return path_ / name;
}

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Program::Program(const std::vector<std::string>& arguments, const std::function<void()>& prepare) {
  const std::string program = HEADROOM_BUILD_DIR "/headroom_with_test_catalog";
  std::vector<char*> list = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  setenv("HEADROOM_WORKER", HEADROOM_BUILD_DIR "/test_worker", 0);
  dup2(open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
  dup2(open((folder_ / "err").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
  prepare();
  execv(list[0], list.data());
  _exit(127);
}

void Program::send(int signal) const { kill(pid_, signal); }

Ended Program::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          read_text(folder_ / "out"), read_text(folder_ / "err")};
}

Ended run_program(const std::vector<std::string>& arguments, const std::function<void()>& prepare) {
  return Program(arguments, prepare).wait();
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::ifstream list("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child; list >> child;) children.push_back(child);
  return children;
}

Rows read_rows(const std::filesystem::path& folder) {
  const std::string path = folder / "results.csv";
  const CsvTable table = read_csv(read_text(path), path);
  Rows rows;
  for (const auto& cells : table.rows) {
    auto& row = rows[cells.at(static_cast<std::size_t>(table.column("case")))];
    if (!row.empty()) throw std::runtime_error("two rows of one case");
    for (std::size_t i = 0; i < cells.size(); ++i) row[table.header[i]] = cells[i];
  }
  return rows;
}

Rows lasting_rows(const std::filesystem::path& folder) {
  Rows rows = read_rows(folder);
  for (auto& [name, row] : rows) row.erase("started_at");
  return rows;
}

std::string suite_of(const std::vector<std::string>& behaviours, const std::string& limits) {
  std::string text =
      "suite: test\ndefaults:\n  data: {name: digits}\n  limits: " + limits + "\ncases:\n";
  for (const std::string& name : behaviours) {
    text += "  - {name: " + name + ", model: {name: " + name + "}}\n";
  }
  return text;
}

}  // namespace headroom
