// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/failing_functions.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

// LibTorch 2.11 imports 460 functions that are not modelled. The last function stands in for
// all that are too many.
constexpr std::size_t kMost = 1024;

struct FailingNames {
  std::mutex mutex;
  std::array<std::string, kMost> list;
  std::size_t count = 0;
};

FailingNames& failing_names() {
  static auto& the_names = *new FailingNames;
  return the_names;
}

// A function has no more than its address to know its name by, so each is one of its own.
template <std::size_t index>
void fail_by_name() {
  not_modelled(failing_names().list[index].c_str());
}

using Function = void (*)();

template <std::size_t... indices>
constexpr std::array<Function, kMost> make_functions(std::index_sequence<indices...>) {
  return {&fail_by_name<indices>...};
}

constexpr std::array<Function, kMost> kFunctions =
    make_functions(std::make_index_sequence<kMost>());

}  // namespace

void* failing_function(const std::string& name) {
  FailingNames& all = failing_names();
  const std::lock_guard lock(all.mutex);
  const auto end = all.list.begin() + static_cast<std::ptrdiff_t>(all.count);
  const auto found = std::find(all.list.begin(), end, name);
  auto index = static_cast<std::size_t>(found - all.list.begin());
  if (found == end) {
    index = std::min(all.count, kMost - 1);
    all.count = index + 1;
    all.list[index] = index < kMost - 1 ? name : "one of too many functions";
  }
  return reinterpret_cast<void*>(kFunctions[index]);
}

}  // namespace headroom::dry_run
