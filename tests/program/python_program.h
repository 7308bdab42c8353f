// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/program.h"

namespace headroom {

using Json = nlohmann::ordered_json;

/// Real programs of PyTorch, as their users write them, run dry: they know nothing of it.
class PythonProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (access(python().c_str(), X_OK) != 0 ||
        access(source(".deps/programs").c_str(), R_OK) != 0) {
      GTEST_SKIP() << "ci/bootstrap tests did not install what these programs need";
    }
    setenv(kHostPace, "6000", 1);  // where it is chosen, a program runs once
    // PyTorch is compiled once, and not by each program again.
    unsetenv("PYTHONDONTWRITEBYTECODE");
    setenv("PYTHONPYCACHEPREFIX", HEADROOM_BUILD_DIR "/pycache", 1);
  }
  void TearDown() override { unsetenv(kHostPace); }

  static constexpr const char* kHostPace = "HEADROOM_DRY_RUN_HOST_NS";

  static std::string python() { return source(".deps/python/bin/python3"); }
  static std::string path(const std::string& name) {
    return source("tests/dry_run/programs/" + name);
  }

  /// Runs Python dry, with `options` of plan.
  static Ended plan(std::vector<std::string> options, const std::vector<std::string>& arguments) {
    options.insert(options.begin(), "plan");
    options.insert(options.end(), {"--json", "--", "env",
                                   "PYTHONPATH=" + source(".deps/programs").string(), python()});
    options.insert(options.end(), arguments.begin(), arguments.end());
    return run_headroom(options);
  }

  /// A program of assertions.
  static void expect_to_hold(const std::string& program) {
    const Ended ended = plan({}, {"-c", program});
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
};

/// The number behind the last `word` that a program printed.
inline std::int64_t printed(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind(word + " ");
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + word.size()));
}

/// The peaks are those that the program printed itself, behind these words. `number`: of one of
/// several, "_3".
inline void expect_printed_peaks(const Json& process, const std::string& text,
                                 const std::string& number = "") {
  EXPECT_EQ(process["peak_allocated_bytes"], printed(text, "allocated" + number));
  EXPECT_EQ(process["peak_reserved_bytes"], printed(text, "reserved" + number));
}

}  // namespace headroom
