// SPDX-License-Identifier: Apache-2.0
// What headroom says and writes is the same in every locale: with a decimal comma, and with a
// capital of "i" that is no "I".
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "tests/runner/program.h"

namespace headroom {
namespace {

/// Results, and all that the program prints of them, in one locale.
class Outputs {
 public:
  Outputs(const std::string& locale, const std::string& locales, const std::string& suite)
      : locale_(locale), locales_(locales), out_(folder_ / "results") {
    keep({"run", suite, "--out", out_});
    for (Rows rows = lasting_rows(out_); const auto& [name, row] : rows) {
      for (const auto& [column, cell] : row) {
        if (column != "environment_hash") kept_.push_back(column + "=" + cell);
      }
    }
    for (const std::string what : {"models", "techniques", "columns", "data", "gpus", "schema"}) {
      keep({"list", what});
    }
    for (const std::string format : {"table", "markdown", "json", "junit"}) {
      keep({"compare", out_, out_, "--format", format});
    }
    for (const std::string format :
         {"google_benchmark", "github_action", "bencher", "junit", "markdown"}) {
      keep({"export", out_, "--format", format});
    }
    keep({"verify", out_});
    keep({"run", "no such suite"});
    keep({"report", out_, "--out", folder_ / "report.html"});
    kept_.push_back(without_what_differs(read_text(folder_ / "report.html")));
  }

  const std::vector<std::string>& all() const { return kept_; }

 private:
  void keep(const std::vector<std::string>& arguments) {
    const Ended ended = run_program(arguments, [&] {
      setenv("LOCPATH", locales_.c_str(), 1);
      setenv("LC_ALL", locale_.c_str(), 1);
    });
    kept_.push_back(arguments[0] + " " + arguments[1].substr(arguments[1].rfind('/') + 1) + " " +
                    std::to_string(ended.code) + "\n" +
                    without_what_differs(ended.out + ended.err));
  }

  /// Without the path of the folder and the times at which things were done.
  std::string without_what_differs(const std::string& text) const {
    const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
    const std::regex times("TIME</bdi> to <bdi>TIME");  // of the first case and of the last
    const std::regex path(folder_.path().string());
    return std::regex_replace(
        std::regex_replace(std::regex_replace(text, path, "FOLDER"), time, "TIME"), times, "TIME");
  }

  TemporaryFolder folder_;
  std::string locale_;
  std::string locales_;
  std::string out_;
  std::vector<std::string> kept_;
};

TEST(Locale, changes_no_output) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"ok", "exit_3", "inactive", "nan_loss"}, "{}"));
  const Outputs plain("C", folder.path(), suite);
  for (const std::string name : {"de_DE", "tr_TR"}) {
    const std::string locale = name + ".UTF-8";
    const std::string made = "localedef -i " + name + " -f UTF-8 " + (folder / locale) + " > " +
                             (folder / "log") + " 2>&1";
    if (std::system(made.c_str()) != 0) GTEST_SKIP() << "no " << name << " can be made here";
    const Outputs other(locale, folder.path(), suite);
    ASSERT_EQ(other.all().size(), plain.all().size());
    for (std::size_t i = 0; i < plain.all().size(); ++i) {
      EXPECT_EQ(other.all()[i], plain.all()[i]) << name;
    }
  }
}

}  // namespace
}  // namespace headroom
