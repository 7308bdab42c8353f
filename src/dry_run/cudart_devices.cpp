// SPDX-License-Identifier: Apache-2.0
// cudart: which devices there are, which one a thread uses, and how they reach each other.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <string_view>

#include "src/dry_run/backward_thread.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/python_scripts.h"

namespace headroom::dry_run {
namespace {

/// GeForce cards don't read each other's memory: NVIDIA's driver keeps that for its other GPUs.
bool reaches_peers(const Gpu& gpu) {
  return std::string_view(gpu.product).find("GeForce") == std::string_view::npos;
}

}  // namespace

HEADROOM_ENTRY cudaError_t cudaGetDeviceCount(int* count) {
  run_python_scripts();
  *count = static_cast<int>(dry_run().devices.size());
  return *count > 0 ? cudaSuccess : fail(cudaErrorNoDevice);
}

HEADROOM_ENTRY cudaError_t cudaGetDevice(int* device) {
  let_backward_end();
  *device = current_device();
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaSetDevice(int device) {
  if (!dry_run().has(device)) return fail(cudaErrorInvalidDevice);
  set_current_device(device);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  if (!dry_run().has(device)) return fail(cudaErrorInvalidDevice);
  const int number = dry_run().devices[static_cast<std::size_t>(device)].number;
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", number);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!dry_run().has(device) || !dry_run().has(peer)) return fail(cudaErrorInvalidDevice);
  *can = device != peer && reaches_peers(dry_run().gpu) ? 1 : 0;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return dry_run().has(peer) ? cudaSuccess : fail(cudaErrorInvalidDevice);
}

}  // namespace headroom::dry_run
