// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/report.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/torch_allocator.h"

namespace headroom::dry_run {
namespace {

class JsonObject {
 public:
  explicit JsonObject(std::FILE* file) : file_(file) { std::fputc('{', file_); }
  ~JsonObject() { std::fputs("}\n", file_); }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void number(const char* name, std::int64_t value) {
    std::fprintf(file_, "%s\"%s\": %" PRId64, comma(), name, value);
  }
  /// `value` needs no escapes: names of functions and GPUs.
  void text(const char* name, const std::string& value) {
    std::fprintf(file_, "%s\"%s\": \"%s\"", comma(), name, value.c_str());
  }

 private:
  const char* comma() {
    const char* separator = first_ ? "" : ", ";
    first_ = false;
    return separator;
  }

  std::FILE* file_;
  bool first_ = true;
};

void write(JsonObject& json, DryRun& device) {
  json.text("gpu", std::string(device.gpu.name));
  json.number("total_bytes", device.memory.total());
  json.number("context_bytes", device.gpu.context_bytes);
  json.number("peak_device_bytes", device.memory.peak_used());
  json.number("refused_bytes", device.memory.refused_bytes());
  json.number("free_when_refused_bytes", device.memory.free_when_refused());
  json.number("peak_pinned_bytes", device.pinned.peak_bytes());
  json.number("to_device_bytes", device.counters.to_device_bytes);
  json.number("to_host_bytes", device.counters.to_host_bytes);
  json.number("collective_bytes", device.counters.collective_bytes);
  json.number("launches", device.counters.launches);
  json.number("product_flops", device.counters.product_flops);
  json.number("device_time_ns", device.timeline.now_ns());
  json.number("undecided_questions", device.timeline.undecided_questions());
  json.text("not_modelled", not_modelled_functions());
  const TorchAllocator torch = read_torch_allocator();
  json.text("libtorch", torch.version);
  if (torch.is_known) {
    json.number("peak_allocated_bytes", torch.peak_allocated_bytes);
    json.number("peak_reserved_bytes", torch.peak_reserved_bytes);
    json.number("out_of_memory_errors", torch.out_of_memory_errors);
  }
}

}  // namespace

void write_report() {
  DryRun& device = dry_run();
  if (device.settings.report_folder.empty()) return;
  const std::string path = device.settings.report_folder + "/" + std::to_string(getpid()) + ".json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "headroom dry run: no report: %s can't be written\n", path.c_str());
    return;
  }
  {
    JsonObject json(file);
    write(json, device);
  }
  std::fclose(file);
}

}  // namespace headroom::dry_run
