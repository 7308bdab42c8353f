// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_masked.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kPlacesInSource = "11CountMaskOpE";
constexpr std::string_view kMaskedScatter = "28launch_masked_scatter_kernelE";

/// By a lambda's parameters, which are the element, whether it is replaced, and by which.
std::optional<c10::ScalarType> masked_type(std::string_view name) {
  const std::size_t kernel = name.find(kMaskedScatter);
  const std::size_t lambda = kernel == name.npos ? kernel : name.find("EUl", kernel);
  if (lambda == name.npos) return std::nullopt;
  std::string_view parameters = name.substr(lambda + 3);
  const auto type = take_type(parameters);
  return parameters.starts_with("blE_") ? type : std::nullopt;
}

/// (mask, places, -, -, -, -, how many): how many of the mask hold before each.
bool run_places_in_source(void** arguments, KnownBytes& known, Owns owns) {
  const void* const mask = first_element(arguments[0], owns);
  const void* const to = pointer(arguments, 1);
  const std::size_t count = at<std::uint32_t>(arguments[6]);
  if (mask == nullptr || !owns(to) || count == 0) return false;
  Inputs inputs(known);
  Numbers places;
  std::int64_t before = 0;
  for (const unsigned char each : inputs.bytes(mask, count)) {
    places.push_back(before);
    before += each == 0 ? 0 : 1;
  }
  put(known, to, {places.data(), count * sizeof(before), !places.empty()}, inputs);
  return true;
}

/// What is written, what stands there, the mask, the places in the source, which the functor holds.
bool run_replacement(c10::ScalarType type, const Operands& operands, KnownBytes& known) {
  const auto& [written, old, mask, place] = std::array<Operands::Tensor, Operands::kMost>{
      operands.tensors[0], operands.tensors[1], operands.tensors[2], operands.tensors[3]};
  const std::size_t width = bytes_of_type(type);
  const std::size_t reach = written.reach(operands.sizes);
  const auto* source = at<const char*>(operands.functor);
  if (reach > KnownBytes::max_bytes(width)) return known.forget(written.data, reach), true;
  Elements kept(known, old.data, old.reach(operands.sizes));
  Elements masks(known, mask.data, mask.reach(operands.sizes));
  Elements places(known, place.data, place.reach(operands.sizes));
  Elements taken(known, source, operands.count * width);
  Writes writes(written.data, reach);
  for (std::size_t i = 0; i < operands.count; ++i) {
    const unsigned char* value = nullptr;
    const unsigned char* const is_replaced = masks.at(operands.offset(mask, i), 1);
    if (is_replaced != nullptr && *is_replaced == 0) {
      value = kept.at(operands.offset(old, i), width);
    } else if (is_replaced != nullptr) {
      const unsigned char* const found = places.at(operands.offset(place, i), sizeof(std::int64_t));
      const auto number = found == nullptr ? operands.count : at<std::size_t>(found);
      if (number < operands.count) value = taken.at(number * width, width);
    }
    const std::size_t to = operands.offset(written, i);
    if (value == nullptr) {
      writes.forget(to, width);
    } else {
      writes.put(to, value, width);
    }
  }
  Trust trust = masks.trust();
  for (const Elements* each : {&kept, &places, &taken}) join(trust, each->trust());
  writes.tell(known, trust);
  return true;
}

}  // namespace

bool is_masked_scatter(const char* name) {
  if (has(name, kPlacesInSource)) return has(name, "DeviceScanKernelI");
  return has(name, "elementwise_kernelI") && masked_type(name).has_value();
}

bool run_masked_scatter(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (has(name, kPlacesInSource)) return run_places_in_source(arguments, known, owns);
  const c10::ScalarType type = *masked_type(name);
  const auto operands =
      find_operands(name, arguments,
                    {.types = {type, type, c10::ScalarType::Bool, c10::ScalarType::Long},
                     .functor_bytes = sizeof(void*),
                     .functor_alignment = alignof(void*)});
  if (!operands || !owns(at<const void*>(operands->functor))) return false;
  const auto is_owned = [&](const auto& tensor) { return owns(tensor.data); };
  if (!std::ranges::all_of(operands->tensors, is_owned)) return false;
  return run_replacement(type, *operands, known);
}

}  // namespace headroom::dry_run
