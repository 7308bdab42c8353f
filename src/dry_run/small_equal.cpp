// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_equal.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

/// The functors hold {0: ==, 1: !=} of two tensors, or {the same, number} of a tensor and a number.
bool asks_for_others(const Operands& operands) { return at<int>(operands.functor) == 1; }
bool is_with_number(const Operands& operands) { return operands.tensors.size() == 2; }

/// As the type that is compared can hold it.
double held_number(const Operands& operands) {
  double number = 0;
  with_type(operands.tensors[1].type, [&](auto zero) {
    using T = decltype(zero);
    number = static_cast<double>(at<T>(operands.functor, std::max(sizeof(T), sizeof(int))));
  });
  return number;
}

bool are_whole(const Operands::Tensor& tensor) {
  return c10::isIntegralType(tensor.type, /*includeBool=*/false);
}

/// The one of two tensors that is a few known numbers, each compared with many; nothing: it is
/// neither.
std::optional<std::size_t> few_known(const Operands& operands, const KnownBytes& known) {
  constexpr std::size_t kFew = 8 * sizeof(std::int64_t);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const Operands::Tensor& tensor = operands.tensors[i];
    const std::size_t reach = tensor.reach(operands.sizes);
    if (reach <= kFew && reach < operands.count * tensor.width &&
        !known.find(tensor.data, reach).empty()) {
      return i;
    }
  }
  return std::nullopt;
}

/// Whole numbers below a limit that nobody computed, compared with a few that are known: each is as
/// often one of these. False: there is no limit.
bool compare_below_limit(const Operands& operands, KnownBytes& known) {
  std::size_t compared = 1;
  const double number = is_with_number(operands) ? held_number(operands) : 0;
  if (!is_with_number(operands)) {
    const auto few = few_known(operands, known);
    if (!few) return false;
    compared = 3 - *few;
  }
  const auto limit = known.limit(operands.tensors[compared].data);
  if (!limit || number < 0 || number >= static_cast<double>(*limit)) return false;
  put_matches(known, operands.tensors[0].data, operands.count, *limit, asks_for_others(operands));
  return true;
}

/// A mask of which a share is known, compared with a number. False: it is not.
bool compare_share(const Operands& operands, KnownBytes& known) {
  const auto share = known.share(operands.tensors[1].data);
  if (!share || !is_with_number(operands)) return false;
  const bool asks_for_zeros = asks_for_others(operands) != (held_number(operands) == 0);
  known.set_share(operands.tensors[0].data, operands.count, asks_for_zeros ? 1 - *share : *share);
  return true;
}

/// Whether numbers that are not known are taken for equal: each to itself, none to infinity, and a
/// single one to none. Programs ask so whether a loss is finite, and ATen whether weights sum up to
/// 0. Nothing: they ask something else.
std::optional<bool> is_equal_by_itself(const Operands& operands) {
  const Operands::Tensor& self = operands.tensors[1];
  if (!is_with_number(operands)) {
    const Operands::Tensor& other = operands.tensors[2];
    const bool is_itself = self.data == other.data && self.strides == other.strides;
    return is_itself ? std::optional(true) : std::nullopt;
  }
  const bool is_single = operands.count == 1 && self.type != c10::ScalarType::Bool;
  return is_single || std::isinf(held_number(operands)) ? std::optional(false) : std::nullopt;
}

/// Whether a bool that nobody computed is the known one that torch.equal compares it with: as if it
/// were false, since ATen asks so whether it has found an error. Nothing: it asks something else.
std::optional<bool> is_equal_as_false(const Operands& operands, const KnownBytes& known) {
  if (operands.count != 1 || operands.tensors[1].type != c10::ScalarType::Bool) return std::nullopt;
  if (is_with_number(operands)) return std::nullopt;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const auto found = known.find(operands.tensors[i].data, 1);
    if (!found.empty()) return found[0] == 0;
  }
  return std::nullopt;
}

}  // namespace

/// Tokens, labels, lengths and places that nobody computed are none of the numbers that they are
/// compared with: texts that are made go on so until they are as long as they may be. What is
/// compared with 0 or 1 may be flags.
std::optional<bool> result_of_others(const Operands& operands, const KnownBytes& known) {
  if (!are_whole(operands.tensors[1])) return std::nullopt;
  const double number = is_with_number(operands) ? held_number(operands) : 0;
  const bool are_others =
      is_with_number(operands) ? number < 0 || number > 1 : few_known(operands, known).has_value();
  return are_others ? std::optional(asks_for_others(operands)) : std::nullopt;
}

bool guess_equal(const Operation&, const Operands& operands, KnownBytes& known) {
  if (compare_below_limit(operands, known)) return true;
  const char* const to = operands.tensors[0].data;
  if (const auto result = result_of_others(operands, known)) {
    return put_same(known, to, operands.count, *result), true;
  }
  if (compare_share(operands, known)) return true;
  auto is_equal = is_equal_as_false(operands, known);
  if (!is_equal) is_equal = is_equal_by_itself(operands);
  if (!is_equal) return false;
  known.fill(to, *is_equal != asks_for_others(operands) ? 1 : 0, operands.count, kAssumed);
  return true;
}

}  // namespace headroom::dry_run
