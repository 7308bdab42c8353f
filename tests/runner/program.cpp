// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/program.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "src/core/csv.h"

namespace headroom {

Program start_program(const std::vector<std::string>& arguments,
                      const std::function<void()>& prepare) {
  return Program("headroom_with_test_catalog", arguments, [&] {
    setenv("HEADROOM_WORKER", HEADROOM_BUILD_DIR "/test_worker", 0);
    prepare();
  });
}

Ended run_program(const std::vector<std::string>& arguments, const std::function<void()>& prepare) {
  return start_program(arguments, prepare).wait();
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
