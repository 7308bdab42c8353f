// SPDX-License-Identifier: Apache-2.0
#include "src/runner/step_time.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Two steps: what they take together, by hosts that are fast, usual and slow, and what the device
/// does in them.
Json report(std::array<double, 3> ns, double product, double memory, double peer_link) {
  return {{"timed_steps", 2},
          {"steps_fast_host_ns", ns[0]},
          {"steps_ns", ns[1]},
          {"steps_slow_host_ns", ns[2]},
          {"steps_product_ns", product},
          {"steps_attention_ns", 0},
          {"steps_memory_ns", memory},
          {"steps_host_link_ns", 0},
          {"steps_peer_link_ns", peer_link}};
}

TEST(StepTime, is_that_of_a_step_and_as_doubtful_as_its_parts) {
  EXPECT_FALSE(step_time_of({{"timed_steps", 0}}));
  const auto products = step_time_of(report({2000, 2000, 2000}, 2000, 0, 0));
  EXPECT_EQ(products->estimate_ns, 1000);
  EXPECT_NEAR(static_cast<double>(products->upper_ns), 1.25 * 1170, 1);
  EXPECT_NEAR(static_cast<double>(products->lower_ns), 854, 1);
  // The device waits for the host, which is in no doubt: it is faster or slower.
  const auto waits = step_time_of(report({1600, 2000, 4000}, 1000, 500, 0));
  const double doubt = (0.17 * 1000 + 0.25 * 500) / 2;  // in nanoseconds of a step
  EXPECT_EQ(waits->estimate_ns, 1000);
  EXPECT_NEAR(static_cast<double>(waits->upper_ns), 1.25 * (2000 + doubt), 1);
  EXPECT_NEAR(static_cast<double>(waits->lower_ns), 800 / (1 + doubt / 800), 1);
  // Beside the products another stream sends: together they are busy for longer than the steps.
  const auto beside = step_time_of(report({2000, 2000, 2000}, 2000, 0, 2000));
  EXPECT_EQ(beside->estimate_ns, 1000);
  EXPECT_NEAR(static_cast<double>(beside->upper_ns), 1.25 * (1000 + 1000 * (0.17 + 0.3) / 2), 1);
}

}  // namespace
}  // namespace headroom
