// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/peak_holders.h"

#include <dlfcn.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/dry_run/dry_run.h"

namespace headroom {
extern const std::string_view kPeakHoldersScript;
}

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

bool is_watched() { return !settings().holders_folder.empty(); }

/// A function of the interpreter, which is in the program or in a library of it; null: there is
/// none.
template <class Function>
Function* python(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// With names of its own, so that the program's stay as they are.
std::string statement_of(std::string_view script) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : script) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return "__import__('builtins').exec(__import__('builtins').bytes.fromhex('" + hex +
         "'), {'__name__': 'headroom'})\n";
}

}  // namespace

void note_block(int device, const void* address, std::int64_t bytes) {
  if (!is_watched()) return;
  const std::lock_guard lock(blocks().mutex);
  blocks().by_device[device].push_back({address, bytes});
}

void begin_to_watch() {
  static std::atomic<bool> has_begun = false;
  if (!is_watched() || has_begun) return;
  auto* const is_initialized = python<int()>("Py_IsInitialized");
  auto* const may_run = python<int()>("PyGILState_Check");
  auto* const run = python<int(const char*, void*)>("PyRun_SimpleStringFlags");
  if (is_initialized == nullptr || may_run == nullptr || run == nullptr) return;
  if (is_initialized() == 0 || may_run() == 0 || has_begun.exchange(true)) return;
  run(statement_of(kPeakHoldersScript).c_str(), nullptr);
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
