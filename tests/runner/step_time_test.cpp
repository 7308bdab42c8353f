// SPDX-License-Identifier: Apache-2.0
#include "src/runner/step_time.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Two steps: what they take together, and what the device does in them.
Json report(double ns, double product, double memory, double peer_link) {
  return {{"timed_steps", 2},
          {"steps_ns", ns},
          {"steps_product_ns", product},
          {"steps_attention_ns", 0},
          {"steps_memory_ns", memory},
          {"steps_host_link_ns", 0},
          {"steps_peer_link_ns", peer_link}};
}

TEST(StepTime, is_that_of_a_step_and_as_doubtful_as_its_parts) {
  EXPECT_FALSE(step_time_of({{"timed_steps", 0}}));
  const auto products = step_time_of(report(2000, 2000, 0, 0));
  EXPECT_EQ(products->estimate_ns, 1000);
  EXPECT_NEAR(static_cast<double>(products->upper_ns), 1.25 * 1170, 1);
  EXPECT_NEAR(static_cast<double>(products->lower_ns), 854, 1);
  // A quarter of the time the device waits for the host.
  const auto waits = step_time_of(report(2000, 1000, 500, 0));
  EXPECT_NEAR(static_cast<double>(waits->upper_ns),
              1.25 * (1000 + 1000 * (0.5 * 0.17 + 0.25 * 0.25 + 0.25 * 0.5)), 1);
  // Beside the products another stream sends: together they are busy for longer than the steps.
  const auto beside = step_time_of(report(2000, 2000, 0, 2000));
  EXPECT_EQ(beside->estimate_ns, 1000);
  EXPECT_NEAR(static_cast<double>(beside->upper_ns),
              1.25 * (1000 + 1000 * (0.17 + 0.3) / 2), 1);
}

}  // namespace
}  // namespace headroom
