// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_arithmetic.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/dry_run/by_name.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_operations.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

/// What the tensors that are read hold; nothing: of one, nothing is known.
std::optional<std::vector<Bytes>> read_all(const Operands& operands, Inputs& inputs) {
  std::vector<Bytes> all;
  for (std::size_t i = 1; i < operands.tensors.size(); ++i) {
    const Operands::Tensor& tensor = operands.tensors[i];
    all.push_back(inputs.bytes(tensor.data, tensor.reach(operands.sizes)));
    if (all.back().empty()) return std::nullopt;
  }
  return all;
}

/// All elements of the result, as they lie.
Bytes computed(const Operation& operation, const Operands& operands,
               const std::vector<Bytes>& read) {
  constexpr std::size_t kWidest = 8;
  const std::size_t width = bytes_of_type(operation.computes_in);
  const Operands::Tensor& written = operands.tensors[0];
  Bytes result(written.reach(operands.sizes));
  alignas(kWidest) std::array<unsigned char, kWidest * Operands::kMost> values{};
  alignas(kWidest) std::array<unsigned char, kWidest> value{};
  for (std::size_t element = 0; element < operands.count; ++element) {
    for (std::size_t i = 0; i < read.size(); ++i) {
      const Operands::Tensor& tensor = operands.tensors[i + 1];
      convert(&read[i][operands.offset(tensor, element)], tensor.type, &values[i * width],
              operation.computes_in);
    }
    operation.compute(values.data(), operands.functor, value.data());
    convert(value.data(), operation.computes_in, &result[operands.offset(written, element)],
            written.type);
  }
  return result;
}

/// Whole numbers that nobody computed, compared with a few that are known: each is as often one of
/// these as its limit says, or none of them. Texts that are made go on so until they are as long as
/// they may be. False: both are known or none.
bool compare_with_few(const Operation&, const Operands& operands, KnownBytes& known) {
  constexpr std::size_t kFew = 8 * sizeof(std::int64_t);
  const auto is_known = [&](const Operands::Tensor& tensor) {
    const std::size_t reach = tensor.reach(operands.sizes);
    return reach <= kFew && !known.find(tensor.data, reach).empty();
  };
  const bool is_first = is_known(operands.tensors[1]);
  if (is_first == is_known(operands.tensors[2])) return false;
  const bool asks_for_others = at<int>(operands.functor) == 1;
  const char* const to = operands.tensors[0].data;
  if (const auto limit = known.limit(operands.tensors[is_first ? 2 : 1].data)) {
    put_matches(known, to, operands.count, *limit, asks_for_others);
  } else {
    known.fill(to, asks_for_others ? 1 : 0, operands.count, kAssumed);
  }
  return true;
}

/// A number that nobody computed is taken for at least 0, where a program asks: torch.normal() does
/// of the smallest deviation. False: another question.
bool compare_with_zero(const Operation& operation, const Operands& operands, KnownBytes& known) {
  constexpr int kAtLeast = 0;
  constexpr int kLess = 3;
  if (operands.count != 1) return false;
  const auto which = at<int>(operands.functor);
  const Bytes of_zero = computed(operation, operands, {Bytes(operands.tensors[1].width, 0)});
  if (!(which == kAtLeast && of_zero[0] == 1) && !(which == kLess && of_zero[0] == 0)) return false;
  known.fill(operands.tensors[0].data, of_zero[0], 1, kAssumed);
  return true;
}

/// Numbers made of bools that nobody computed: a mask, of which all counts for kept. False: of
/// others.
bool count_for_kept(const Operation& operation, const Operands& operands, KnownBytes& known) {
  const Operands::Tensor& written = operands.tensors[0];
  if (operands.tensors[1].type != c10::ScalarType::Bool || written.type == c10::ScalarType::Bool) {
    return false;
  }
  const Bytes ones(operands.tensors[1].reach(operands.sizes), 1);
  const Bytes result = computed(operation, operands, {ones});
  known.set(written.data, result.data(), result.size(), kAssumed);
  return true;
}

/// Numbers that nobody computed read as zeros; as the least that they may be, where that is more:
/// programs keep so sizes and divisors above 0. False: 0 is in the range.
bool keep_in_range(const Operation& operation, const Operands& operands, KnownBytes& known) {
  constexpr std::size_t kMostElements = 4096;
  if (operands.count > kMostElements) return false;
  const Bytes zeros(operands.tensors[1].reach(operands.sizes));
  const Bytes result = computed(operation, operands, {zeros});
  if (std::ranges::all_of(result, [](unsigned char byte) { return byte == 0; })) return false;
  known.set(operands.tensors[0].data, result.data(), result.size(), kAssumed);
  return true;
}

