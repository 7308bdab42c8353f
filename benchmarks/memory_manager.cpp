// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/memory_manager.h"

namespace headroom {

void MemoryManager::Start() {
  ledger_.emplace();
  memory_ = watch_cpu_memory(*ledger_);
}

void MemoryManager::Stop(Result& result) {
  result.max_bytes_used = ledger_->peak().bytes;
  result.net_heap_growth = ledger_->current_bytes();
  memory_.reset();
  ledger_.reset();
}

void MemoryManager::Stop(Result* result) { Stop(*result); }

}  // namespace headroom
