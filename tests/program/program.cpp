// SPDX-License-Identifier: Apache-2.0
#include "tests/program/program.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "src/core/csv.h"

namespace headroom {
namespace {

/// The tests run side by side: a worker with all cores would wait for the others' threads.
class OneThread final : public testing::Environment {
 public:
  void SetUp() override { setenv("OMP_NUM_THREADS", "1", /*overwrite=*/1); }
};

const testing::Environment* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace

std::filesystem::path source(const std::string& name) {
  return std::filesystem::path(HEADROOM_SOURCE_DIR) / name;
}

Program start_headroom(const std::vector<std::string>& arguments) {
  return Program("headroom", arguments);
}

Ended run_headroom(const std::vector<std::string>& arguments) {
  return start_headroom(arguments).wait();
}

std::int64_t Cells::parts_of_the_peak() const {
  std::int64_t sum = 0;
  for (const char* part : {"weights", "gradients", "optimizer_state", "activations", "batch",
                           "communication", "temporary", "rounding"}) {
    sum += number("peak_" + std::string(part) + "_bytes");
  }
  return sum;
}

std::vector<Cells> read_csv_rows(const std::filesystem::path& folder) {
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
