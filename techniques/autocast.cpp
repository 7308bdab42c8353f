// SPDX-License-Identifier: Apache-2.0
#include "techniques/autocast.h"

#include <ATen/autocast_mode.h>

namespace headroom {
namespace {

void set(const AutocastState& state) {
  at::autocast::set_autocast_enabled(state.device, state.enabled);
  at::autocast::set_autocast_dtype(state.device, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.keeps_casts);
}

}  // namespace

AutocastState AutocastState::of_this_thread(c10::DeviceType device) {
  return {.device = device,
          .enabled = at::autocast::is_autocast_enabled(device),
          .dtype = at::autocast::get_autocast_dtype(device),
          .keeps_casts = at::autocast::is_autocast_cache_enabled()};
}

AutocastScope::AutocastScope(const AutocastState& state)
    : before_(AutocastState::of_this_thread(state.device)) {
  set(state);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  set(before_);
}

}  // namespace headroom
