// SPDX-License-Identifier: Apache-2.0
#include "src/worker/request.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "src/core/error.h"
#include "src/core/fields.h"
#include "src/memory/device_memory.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDescriptor = 3;

/// Where the ranks meet: a file of this machine, or a port of rank 0's.
void read_store(const Json& request, Membership& membership) {
  const auto store = request.find("store");
  if (store == request.end()) return;
  if (store->is_string()) {
    membership.store = store->get<std::string>();
    return;
  }
  membership.store_host = store->at("host").get<std::string>();
  membership.store_port = store->at("port").get<int>();
  membership.address = request.value("address", "");
}

/// Which rank this worker is, and its own device. How many there are is the case's.
void take_seat(const Json& request, Recipe& recipe) {
  recipe.membership.rank = request.value("rank", std::int64_t{0});
  recipe.membership.attempt = request.value("attempt", "");
  read_store(request, recipe.membership);
  if (!recipe.device.is_cuda() || recipe.membership.ranks == 1) return;
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  const std::int64_t devices = cuda.deviceCount();
  const std::int64_t rank = request.value("local_rank", recipe.membership.rank);
  if (devices == 0) return;  // said where memory is watched
  // A launcher may show each rank nothing but the GPU that is its own.
  const bool sees_its_own = request.contains("local_rank") && devices == 1;
  if (rank >= devices && !sees_its_own && recipe.train.backend != CollectiveBackend::gloo) {
    throw Unsupported("rank " + std::to_string(rank) + " needs a GPU of its own, here are " +
                      std::to_string(devices) + "; with train.backend=gloo ranks share them");
  }
  recipe.device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(rank % devices));
  cuda.setDevice(recipe.device);
}

}  // namespace

at::Device device_of(const Json& request) {
  if (request.at("device") != "cuda") return at::kCPU;
  require_cuda();  // LibTorch's own words for a missing one are long, and differ
  return {at::kCUDA, 0};
}

ModelOptions model_of(const Json& request) {
  ModelOptions options;
  read_fields(request.at("model"), "model", [&](Fields& f) { options.fields(f); });
  return options;
}

MeasureRequest read_measure_request(const Json& request) {
  const bool is_planned = request.value("planned", false);
  // What a GPU measures must not pass for a plan. Asked before there is a device.
  if (is_planned && dlsym(RTLD_DEFAULT, "headroom_dry_run_memory") == nullptr) {
    throw std::runtime_error("a plan runs dry, and the dry run's libcuda.so.1 was not loaded");
  }
  MeasureRequest result{.worker_case = read_case(request.at("case"), device_of(request)),
                        .snapshot = request.value("snapshot", "")};
  Recipe& recipe = result.worker_case.recipe;
  take_seat(request, recipe);
  recipe.computes = !is_planned;
  if (is_planned && recipe.membership.ranks > 1 &&
      recipe.train.backend == CollectiveBackend::gloo) {
    throw Unsupported(
        "a plan plays the other ranks of NCCL, none of gloo; allocated is as much "
        "with train.backend=nccl");
  }
  return result;
}

void Messages::progress(std::string_view phase, long step, long steps) const {
  send({{"event", "progress"}, {"phase", phase}, {"step", step}, {"steps", steps}});
}

void Messages::record(const nlohmann::ordered_json& record) const {
  send({{"event", "record"}, {"record", record}});
}

void Messages::send(nlohmann::ordered_json message) const {
  message["nonce"] = nonce_;
  // What libraries say of themselves (an error's text) may hold any bytes.
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t written = write(kDescriptor, line.data() + sent, line.size() - sent);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "to the runner");
    sent += static_cast<std::size_t>(written);
  }
}

}  // namespace headroom
