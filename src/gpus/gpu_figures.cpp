// SPDX-License-Identifier: Apache-2.0
#include "src/gpus/gpu_figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <type_traits>

namespace headroom::dry_run {
namespace {

constexpr bool kMayBeZero = true;

/// The most that a member holds, and a double with it.
template <class Number>
constexpr double most_of() {
  constexpr double kMostWhole = 9'007'199'254'740'992;  // 2^53
  if (!std::is_integral_v<Number>) return std::numeric_limits<double>::max();
  return std::min(kMostWhole, static_cast<double>(std::numeric_limits<Number>::max()));
}

#define HEADROOM_GPU_FIGURE(name, member, may_be_zero)                                             \
  GpuFigure {                                                                                      \
    name, [](const Gpu& gpu) { return static_cast<double>(gpu.member); },                          \
        [](Gpu& gpu, double value) { gpu.member = static_cast<decltype(gpu.member)>(value); },     \
        most_of<decltype(Gpu{}.member)>(), std::is_integral_v<decltype(Gpu{}.member)>, may_be_zero \
  }

constexpr std::array kFigures{
    HEADROOM_GPU_FIGURE("memory_bytes", memory_bytes, false),
    HEADROOM_GPU_FIGURE("context_bytes", context_bytes, false),
    HEADROOM_GPU_FIGURE("capability_major", capability.major, false),
    HEADROOM_GPU_FIGURE("capability_minor", capability.minor, kMayBeZero),
    HEADROOM_GPU_FIGURE("capability_max_threads_per_multiprocessor",
                        capability.max_threads_per_multiprocessor, false),
    HEADROOM_GPU_FIGURE("capability_max_blocks_per_multiprocessor",
                        capability.max_blocks_per_multiprocessor, false),
    HEADROOM_GPU_FIGURE("capability_registers_per_multiprocessor",
                        capability.registers_per_multiprocessor, false),
    HEADROOM_GPU_FIGURE("capability_shared_memory_per_multiprocessor_bytes",
                        capability.shared_memory_per_multiprocessor_bytes, false),
    HEADROOM_GPU_FIGURE("capability_shared_memory_per_block_optin_bytes",
                        capability.shared_memory_per_block_optin_bytes, false),
    HEADROOM_GPU_FIGURE("multiprocessors", multiprocessors, false),
    HEADROOM_GPU_FIGURE("l2_bytes", l2_bytes, false),
    HEADROOM_GPU_FIGURE("memory_bus_bits", memory_bus_bits, false),
    HEADROOM_GPU_FIGURE("memory_clock_khz", memory_clock_khz, false),
    HEADROOM_GPU_FIGURE("memory_bytes_per_second", memory_bytes_per_second, false),
    HEADROOM_GPU_FIGURE("float64_flops", float64_flops, false),
    HEADROOM_GPU_FIGURE("float32_flops", float32_flops, false),
    HEADROOM_GPU_FIGURE("tensorfloat32_flops", tensorfloat32_flops, kMayBeZero),
    HEADROOM_GPU_FIGURE("float16_flops", float16_flops, kMayBeZero),
    HEADROOM_GPU_FIGURE("bfloat16_flops", bfloat16_flops, kMayBeZero),
    GpuFigure{"products_share", [](const Gpu& gpu) { return gpu.products.share; },
              [](Gpu& gpu, double value) { gpu.products.share = value; }, /*most=*/1,
              /*is_whole=*/false, /*may_be_zero=*/false},
    HEADROOM_GPU_FIGURE("products_start_ns", products.start_ns, false),
    GpuFigure{"products_plain_share", [](const Gpu& gpu) { return gpu.products.plain_share; },
              [](Gpu& gpu, double value) { gpu.products.plain_share = value; }, /*most=*/1,
              /*is_whole=*/false, /*may_be_zero=*/false},
    HEADROOM_GPU_FIGURE("power_limit_watts", power.limit_watts, kMayBeZero),
    HEADROOM_GPU_FIGURE("power_idle_watts", power.idle_watts, kMayBeZero),
    HEADROOM_GPU_FIGURE("power_joules_per_flop", power.joules_per_flop, kMayBeZero),
    HEADROOM_GPU_FIGURE("power_joules_per_byte", power.joules_per_byte, kMayBeZero),
    HEADROOM_GPU_FIGURE("host_bytes_per_second", host_bytes_per_second, false),
    HEADROOM_GPU_FIGURE("peer_bytes_per_second", peer_bytes_per_second, false),
};
#undef HEADROOM_GPU_FIGURE

std::string number_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

/// The value of a line "name=value"; nothing: no line has the name.
std::optional<std::string_view> value_in(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
      return line.substr(name.size() + 1);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return std::nullopt;
}

/// What was added holds its own texts, where pointers to it stay right.
struct AddedGpu {
  std::string name;
  std::string product;
  Gpu gpu;
};

std::deque<AddedGpu>& added() {
  static std::deque<AddedGpu> list;
  return list;
}

}  // namespace

std::span<const GpuFigure> gpu_figures() { return kFigures; }

std::string gpu_text(const Gpu& gpu) {
  std::string text = "name=" + std::string(gpu.name) + "\nproduct=" + gpu.product + "\n";
  for (const GpuFigure& figure : kFigures) {
    text += std::string(figure.name) + "=" + number_text(figure.of(gpu)) + "\n";
  }
  return text;
}

const Gpu* add_gpu(std::string_view text) {
  const auto name = value_in(text, "name");
  const auto product = value_in(text, "product");
  if (!name || !product) return nullptr;
  Gpu gpu{};
  for (const GpuFigure& figure : kFigures) {
    const auto value = value_in(text, figure.name);
    double number = 0;
    if (!value) return nullptr;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc{} || end != value->data() + value->size()) return nullptr;
    figure.set(gpu, number);
  }
  AddedGpu& kept = added().emplace_front(AddedGpu{std::string(*name), std::string(*product), gpu});
  kept.gpu.name = kept.name;
  kept.gpu.product = kept.product.c_str();
  return &kept.gpu;
}

const Gpu* added_gpu(std::string_view name) {
  const auto found = std::ranges::find(added(), name, &AddedGpu::name);
  return found == added().end() ? nullptr : &found->gpu;
}

const Gpu* find_gpu(std::string_view name) {
  if (const Gpu* gpu = added_gpu(name)) return gpu;
  const auto found = std::ranges::find(gpu_table(), name, &Gpu::name);
  return found == gpu_table().end() ? nullptr : &*found;
}

}  // namespace headroom::dry_run
