// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/program.h"

#include <cstdlib>
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

std::string one_case(const std::string& name, const std::string& model,
                     const std::string& techniques) {
  return "  - {name: " + name + ", model: {name: " + model + "}, techniques: " + techniques + "}\n";
}

std::string suite_text(int ranks, const std::string& cases, const std::string& limits) {
  return "suite: test\ndefaults: {ranks: " + std::to_string(ranks) +
         ", data: {name: digits}, limits: " + limits + "}\ncases:\n" + cases;
}

}  // namespace headroom
