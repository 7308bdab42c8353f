// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_uniques.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kKeepOne = "DeviceSelectSweepKernel";
constexpr std::string_view kCountEach = "DeviceReduceByKeyKernelI";
// What follows these is the type.
constexpr std::string_view kNumbers = "PK";
constexpr std::string_view kPolicy = "policy_hubI";
constexpr std::string_view kPolicyOfCounts = "policy_hubIl";

/// Of what a kernel reads; a type that is a class stands where CUB's policy names it first.
std::optional<c10::ScalarType> type_read(std::string_view name) {
  for (const std::string_view before : {kNumbers, kPolicyOfCounts, kPolicy}) {
    if (const auto type = type_behind(name, before)) return type;
  }
  return std::nullopt;
}

/// What stands in a row, and how often.
struct Runs {
  Bytes firsts;
  Numbers lengths;
};

Runs runs_in(const Bytes& bytes, c10::ScalarType type) {
  Runs runs;
  const std::size_t width = bytes_of_type(type);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t at_byte = 0; at_byte < bytes.size(); at_byte += width) {
      const bool is_same =
          at_byte > 0 && at<T>(bytes.data(), at_byte) == at<T>(bytes.data(), at_byte - width);
      if (is_same) {
        ++runs.lengths.back();
        continue;
      }
      const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at_byte);
      runs.firsts.insert(runs.firsts.end(), first, first + static_cast<std::ptrdiff_t>(width));
      runs.lengths.push_back(1);
    }
  });
  return runs;
}

/// Where a kernel finds them, by the place among its arguments.
struct Places {
  std::size_t firsts;
  std::optional<std::size_t> lengths;
  std::size_t count;
  std::size_t elements;
};
constexpr Places kOfKeepOne{.firsts = 2, .lengths = {}, .count = 3, .elements = 7};
constexpr Places kOfCountEach{.firsts = 1, .lengths = 3, .count = 4, .elements = 9};

bool run_runs(c10::ScalarType type, void** arguments, const Places& places, KnownBytes& known,
              Owns owns) {
  if (!owns(pointer(arguments, 0)) || !owns(pointer(arguments, places.firsts)) ||
      !owns(pointer(arguments, places.count)) ||
      (places.lengths && !owns(pointer(arguments, *places.lengths)))) {
    return false;
  }
  const auto elements = static_cast<std::int64_t>(at<int>(arguments[places.elements]));
  const auto size = static_cast<std::size_t>(elements) * bytes_of_type(type);
  Inputs inputs(known);
  const Bytes bytes = inputs.bytes(pointer(arguments, 0), size);
  const bool is_known = !bytes.empty();
  const Runs runs = is_known ? runs_in(bytes, type) : Runs{{}, {elements}};
  const auto count = static_cast<std::int64_t>(runs.lengths.size());
  const Trust trust = is_known ? inputs.trust() : kAssumed;
  known.forget(pointer(arguments, places.firsts), size);
  known.set(pointer(arguments, places.firsts), runs.firsts.data(), runs.firsts.size(), trust);
  if (places.lengths) {
    known.set(pointer(arguments, *places.lengths), runs.lengths.data(),
              runs.lengths.size() * sizeof(runs.lengths[0]), trust);
  }
  known.set(pointer(arguments, places.count), &count, sizeof(count), trust);
  return true;
}

/// Where kernels find what they keep one of, by the place among their arguments.
struct Kept {
  std::vector<std::size_t> written;  // of 8 bytes an element
  std::size_t count;
  std::size_t elements;
  std::size_t count_bytes = 4;
};

bool run_distinct(const Kept& kept, void** arguments, KnownBytes& known, Owns owns) {
  const void* const count = pointer(arguments, kept.count);
  const std::uint64_t elements = at<std::uint32_t>(arguments[kept.elements]);
  if (!owns(count)) return false;
  for (const std::size_t place : kept.written) {
    if (!owns(pointer(arguments, place))) return false;
    known.forget(pointer(arguments, place), elements * sizeof(std::int64_t));
  }
  known.set(count, &elements, kept.count_bytes, kAssumed);
  return true;
}

bool keeps_one(std::string_view name) {
  return has(name, kKeepOne) && (has(name, "equal_to") || has(name, "8Equality")) &&
         type_read(name);
}
bool counts_each(std::string_view name) {
  return has(name, kCountEach) &&
         (has(name, "constant_iterator") || has(name, "ConstantInputIterator")) && type_read(name);
}

/// By which a kernel of Thrust's or CUB's keeps one of each of what counts for distinct: rows, or
/// the places of a sparse tensor's elements, which come as Thrust's pointers. Null: it is none.
const Kept* find_kept(std::string_view name) {
  static const Kept of_keys{.written = {2, 3}, .count = 4, .elements = 7};
  static const Kept of_keys_by_thrust{.written = {2, 3}, .count = 5, .elements = 6};
  static const Kept of_rows{.written = {2}, .count = 3, .elements = 7, .count_bytes = 8};
  static const Kept of_rows_by_thrust{.written = {1}, .count = 3, .elements = 4};
  const bool is_of_rows = has(name, "unique_dim_cuda_template");
  if (is_of_rows && has(name, kKeepOne)) return &of_rows;
  if (is_of_rows && has(name, "8__unique11UniqueAgentIPl")) return &of_rows_by_thrust;
  if (!is_of_rows && !has(name, "10device_ptrIlEE")) return nullptr;
  if (has(name, "DeviceUniqueByKeySweepKernel") && has(name, "PjN")) return &of_keys;
  if (has(name, "__unique_by_key16UniqueByKeyAgentI")) return &of_keys_by_thrust;
  return nullptr;
}

}  // namespace

bool is_unique(const char* name) {
  return keeps_one(name) || counts_each(name) || find_kept(name) != nullptr;
}

bool run_unique(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  if (const Kept* kept = find_kept(name)) return run_distinct(*kept, arguments, known, owns);
  const Places& places = counts_each(name) ? kOfCountEach : kOfKeepOne;
  return run_runs(*type_read(name), arguments, places, known, owns);
}

}  // namespace headroom::dry_run
