// SPDX-License-Identifier: Apache-2.0
#define USE_C10D_GLOO  // without it LibTorch's header is empty
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "src/distributed/backend.h"

namespace headroom {

BackendPointer make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                 int ranks) {
  const auto options = c10d::ProcessGroupGloo::Options::create(kNoTimeout);
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, ranks, options);
}

}  // namespace headroom
