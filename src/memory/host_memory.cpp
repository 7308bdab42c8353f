// SPDX-License-Identifier: Apache-2.0
#include "src/memory/host_memory.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "src/core/shared_pages.h"

namespace headroom {
namespace {

/// Mapped buffers by size. A training step asks for the same sizes again and again, and a fresh
/// mapping costs a page fault every 4 KiB, so freed ones are kept.
class HostPool {
 public:
  void share() {
    const std::lock_guard lock(mutex_);
    shares_ = true;
  }
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& idle = idle_[bytes];
    if (idle.empty()) return map(bytes);
    void* address = idle.back();
    idle.pop_back();
    return address;
  }
  void give_back(void* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    idle_[bytes].push_back(address);
  }
  /// Of memory that LibTorch pinned, and will hand out again.
  void share_pinned(void* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!shares_ || shared_[address] >= bytes) return;
    share_pages(address, bytes);
    shared_[address] = bytes;
  }
  void count(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  std::int64_t used() {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  std::int64_t peak() {
    const std::lock_guard lock(mutex_);
    return peak_;
  }

 private:
  void* map(std::size_t bytes) const {
    void* address =
        shares_ ? map_shared_pages(bytes)
                : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK_WITH(OutOfMemoryError, address != MAP_FAILED, "host pool: can't map ", bytes,
                     " bytes");
    return address;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> idle_;
  bool shares_ = false;
  std::map<void*, std::size_t> shared_;  // pinned memory: bytes that share their pages
  std::int64_t used_ = 0;
  std::int64_t peak_ = 0;
};

HostPool& pool() {
  static auto* const the_pool = new HostPool;  // tensors may be freed after static destructors ran
  return *the_pool;
}

}  // namespace

at::Tensor host_buffer(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device) {
  const auto options = at::TensorOptions().dtype(dtype).device(at::kCPU);
  const auto bytes =
      c10::multiply_integers(sizes) * static_cast<std::int64_t>(c10::elementSize(dtype));
  if (bytes == 0) return at::empty(sizes, options);
  const auto size = static_cast<std::size_t>(bytes);
  at::Tensor pinned;
  void* address = nullptr;
  if (device.is_cuda()) {
    pinned = at::empty(sizes, options.pinned_memory(true));
    address = pinned.data_ptr();
    pool().share_pinned(address, size);
  } else {
    address = pool().take(size);
  }
  pool().count(bytes);
  const auto release = [pinned, size](void* freed) {
    pool().count(-static_cast<std::int64_t>(size));
    if (!pinned.defined()) pool().give_back(freed, size);
  };
  return at::from_blob(address, sizes, release, options);
}

at::Tensor host_buffer_like(const at::Tensor& like) {
  return host_buffer(like.sizes(), like.scalar_type(), like.device())
      .as_strided(like.sizes(), at::infer_dense_strides(like.sizes(), like.strides()));
}

void share_host_pool() { pool().share(); }

std::int64_t host_pool_bytes() { return pool().used(); }
std::int64_t host_pool_peak_bytes() { return pool().peak(); }

void keep_freed_pages() {
#ifdef __GLIBC__
  // The most that glibc takes, and where its own adaptation would end.
  constexpr int kLargestInHeap = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
  mallopt(M_TRIM_THRESHOLD, -1);  // never
#endif
}

}  // namespace headroom
