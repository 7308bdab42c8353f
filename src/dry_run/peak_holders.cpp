// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/peak_holders.h"

#include <map>
#include <mutex>
#include <vector>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

struct Block {
  const void* address;
  std::int64_t bytes;
};

struct Blocks {
  std::mutex mutex;
  std::map<int, std::vector<Block>> by_device;
};

/// Never destroyed: the script reads them when the program ends.
Blocks& blocks() {
  static auto& all = *new Blocks;
  return all;
}

}  // namespace

void note_block(int device, const void* address, std::int64_t bytes) {
  if (settings().holders_folder.empty()) return;
  const std::lock_guard lock(blocks().mutex);
  blocks().by_device[device].push_back({address, bytes});
}

}  // namespace headroom::dry_run

// For the script.

/// All that was noted of a device, by its index; `count`: how many they are.
HEADROOM_ENTRY const headroom::dry_run::Block* headroom_dry_run_blocks(int device,
                                                                       std::int64_t* count) {
  auto& all = headroom::dry_run::blocks();
  const std::lock_guard lock(all.mutex);
  const auto& list = all.by_device[device];
  *count = static_cast<std::int64_t>(list.size());
  return list.data();
}

/// The number of the device in its machine.
HEADROOM_ENTRY int headroom_dry_run_number(int device) {
  return headroom::dry_run::dry_run().devices.at(static_cast<std::size_t>(device)).number;
}
