// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_copy.h"

#include <c10/core/ScalarType.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_types.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

/// at::native::memory::LoadWithCast and StoreWithCast of one tensor: {its type, in a byte, bytes of
/// an element}.
c10::ScalarType type_of(const void* caster) { return at<c10::ScalarType>(caster); }
std::size_t width_of(const void* caster) { return at<std::uint32_t>(caster, 4); }

/// Empty: a type is none that is followed.
Bytes converted(const Bytes& bytes, c10::ScalarType from, c10::ScalarType to) {
  Bytes result;
  with_type(from, [&](auto source) {
    with_type(to, [&](auto target) {
      using Target = decltype(target);
      for (std::size_t place = 0; place < bytes.size(); place += sizeof(source)) {
        std::memcpy(&source, bytes.data() + place, sizeof(source));
        target = static_cast<Target>(source);
        const auto* first = reinterpret_cast<const unsigned char*>(&target);
        result.insert(result.end(), first, first + sizeof(target));
      }
    });
  });
  return result;
}

}  // namespace

bool is_converting_copy(const char* name) {
  const std::string_view text(name);
  return text.find("direct_copy_kernel_cuda") != std::string_view::npos &&
         text.find("12LoadWithCastILi1E") != std::string_view::npos;
}

void run_converting_copy(void** arguments, KnownBytes& known) {
  const Elementwise launch(arguments);
  const void* const load = arguments[5];
  const void* const store = arguments[6];
  Inputs inputs(known);
  Bytes bytes = inputs.bytes(launch.pointer(1), launch.count * width_of(load));
  const bool is_assumed = bytes.empty() && type_of(load) == c10::ScalarType::Bool;
  if (is_assumed) bytes.assign(launch.count, 1);
  const Bytes result = converted(bytes, type_of(load), type_of(store));
  const std::size_t size = launch.count * width_of(store);
  if (result.size() != size) return known.forget(launch.pointer(0), size);
  known.set(launch.pointer(0), result.data(), size, is_assumed || inputs.is_assumed());
}

}  // namespace headroom::dry_run
