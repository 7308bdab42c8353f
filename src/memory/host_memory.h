// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

// Host memory for what a technique moves off the device: page-locked beside a CUDA device. Beside
// the CPU device it is a second pool of the same RAM, mapped apart from LibTorch's CPU allocator,
// so that what was moved leaves the device's account and shows in the host's, as on a GPU. And the
// heap of the process.
namespace headroom {

/// An uninitialised host tensor, contiguous, for copies from and to that device. Its memory goes
/// back to the pool with the last reference.
/// Throws c10::Error where the system has no more memory.
at::Tensor host_buffer(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device);

/// One of `like`'s shape and dtype, for copies from and to `like.device()`. Its strides are those
/// of at::empty_like(): a copy between a device and other strides takes a second buffer there, and
/// what comes back in other strides runs through other kernels.
at::Tensor host_buffer_like(const at::Tensor& like);

/// From here on the buffers share their pages (src/core/shared_pages.h): for a plan, where no value
/// matters. The CUDA that is beside them must be one that pins memory by mmap(), as that of
/// src/dry_run.
void share_host_pool();

/// Bytes handed out now, and the most since the program started.
std::int64_t host_pool_bytes();
std::int64_t host_pool_peak_bytes();

/// Has glibc keep the pages of freed blocks below 32 MiB, as a caching allocator does on a GPU.
/// By default it returns them where the last block of the heap is free. Whether that is so in a
/// step depends on what else lies there, down to the length of a path: two builds of the same
/// source differed by 20 %. Larger blocks go back to the system at once, always. Does nothing where
/// the C library is another one.
void keep_freed_pages();

}  // namespace headroom
