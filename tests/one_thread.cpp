// SPDX-License-Identifier: Apache-2.0
// The tests run side by side: each with all cores would wait for the others' threads.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace {

class OneThread final : public testing::Environment {
 public:
  void SetUp() override { at::set_num_threads(1); }
};

const testing::Environment* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace
