// SPDX-License-Identifier: Apache-2.0
#include "src/worker/answer.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "models/inspect.h"
#include "src/core/error.h"
#include "src/core/read_fields.h"
#include "src/machine/hardware.h"
#include "src/machine/processes.h"
#include "src/memory/device_memory.h"
#include "src/worker/case.h"
#include "src/worker/inspection.h"
#include "src/worker/measure.h"
#include "src/worker/messages.h"
#include "src/worker/record.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Throws Unsupported where this build or machine lacks the device: LibTorch's own words for that
/// are long, and differ from call to call.
at::Device device_of(const Json& request) {
  if (request.at("device") != "cuda") return at::kCPU;
  require_cuda();
  return {at::kCUDA, 0};
}

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

void limit_memory(at::Device device, std::int64_t asked) {
  if (device.is_cuda()) {
    if (asked > 0) limit_cuda_memory(asked);
    return;
  }
  // Without a limit the kernel kills the process when memory ends, and nobody can tell why.
  const std::int64_t bytes = asked > 0 ? asked : available_host_bytes().value_or(0);
  if (bytes > 0) limit_host_memory(bytes);
}

Json measure_case(const Json& request, const Messages& messages) {
  WorkerCase measured = read_case(request.at("case"), device_of(request));
  take_seat(request, measured.recipe);
  measured.recipe.computes = !request.value("planned", false);
  const std::string snapshot = request.value("snapshot", "");
  limit_memory(measured.recipe.device, measured.limits.memory_bytes);
  if (!snapshot.empty()) start_snapshot(measured.recipe.device);
  const Measurement measurement = measure(measured, messages);
  if (!snapshot.empty()) write_snapshot(snapshot);
  return make_record(measured, measurement);
}

ModelOptions model_of(const Json& request) {
  ModelOptions options;
  read_fields(request.at("model"), "model", [&](Fields& f) { options.fields(f); });
  return options;
}

void run_forward(const Json& request) {
  forward({.model = model_of(request),
           .device = device_of(request),
           .weights = request.at("weights").get<std::string>(),
           .inputs = request.at("inputs").get<std::string>(),
           .output = request.at("output").get<std::string>()});
}

Json do_request(const Json& request, const Messages& messages) {
  const std::string kind = request.at("request").get<std::string>();
  if (kind == "measure") return measure_case(request, messages);
  Json result;
  if (kind == "doctor") {
    result = describe_hardware();
  } else if (kind == "inspect") {
    result = inspect_with_flops(
        model_of(request), {.image_size = request.at("image_size").get<std::int64_t>(),
                            .sequence_length = request.at("sequence_length").get<std::int64_t>()});
  } else if (kind == "forward") {
    run_forward(request);
  } else {
    throw ConfigError("no request '" + kind + "'");
  }
  return {{"status", "ok"}, {"reason", ""}, {"result", result}};
}

/// LibTorch's messages carry a C++ backtrace behind the first line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The CPU allocator throws a plain c10::Error.
bool is_out_of_memory(const c10::Error& error) {
  return std::string_view(error.what_without_backtrace()).find("can't allocate memory") !=
         std::string_view::npos;
}

}  // namespace

void answer(const Json& request) {
  const Messages messages(request.at("nonce").get<std::string>());
  messages.progress("start");
  Json record;
  try {
    record = do_request(request, messages);
  } catch (const Unsupported& error) {
    record = make_failure("unsupported", error.what());
  } catch (const PeerLost& error) {
    record = make_failure("failed", error.what());
    record["peer_lost"] = true;
  } catch (const ConfigError& error) {
    // Of a case the command line has checked what it could: what is left fails the case alone.
    record = make_failure(request.at("request") == "measure" ? "failed" : "invalid", error.what());
  } catch (const c10::OutOfMemoryError& error) {
    record = make_failure("out_of_memory", first_line(error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    record = make_failure("out_of_memory", "host: the system gives no more memory");
  } catch (const c10::Error& error) {
    record = make_failure(is_out_of_memory(error) ? "out_of_memory" : "failed",
                          first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    record = make_failure("failed", error.what());
  }
  messages.record(record);
}

}  // namespace headroom
