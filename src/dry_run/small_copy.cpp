// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_copy.h"

#include <c10/core/ScalarType.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

struct Side {
  c10::ScalarType type;
  std::size_t width;  // bytes of an element
};
struct Sides {
  Side from;
  Side to;
};

/// at::native::memory::LoadWithCast and StoreWithCast of one tensor: {its type, in a byte, bytes of
/// an element}.
Side side_of(const void* caster) {
  return {at<c10::ScalarType>(caster), at<std::uint32_t>(caster, 4)};
}

/// By the name of converting_copy_kernel_cuda<from, to>, which PyTorch has since 2.15; nothing: it
/// is another kernel, or of another type.
std::optional<Sides> sides_in(std::string_view name) {
  constexpr std::string_view kKernel = "27converting_copy_kernel_cudaI";
  const std::size_t types = name.find(kKernel) + kKernel.size();
  if (name.find(kKernel) == std::string_view::npos || types + 3 > name.size()) return std::nullopt;
  const auto from = type_named(name.substr(types, 1));
  const auto to = type_named(name.substr(types + 1, 1));
  if (!from || !to || name[types + 2] != 'E') return std::nullopt;
  return Sides{{*from, bytes_of_type(*from)}, {*to, bytes_of_type(*to)}};
}

/// Empty: a type is none that is followed.
Bytes converted(const Bytes& bytes, c10::ScalarType from, c10::ScalarType to) {
  const std::size_t width = bytes_of_type(from);
  const std::size_t new_width = bytes_of_type(to);
  if (width == 0 || new_width == 0) return {};
  Bytes result(bytes.size() / width * new_width);
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    convert(&bytes[i * width], from, &result[i * new_width], to);
  }
  return result;
}

}  // namespace

bool is_converting_copy(const char* name) {
  const std::string_view text(name);
  if (sides_in(text)) return true;
  return text.find("direct_copy_kernel_cuda") != std::string_view::npos &&
         text.find("12LoadWithCastILi1E") != std::string_view::npos;
}

void run_converting_copy(const char* name, void** arguments, KnownBytes& known) {
  const Elementwise launch(arguments);
  const auto named = sides_in(name);
  const auto [from, to] = named ? *named : Sides{side_of(arguments[5]), side_of(arguments[6])};
  Inputs inputs(known);
  Bytes bytes = inputs.bytes(launch.pointer(1), launch.count * from.width);
  const bool is_assumed = bytes.empty() && from.type == c10::ScalarType::Bool;
  if (is_assumed) bytes.assign(launch.count, 1);
  const Bytes result = converted(bytes, from.type, to.type);
  const std::size_t size = launch.count * to.width;
  if (result.size() != size) return known.forget(launch.pointer(0), size);
  Trust trust = inputs.trust();
  trust.is_assumed |= is_assumed;
  known.set(launch.pointer(0), result.data(), size, trust);
}

}  // namespace headroom::dry_run
