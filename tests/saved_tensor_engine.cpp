// SPDX-License-Identifier: Apache-2.0
// The engine of saved tensors has to be there before the first backward, as in the worker.
#include <gtest/gtest.h>

#include "src/memory/saved_tensors.h"

namespace {

class SavedTensorEngine final : public testing::Environment {
 public:
  void SetUp() override { headroom::install_saved_tensor_hooks(); }
};

const testing::Environment* const kEngine =
    testing::AddGlobalTestEnvironment(new SavedTensorEngine);

}  // namespace
