// SPDX-License-Identifier: Apache-2.0
#define USE_C10D_GLOO  // without it LibTorch's header is empty
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <sstream>

#include "src/core/error.h"
#include "src/distributed/backend.h"

namespace headroom {
namespace {

using Gloo = c10d::ProcessGroupGloo;

std::vector<std::shared_ptr<::gloo::transport::Device>> devices_of(const std::string& address) {
  if (address.empty()) return {Gloo::createDeviceForHostname("127.0.0.1")};
  const char* named = std::getenv("GLOO_SOCKET_IFNAME");
  if (named == nullptr || *named == '\0') return {Gloo::createDeviceForHostname(address)};
  std::vector<std::shared_ptr<::gloo::transport::Device>> devices;
  std::istringstream names(named);
  for (std::string name; std::getline(names, name, ',');) {
    try {
      devices.push_back(Gloo::createDeviceForInterface(name));
    } catch (const std::exception&) {
      throw Unsupported("GLOO_SOCKET_IFNAME: here is no interface '" + name + "' with an address");
    }
  }
  return devices;
}

}  // namespace

BackendPointer make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                 const std::string& address) {
  const auto options = Gloo::Options::create(kNoTimeout);
  options->devices = devices_of(address);
  return c10::make_intrusive<Gloo>(store, rank, ranks, options);
}

}  // namespace headroom