/// Whole numbers leave nothing where they are divided by 1, whatever they are: torch.distributions
/// asks so whether a sample is one. False: another divisor.
bool leave_nothing(const Operation& operation, const Operands& operands, KnownBytes& known) {
  bool is_one = false;
  with_type(operation.computes_in, [&](auto zero) {
    using T = decltype(zero);
    is_one = std::is_integral_v<T> && at<T>(operands.functor, sizeof(T)) == T{1};
  });
  const Operands::Tensor& written = operands.tensors[0];
  if (is_one) known.fill(written.data, 0, written.reach(operands.sizes));
  return is_one;
}

/// One of two masks of which shares are known: whoever draws from what is left by the other chooses
/// none twice. False: one's is not known.
bool join_shares(const Operation&, const Operands& operands, KnownBytes& known) {
  if (operands.tensors.size() != 3) return false;
  const Operands::Tensor& written = operands.tensors[0];
  const std::size_t size = written.reach(operands.sizes);
  if (written.width != 1) return false;
  const auto one = known.share_of_bytes(operands.tensors[1].data, size);
  const auto other = known.share_of_bytes(operands.tensors[2].data, size);
  if (!one || !other) return false;
  known.set_share(written.data, size, std::min(1.0, *one + *other));
  return true;
}

/// What is said of a result where some of what it is made of is not known. False: nothing is.
using Guess = bool (*)(const Operation&, const Operands&, KnownBytes&);

/// Null: there is none.
Guess guess_of(std::string_view name) {
  if (has(name, "13BinaryFunctorIllbNS0_") && has(name, "16CompareEqFunctorI")) {
    return &compare_with_few;
  }
  if (has(name, "21compare_scalar_kernelI")) return &compare_with_zero;
  if (has(name, "23direct_copy_kernel_cuda") || has(name, "27converting_copy_kern")) {
    return &count_for_kept;
  }
  if (has(name, "19launch_clamp_scalar")) return &keep_in_range;
  if (has(name, "13BUnaryFunctorI") && has(name, "21remainder_kernel_cuda")) return &leave_nothing;
  return has(name, "16BitwiseOrFunctorI") ? &join_shares : nullptr;
}

struct Arithmetic {
  const Operation* operation = nullptr;  // null: it is none that is followed
  Guess guess = nullptr;
};

Arithmetic find_arithmetic(std::string_view name) { return {find_operation(name), guess_of(name)}; }

/// A result of so many bytes that has gaps: what stands in these stays.
void write_apart(const Operation& operation, const Operands& operands, std::size_t size,
                 KnownBytes& known) {
  constexpr std::size_t kMostElements = 1024;
  const Operands::Tensor& written = operands.tensors[0];
  if (operands.count > kMostElements) return known.forget(written.data, size);
  Inputs inputs(known);
  const auto read = read_all(operands, inputs);
  const Bytes result = read ? computed(operation, operands, *read) : Bytes(size);
  for (std::size_t i = 0; i < operands.count; ++i) {
    const std::size_t place = operands.offset(written, i);
    put(known, written.data + place, {&result[place], written.width, read.has_value()}, inputs);
  }
}

}  // namespace

bool run_arithmetic(std::string_view name, void** arguments, KnownBytes& known,
                    bool (*owns)(const void* address)) {
  // So much is never known, and what follows takes its time.
  if (at<std::uint32_t>(arguments[0]) > KnownBytes::kMaxBytes) return false;
  static auto& known_names = *new ByName<Arithmetic>(&find_arithmetic);
  const auto& [operation, guess] = known_names(name);
  if (operation == nullptr) return false;
  const auto operands = find_operands(name, arguments, operation->signature);
  if (!operands) return false;
  const auto is_owned = [&](const auto& tensor) { return owns(tensor.data); };
  if (!std::ranges::all_of(operands->tensors, is_owned)) return false;
  const Operands::Tensor& written = operands->tensors[0];
  const std::size_t size = written.reach(operands->sizes);
  if (size != operands->count * written.width) {
    write_apart(*operation, *operands, size, known);
    return true;
  }
  Inputs inputs(known);
  if (size > KnownBytes::kMaxBytes) return known.forget(written.data, size), true;
  const auto read = read_all(*operands, inputs);
  if (read) {
    const Bytes result = computed(*operation, *operands, *read);
    known.set(written.data, result.data(), size, inputs.trust());
  } else if (guess == nullptr || !guess(*operation, *operands, known)) {
    known.forget(written.data, size);
  }
  return true;
}

}  // namespace headroom::dry_run
