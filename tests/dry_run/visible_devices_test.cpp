// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/visible_devices.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

using List = std::vector<int>;

TEST(VisibleDevices, AreAllOfTheMachineWhereNobodySaysOtherwise) {
  EXPECT_EQ(visible_devices(3, std::nullopt), (List{0, 1, 2}));
}

TEST(VisibleDevices, AreCountedInTheOrderOfTheList) {
  EXPECT_EQ(visible_devices(4, "2,0"), (List{2, 0}));
  EXPECT_EQ(visible_devices(4, " 3 , 1"), (List{3, 1}));
  EXPECT_EQ(visible_devices(4, device_uuid_text(2) + ",1"), (List{2, 1}));
}

TEST(VisibleDevices, EndAtTheFirstEntryThatIsNoGpu) {
  EXPECT_EQ(visible_devices(4, "1,7,2"), (List{1}));
  EXPECT_EQ(visible_devices(4, "1,-1,2"), (List{1}));
  EXPECT_EQ(visible_devices(4, "1,,2"), (List{1}));
  EXPECT_EQ(visible_devices(4, "GPU-00,1"), (List{}));  // it begins the UUID of each
  EXPECT_EQ(visible_devices(4, "NoDevFiles"), (List{}));
  EXPECT_EQ(visible_devices(4, ""), (List{}));
  EXPECT_EQ(visible_devices(4, "1,2,1"), (List{}));
}

TEST(VisibleDevices, HaveUuidsOfTheirOwnThatReadAsTheirBytes) {
  EXPECT_EQ(device_uuid_text(0), "GPU-00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(device_uuid_text(18), "GPU-00000000-0000-0000-0000-000000000012");
  EXPECT_EQ(device_uuid(18).back(), 18);
}

}  // namespace
}  // namespace headroom::dry_run
