// SPDX-License-Identifier: Apache-2.0
// The tests run side by side: each with all cores would wait for the others' threads. Their
// processor is used as a worker's.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "src/core/hidden_tiles.h"

namespace headroom {
namespace {

class OneThread final : public testing::Environment {
 public:
  void SetUp() override {
    at::set_num_threads(1);
    do_without_hidden_tiles();
  }
};

const testing::Environment* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace
}  // namespace headroom
