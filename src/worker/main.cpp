// SPDX-License-Identifier: Apache-2.0
// The worker: one request in, one record out. See docs/protocol.md.
#include <c10/util/Exception.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "models/inspect.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/machine/gpu_probe.h"
#include "src/machine/hardware.h"
#include "src/machine/processes.h"
#include "src/memory/device_memory.h"
#include "src/memory/host_memory.h"
#include "src/memory/refused_memory.h"
#include "src/memory/saved_tensors.h"
#include "src/worker/case.h"
#include "src/worker/flops.h"
#include "src/worker/measure.h"
#include "src/worker/record.h"
#include "src/worker/request.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Gives what it limits the host's memory to; nothing where it does not.
std::optional<std::int64_t> limit_memory(at::Device device, std::int64_t asked) {
  if (device.is_cuda()) {
    if (asked > 0) limit_cuda_memory(asked);
    return std::nullopt;
  }
  // Without a limit the kernel kills the process when memory ends, and nobody can tell why.
  const std::int64_t bytes = asked > 0 ? asked : available_host_bytes().value_or(0);
  if (bytes <= 0) return std::nullopt;
  return limit_host_memory(bytes);
}

Json measure_case(const Json& json, const Messages& messages) {
  const MeasureRequest request = read_measure_request(json);
  const WorkerCase& measured = request.worker_case;
  const auto host_limit = limit_memory(measured.recipe.device, measured.limits.memory_bytes);
  if (!request.snapshot.empty()) start_snapshot(measured.recipe.device);
  Measurement measurement = measure(measured, messages);
  const at::Device device = measured.recipe.device;
  if (measured.recipe.computes) {  // a plan's memory may be without end
    measurement.device_memory_bytes = device.is_cuda() ? gpu_memory_bytes(device) : host_limit;
  }
  if (!request.snapshot.empty()) write_snapshot(request.snapshot);
  return make_record(measured, measurement);
}

Json inspect_model(const Json& request) {
  return inspect_with_flops(model_of(request),
                            {.image_size = request.at("image_size").get<std::int64_t>(),
                             .sequence_length = request.at("sequence_length").get<std::int64_t>()});
}

Json run_forward(const Json& request) {
  forward({.model = model_of(request),
           .device = device_of(request),
           .weights = request.at("weights").get<std::string>(),
           .inputs = request.at("inputs").get<std::string>(),
           .output = request.at("output").get<std::string>()});
  return nullptr;
}

Json probe(const Json& request) {
  device_of(request);  // for its words where there is none
  probe_gpus(request.at("gpus").get<std::int64_t>());
  return nullptr;
}

/// The record of a request, whose kind says what is to be done.
Json do_request(const Json& request, const Messages& messages) {
  const std::string kind = request.at("request").get<std::string>();
  const auto with_result = [](const Json& result) {
    return Json{{"status", "ok"}, {"reason", ""}, {"result", result}};
  };
  if (kind == "measure") return measure_case(request, messages);
  if (kind == "doctor") return with_result(describe_hardware());
  if (kind == "probe") return with_result(probe(request));
  if (kind == "inspect") return with_result(inspect_model(request));
  if (kind == "forward") return with_result(run_forward(request));
  throw ConfigError("no request '" + kind + "'");
}

/// LibTorch's messages carry a C++ backtrace behind the first line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The CPU allocator throws a plain c10::Error.
bool is_out_of_memory(const c10::Error& error) {
  return std::string_view(error.what_without_backtrace()).find("can't allocate memory") !=
         std::string_view::npos;
}

/// Does what a request asks for and sends its record: the worker's one place that catches. Throws
/// only where the runner can't be told.
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
    record = make_failure("out_of_memory",
                          first_line(error.what_without_backtrace()) + free_when_refused());
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

/// LibTorch takes its tables apart at the end of a process, a quarter of the time of one that does
/// little. What was registered later still runs: the report of a dry run.
void end_without_destructors() {
  std::atexit([] {
    std::cout << std::flush;
    std::fflush(nullptr);
    _exit(0);
  });
}

}  // namespace
}  // namespace headroom

int main(int count, char** arguments) {
  headroom::open_standard_descriptors();
  if (count == 2 && std::string(arguments[1]) == "--catalog") {
    std::cout << headroom::make_catalog().dump(1) << "\n" << std::flush;
    return std::cout.good() ? 0 : 1;
  }
  if (count != 1) {
    std::cerr
        << "headroom-worker is started by headroom; by hand only: headroom-worker --catalog\n";
    return 2;
  }
  headroom::end_without_destructors();
  headroom::keep_freed_pages();
  headroom::install_saved_tensor_hooks();
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  headroom::answer(nlohmann::ordered_json::parse(text));
  return 0;
}
