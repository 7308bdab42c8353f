// SPDX-License-Identifier: Apache-2.0
// The way of a student: one command gives a published table beside its plan and the errors, another
// makes a page of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "src/core/file.h"
#include "tests/program/program.h"

namespace headroom {
namespace {

/// The line of a table that begins with the name of a case.
std::string line_of(const std::string& table, const std::string& name) {
  const std::size_t start = table.find("\n" + name + " ");
  return start == std::string::npos ? "" : table.substr(start, table.find('\n', start + 1) - start);
}

TEST(PublishedTable, is_planned_beside_its_errors_in_one_command) {
  const TemporaryFolder folder;
  const Ended ended = run_headroom(
      {"plan", source("configs/vit_cifar10.yaml"), "--jobs", "2", "--out", folder / "out"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string page_file = folder / "page.html";
  ASSERT_EQ(run_headroom({"report", folder / "out", "--out", page_file}).code, 0);
  const std::string page = read_text(page_file);
  const std::string table = ended.out.substr(ended.out.find("case "));
  std::set<std::string> published;
  for (const Cells& row : read_csv_rows(folder / "out")) {
    const std::string name = row.text("case");
    for (const std::string phase : {"run", "init"}) {
      const std::string figure = phase + "_peak_reserved_bytes";
      if (row.text("published_" + figure).empty()) continue;
      published.insert(name);
      const std::string error = fmt::format(
          "{:+.1f} %", 100.0 * (row.real(figure) / row.real("published_" + figure) - 1));
      EXPECT_NE(line_of(table, name).find(error), std::string::npos) << name << table;
      EXPECT_NE(page.find(error), std::string::npos) << name;
    }
  }
  // The table's rows 01 to 06, each as published and as it is today, 01.2, and two of init.
  EXPECT_EQ(published.size(), 15U);
}

}  // namespace
}  // namespace headroom
