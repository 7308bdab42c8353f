// SPDX-License-Identifier: Apache-2.0
#include "src/memory/snapshot.h"

#include "src/core/error.h"
#include "src/core/file.h"

#ifdef HEADROOM_CUDA
#include <ATen/Context.h>
#include <torch/csrc/cuda/memory_snapshot.h>
#endif

namespace headroom {

#ifdef HEADROOM_CUDA

namespace {

constexpr std::size_t kMostEvents = 1'000'000;  // the last ones; of 100 bytes or so each

}  // namespace

void start_snapshot(c10::Device device) {
  if (!device.is_cuda())
    throw Unsupported("a snapshot shows CUDA's allocator, not that of the CPU");
  at::globalContext().lazyInitDevice(at::kCUDA);
  torch::cuda::_record_memory_history("all", /*context=*/std::nullopt, "all", kMostEvents);
}

void write_snapshot(const std::string& path) {
  write_file_atomically(path, torch::cuda::_memory_snapshot_pickled());
}

#else

void start_snapshot(c10::Device) {
  throw Unsupported("this build has no CUDA, whose allocator a snapshot shows");
}
void write_snapshot(const std::string&) {}

#endif

}  // namespace headroom
