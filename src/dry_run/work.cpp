// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/work.h"

#include <algorithm>

namespace headroom::dry_run {
namespace {

std::int64_t at_rate(double amount, double per_second) {
  return std::max(kShortestKernelNs, static_cast<std::int64_t>(amount * 1e9 / per_second));
}

}  // namespace

std::int64_t kernel_ns(const Gpu& gpu, std::int64_t threads) {
  return memory_ns(gpu, threads * kBytesPerThread);
}

std::int64_t memory_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), gpu.memory_bytes_per_second);
}

std::int64_t host_copy_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), gpu.host_bytes_per_second);
}

std::int64_t peer_copy_ns(const Gpu& gpu, std::int64_t bytes) {
  return at_rate(static_cast<double>(bytes), gpu.peer_bytes_per_second);
}

std::int64_t product_ns(const Gpu& gpu, std::int64_t flops, Precision precision) {
  return at_rate(static_cast<double>(flops), peak_flops(gpu, precision));
}

}  // namespace headroom::dry_run
