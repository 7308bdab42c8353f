// SPDX-License-Identifier: Apache-2.0
// LibTorch's ProcessGroupGloo.hpp includes gloo's headers, which LibTorch does not ship: gloo
// itself lies inside libtorch_cpu. These declare what that one header names, no more. Nothing here
// is called, made or derived from by this project; GlooStore, in LibTorch's header, derives from
// Store and is made inside LibTorch alone. Source: gloo's headers of the same names, as
// PyTorch 2.11 pins them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class Device;
class UnboundBuffer {
 public:
  virtual ~UnboundBuffer();
};
}  // namespace transport

namespace rendezvous {
class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::vector<char>& data) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
    wait(keys);
  }
  virtual bool has_v2_support() { return false; }
  virtual std::vector<std::vector<char>> multi_get(const std::vector<std::string>&) { return {}; }
  virtual void multi_set(const std::vector<std::string>&, const std::vector<std::vector<char>>&) {}
  virtual void append(const std::string&, const std::vector<char>&) {}
  virtual std::int64_t add(const std::string&, std::int64_t) { return 0; }
};
}  // namespace rendezvous

}  // namespace gloo
