// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>

// The libraries that move bytes between ranks, made by LibTorch.
namespace headroom {

/// Longer than any case: waiting ends when the runner says so, never when a library does.
inline constexpr std::chrono::hours kNoTimeout{24 * 7};

using BackendPointer = c10::intrusive_ptr<c10d::Backend>;

/// gloo. Serves tensors on the CPU, and on CUDA by way of host memory. It listens on the interface
/// of `address`, or, as PyTorch does, on those that GLOO_SOCKET_IFNAME names; where `address` is
/// empty, since all ranks are on one machine, on the loopback interface alone. Throws Unsupported
/// where GLOO_SOCKET_IFNAME names an interface that is not there.
BackendPointer make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                 const std::string& address);

/// NCCL for one CUDA device a rank.
/// Throws Unsupported in a build without CUDA or without NCCL's header.
BackendPointer make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                 c10::Device device);

}  // namespace headroom
