// SPDX-License-Identifier: Apache-2.0
#include "src/runner/worker_end.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(WorkerEnd, is_told_as_it_was) {
  for (const WorkerEnd& end :
       {WorkerEnd{}, WorkerEnd{{3, 0}}, WorkerEnd{{0, 11}}, WorkerEnd{{0, 9}, true}}) {
    EXPECT_EQ(read_worker_end(to_text(end)), end);
  }
}

TEST(WorkerEnd, of_a_stranger_is_none) {
  for (const char* text : {"", "{}", "7", "\xff", R"({"exit_status": 0, "signal": 0})",
                           R"({"exit_status": "0", "signal": 0, "killed_for_memory": false})",
                           R"({"exit_status": 256, "signal": 0, "killed_for_memory": false})",
                           R"({"exit_status": 0, "signal": -1, "killed_for_memory": false})",
                           R"({"exit_status": 0, "signal": 65, "killed_for_memory": false})",
                           R"({"exit_status": 0, "signal": 0, "killed_for_memory": 1})"}) {
    EXPECT_FALSE(read_worker_end(text)) << text;
  }
}

}  // namespace
}  // namespace headroom
