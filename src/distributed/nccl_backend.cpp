// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/distributed/backend.h"

#ifdef HEADROOM_NCCL
#define USE_C10D_NCCL  // without it LibTorch's header is empty
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <cstdlib>
#endif

namespace headroom {

#ifdef HEADROOM_NCCL

BackendPointer make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                 c10::Device device) {
  // Its watchdog would end the process after minutes of its own choice.
  setenv("TORCH_NCCL_ENABLE_MONITORING", "0", /*overwrite=*/1);
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = kNoTimeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, ranks, options);
  backend->setBoundDeviceId(device);
  return backend;
}

#else

BackendPointer make_nccl_backend(const c10::intrusive_ptr<c10d::Store>&, int, int, c10::Device) {
  throw Unsupported("this build has no NCCL");
}

#endif

}  // namespace headroom
