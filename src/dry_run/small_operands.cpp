// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_operands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"

namespace headroom::dry_run {
namespace {

using Types = std::vector<c10::ScalarType>;

/// A byte for each.
Types types_at(const void* memory, std::size_t count) {
  Types types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(at<c10::ScalarType>(memory, i));
  return types;
}

/// vectorized_elementwise_kernel and unrolled_elementwise_kernel: one element behind the other. The
/// latter may convert: LoadWithCast and StoreWithCast begin with the types.
Operands of_places_in_a_row(std::string_view name, void** arguments, const Signature& signature) {
  const Elementwise launch(arguments);
  Types types = signature.types;
  if (name.find("LoadWithCast") != std::string_view::npos) {
    types = types_at(arguments[6], 1);
    const Types loaded = types_at(arguments[5], signature.types.size() - 1);
    types.insert(types.end(), loaded.begin(), loaded.end());
  }
  Operands operands{.count = launch.count,
                    .functor = launch.functor,
                    .sizes = {static_cast<std::uint32_t>(launch.count)},
                    .tensors = {}};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::size_t width = bytes_of_type(types[i]);
    operands.tensors.push_back({static_cast<const char*>(launch.pointer(i)),
                                types[i],
                                width,
                                {static_cast<std::uint32_t>(width)}});
  }
  return operands;
}

/// elementwise_kernel(int count, function of a place), which holds {OffsetCalculator, char*
/// data[tensors], functor} and, where it converts, {types[tensors]} behind these.
Operands of_strided_places(std::string_view name, void** arguments, const Signature& signature) {
  const void* const function = arguments[1];
  const std::size_t tensors = signature.types.size();
  const Offsets offsets(function, tensors);
  Operands operands{.count = static_cast<std::size_t>(at<int>(arguments[0])),
                    .functor = nullptr,
                    .sizes = {},
                    .tensors = {}};
  if (offsets.dimensions() > Offsets::kMost) return operands;
  for (std::size_t i = 0; i < offsets.dimensions(); ++i) operands.sizes.push_back(offsets.size(i));
  const std::size_t functor = whole_parts(Offsets::addresses(tensors) + tensors * sizeof(void*),
                                          signature.functor_alignment);
  operands.functor = static_cast<const char*>(function) + functor;
  const bool converts = name.find("22gpu_kernel_impl_nocast") == std::string_view::npos;
  const Types types =
      converts ? types_at(operands.functor, signature.functor_bytes + tensors) : signature.types;
  for (std::size_t i = 0; i < tensors; ++i) {
    const auto type = converts ? types[signature.functor_bytes + i] : types[i];
    Operands::Tensor tensor{offsets.address(i), type, bytes_of_type(type), {}};
    for (std::size_t dimension = 0; dimension < offsets.dimensions(); ++dimension) {
      tensor.strides.push_back(offsets.stride(dimension, i));
    }
    operands.tensors.push_back(std::move(tensor));
  }
  return operands;
}

}  // namespace

void convert(const void* from, c10::ScalarType from_type, void* to, c10::ScalarType to_type) {
  with_type(from_type, [&](auto source) {
    with_type(to_type, [&](auto target) {
      std::memcpy(&source, from, sizeof(source));
      target = static_cast<decltype(target)>(source);
      std::memcpy(to, &target, sizeof(target));
    });
  });
}

void put_numbers(KnownBytes& known, const void* to, const std::vector<std::int64_t>& numbers,
                 c10::ScalarType type, Trust trust) {
  const std::size_t width = bytes_of_type(type);
  std::vector<unsigned char> bytes(numbers.size() * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    convert(&numbers[i], c10::ScalarType::Long, &bytes[i * width], type);
  }
  known.set(to, bytes.data(), bytes.size(), trust);
}

void forget_one(KnownBytes& known, const void* at, c10::ScalarType type) {
  if (!c10::isFloatingType(type)) return known.forget(at, bytes_of_type(type));
  std::vector<unsigned char> one(bytes_of_type(type));
  const double number = 1;
  convert(&number, c10::ScalarType::Double, one.data(), type);
  known.guess(at, one.size(), one);
}

std::optional<c10::ScalarType> take_type(std::string_view& mangled) {
  struct Named {
    std::string_view mangled;
    c10::ScalarType type;
  };
  constexpr std::array kTypes{
      Named{"b", c10::ScalarType::Bool},
      Named{"h", c10::ScalarType::Byte},
      Named{"a", c10::ScalarType::Char},
      Named{"s", c10::ScalarType::Short},
      Named{"t", c10::ScalarType::UInt16},
      Named{"i", c10::ScalarType::Int},
      Named{"l", c10::ScalarType::Long},
      Named{"f", c10::ScalarType::Float},
      Named{"d", c10::ScalarType::Double},
      Named{"N3c104HalfE", c10::ScalarType::Half},
      Named{"N3c108BFloat16E", c10::ScalarType::BFloat16},
  };
  const auto begins = [&](const Named& named) { return mangled.starts_with(named.mangled); };
  const auto found = std::ranges::find_if(kTypes, begins);
  if (found == kTypes.end()) return std::nullopt;
  mangled.remove_prefix(found->mangled.size());
  return found->type;
}

std::optional<c10::ScalarType> type_named(std::string_view mangled) { return take_type(mangled); }

std::optional<c10::ScalarType> type_behind(std::string_view name, std::string_view part) {
  const std::size_t place = name.find(part);
  if (place == std::string_view::npos) return std::nullopt;
  return type_named(name.substr(place + part.size()));
}

std::size_t Operands::Tensor::reach(const std::vector<std::uint32_t>& sizes) const {
  std::size_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    last += static_cast<std::size_t>(sizes[i] - 1) * strides[i];
  }
  return last + width;
}

std::size_t Operands::offset(const Tensor& tensor, std::size_t element) const {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    offset += element % sizes[i] * tensor.strides[i];
    element /= sizes[i];
  }
  return offset;
}

std::optional<Operands> find_operands(std::string_view name, void** arguments,
                                      const Signature& signature) {
  const bool is_strided = name.find("18elementwise_kernelI") != std::string_view::npos;
  Operands operands = is_strided ? of_strided_places(name, arguments, signature)
                                 : of_places_in_a_row(name, arguments, signature);
  const std::size_t elements = std::accumulate(operands.sizes.begin(), operands.sizes.end(),
                                               std::size_t{1}, std::multiplies<>());
  const auto is_laid_out = [](const Operands::Tensor& tensor) {
    const auto fits = [&](std::uint32_t stride) { return stride % tensor.width == 0; };
    return tensor.width > 0 && std::ranges::all_of(tensor.strides, fits);
  };
  // Kernels convert what they read, to the type of their result.
  if (operands.tensors.empty() || operands.tensors[0].type != signature.types[0]) {
    return std::nullopt;
  }
  if (operands.count == 0 || elements != operands.count ||
      !std::ranges::all_of(operands.tensors, is_laid_out)) {
    return std::nullopt;
  }
  return operands;
}

}  // namespace headroom::dry_run
