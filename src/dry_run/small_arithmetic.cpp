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
#include "src/dry_run/small_equal.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_operations.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::string_view kEqual = "16CompareEqFunctorI";

/// What the tensors that are read hold.
std::vector<PartlyKnown> read_all(const Operands& operands, Inputs& inputs) {
  std::vector<PartlyKnown> all;
  for (std::size_t i = 1; i < operands.tensors.size(); ++i) {
    const Operands::Tensor& tensor = operands.tensors[i];
    all.push_back(inputs.partly(tensor.data, tensor.reach(operands.sizes)));
  }
  return all;
}

/// One element: what an operation takes, and makes of it.
class OfElement {
 public:
  OfElement(const Operation& operation, const void* functor)
      : operation_(operation), functor_(functor), width_(bytes_of_type(operation.computes_in)) {}

  void take(std::size_t input, const void* from, c10::ScalarType type) {
    convert(from, type, &values_[input * width_], operation_.computes_in);
  }
  void take_number(std::size_t input, int number) {
    with_type(operation_.computes_in, [&](auto zero) {
      zero = static_cast<decltype(zero)>(number);
      std::memcpy(&values_[input * width_], &zero, sizeof(zero));
    });
  }
  /// All of its bits, or one where it is a float, which stands for a bool.
  void take_bits(std::size_t input) {
    take_number(input, c10::isFloatingType(operation_.computes_in) ? 1 : -1);
  }
  void compute() { operation_.compute(values_.data(), functor_, value_.data()); }
  /// Computes it. False: it is another one where inputs that are not known are, which are bits.
  bool decide(unsigned unknown) {
    Value first{};
    for (unsigned ones = 0; ones <= unknown; ++ones) {
      if ((ones & ~unknown) != 0) continue;
      for (std::size_t i = 0; unknown >> i != 0; ++i) {
        if ((ones >> i & 1) != 0) {
          take_bits(i);
        } else if ((unknown >> i & 1) != 0) {
          take_number(i, 0);
        }
      }
      compute();
      if (ones == 0) first = value_;
      if (value_ != first) return false;
    }
    return true;
  }
  void give(void* to, c10::ScalarType type) const {
    convert(value_.data(), operation_.computes_in, to, type);
  }

 private:
  static constexpr std::size_t kWidest = 8;
  using Value = std::array<unsigned char, kWidest>;

  const Operation& operation_;
  const void* functor_;
  std::size_t width_;
  alignas(kWidest) std::array<unsigned char, kWidest * Operands::kMost> values_{};
  alignas(kWidest) Value value_{};
};

/// The result's elements, as they lie.
struct Computed {
  PartlyKnown bytes;
  bool is_guessed = false;  // some of them, by numbers that stand for what is not known
};

/// `stand_in`: the number that is taken for elements that are not known; what becomes 0 by it is
/// not known either. Nothing: there is none.
Computed computed(const Operation& operation, const Operands& operands,
                  const std::vector<PartlyKnown>& read, std::optional<int> stand_in) {
  const Operands::Tensor& written = operands.tensors[0];
  const std::size_t reach = written.reach(operands.sizes);
  Computed result{{Bytes(reach), std::vector<bool>(reach)}};
  bool has_gaps = false;
  OfElement one(operation, operands.functor);
  for (std::size_t element = 0; element < operands.count; ++element) {
    unsigned unknown = 0;
    for (std::size_t i = 0; i < read.size(); ++i) {
      const Operands::Tensor& tensor = operands.tensors[i + 1];
      const std::size_t place = operands.offset(tensor, element);
      if (read[i].knows(place, tensor.width)) {
        one.take(i, &read[i].bytes[place], tensor.type);
      } else {
        unknown |= 1U << i;
        if (stand_in) one.take_number(i, *stand_in);
      }
    }
    const std::size_t place = operands.offset(written, element);
    unsigned char* const to = &result.bytes.bytes[place];
    bool is_known = true;
    if (unknown == 0 || stand_in) {
      one.compute();
    } else {
      is_known = operation.is_of_bits && one.decide(unknown);
    }
    if (is_known) one.give(to, written.type);
    if (unknown != 0 && stand_in) {
      is_known = std::any_of(to, to + written.width, [](unsigned char byte) { return byte != 0; });
      result.is_guessed |= is_known;
    }
    if (is_known) continue;
    has_gaps = true;
    std::fill_n(result.bytes.gaps.begin() + static_cast<std::ptrdiff_t>(place), written.width,
                true);
  }
  if (!has_gaps) result.bytes.gaps.clear();
  return result;
}

/// A single number that nobody computed compares as 1, as which the host reads it, where that
/// holds: it is at least 0, as torch.normal() asks, and more than a tolerance. It is not less than
/// 0. False: another question, or there are more.
bool compare_with_one(const Operation& operation, const Operands& operands, KnownBytes& known) {
  constexpr int kLess = 3;
  if (operands.count != 1) return false;
  const auto holds_for = [&](int number) {
    return computed(operation, operands, {PartlyKnown{}}, number).bytes.bytes[0] != 0;
  };
  const bool holds = holds_for(1);
  if (!holds && (at<int>(operands.functor) != kLess || holds_for(0))) return false;
  known.fill(operands.tensors[0].data, holds ? 1 : 0, 1, kAssumed);
  return true;
}

/// Whether two bools hold that are one each: yes, where neither is known to be false. False: there
/// are more.
bool hold_by_itself(const Operation&, const Operands& operands, KnownBytes& known) {
  if (operands.count != 1) return false;
  const auto is_false = [&](const Operands::Tensor& tensor) {
    const Bytes found = known.find(tensor.data, 1);
    return !found.empty() && found[0] == 0;
  };
  const bool holds = !is_false(operands.tensors[1]) && !is_false(operands.tensors[2]);
  known.fill(operands.tensors[0].data, holds ? 1 : 0, 1, kAssumed);
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

/// The other elements of a mask of which a share is known. False: it is not.
bool turn_share(const Operation&, const Operands& operands, KnownBytes& known) {
  const auto share = known.share(operands.tensors[1].data);
  if (!share || operands.tensors[1].type != c10::ScalarType::Bool) return false;
  known.set_share(operands.tensors[0].data, operands.count, 1 - *share);
  return true;
}

/// What is said of a result where nothing is known of one of the tensors that it is made of. False:
/// nothing is.
using Guess = bool (*)(const Operation&, const Operands&, KnownBytes&);

/// Null: there is none.
Guess guess_of(std::string_view name) {
  if (has(name, kEqual)) return &guess_equal;
  if (has(name, "23logical_not_kernel_cuda") || has(name, "23bitwise_not_kernel_cuda")) {
    return &turn_share;
  }
  if (has(name, "21compare_scalar_kernelI")) return &compare_with_one;
  if (has(name, "13BUnaryFunctorI") && has(name, "21remainder_kernel_cuda")) return &leave_nothing;
  if (has(name, "13BinaryFunctorIbbbNS0_17BitwiseAndFunctorIbEE")) return &hold_by_itself;
  return has(name, "16BitwiseOrFunctorI") ? &join_shares : nullptr;
}

/// What a result's elements that are not known count for, beside others that are. Nothing: they are
/// not known.
using Rest = std::optional<bool> (*)(const Operands&, const KnownBytes&);

Rest rest_of(std::string_view name) {
  if (has(name, kEqual)) return &result_of_others;
  return [](const Operands&, const KnownBytes&) { return std::optional<bool>(); };
}

/// The number that is taken for elements that are not known. Nothing: there is none.
using StandIn = std::optional<int> (*)(const Operands&, const std::vector<PartlyKnown>& read);

/// Of bools, of which numbers are made: a mask, of which all counts for kept.
std::optional<int> kept(const Operands& operands, const std::vector<PartlyKnown>&) {
  const bool is_mask = operands.tensors[1].type == c10::ScalarType::Bool &&
                       operands.tensors[0].type != c10::ScalarType::Bool;
  return is_mask ? std::optional(1) : std::nullopt;
}

/// Of a mask by which one of two known numbers is taken: likewise.
std::optional<int> kept_of_known(const Operands& operands, const std::vector<PartlyKnown>& read) {
  if (operands.tensors[0].type == c10::ScalarType::Bool) return std::nullopt;
  const auto is_known = [](const PartlyKnown& each) { return each.has_any() && each.gaps.empty(); };
  return std::all_of(read.begin() + 1, read.end(), is_known) ? std::optional(1) : std::nullopt;
}

/// They read as zeros; as the least that they may be, where that is more: programs keep so sizes
/// and divisors above 0.
std::optional<int> least(const Operands& operands, const std::vector<PartlyKnown>&) {
  constexpr std::size_t kMostElements = 4096;
  return operands.count <= kMostElements ? std::optional(0) : std::nullopt;
}

std::optional<int> none(const Operands&, const std::vector<PartlyKnown>&) { return std::nullopt; }

StandIn stand_in_of(std::string_view name) {
  if (has(name, "23direct_copy_kernel_cuda") || has(name, "27converting_copy_kern")) return &kept;
  if (has(name, "17where_kernel_impl")) return &kept_of_known;
  return has(name, "19launch_clamp_scalar") ? &least : &none;
}

struct Arithmetic {
  const Operation* operation = nullptr;  // null: it is none that is followed
  Guess guess = nullptr;
  Rest rest = nullptr;
  StandIn stand_in = nullptr;
};

Arithmetic find_arithmetic(std::string_view name) {
  return {find_operation(name), guess_of(name), rest_of(name), stand_in_of(name)};
}

/// Whether a mask becomes whole numbers, as it does before it is summed, in the order in which it
/// lies.
bool are_flags(const Operands& operands, const std::vector<PartlyKnown>& read) {
  if (operands.tensors.size() != 2) return false;
  const Operands::Tensor& to = operands.tensors[0];
  const Operands::Tensor& from = operands.tensors[1];
  if (to.type != c10::ScalarType::Long || from.type != c10::ScalarType::Bool) return false;
  if (!read[0].has_any() || !read[0].gaps.empty()) return false;
  return std::ranges::equal(to.strides, from.strides, [&](auto of_numbers, auto of_flags) {
    return of_numbers == of_flags * to.width;
  });
}

/// Whether something may be known of its result where nothing is of some of what is read.
bool may_be_known(const Operation& operation, const std::vector<PartlyKnown>& read,
                  const Operands& operands, std::optional<int> stand_in) {
  constexpr std::size_t kMostElements = 1 << 16;  // which takes its time
  if (stand_in || std::ranges::all_of(read, &PartlyKnown::has_any)) return true;
  // Of one tensor it is the functor's number.
  const bool has_other_side = read.size() == 1 || std::ranges::any_of(read, &PartlyKnown::has_any);
  return operation.is_of_bits && operands.count <= kMostElements && has_other_side;
}

/// Bools that are not known count for this one.
void take_rest(Computed& result, bool holds) {
  std::vector<bool>& gaps = result.bytes.gaps;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i]) result.bytes.bytes[i] = holds ? 1 : 0;
  }
  result.is_guessed |= !gaps.empty();
  gaps.clear();
}

/// A result of so many bytes that has gaps: what stands in these stays.
void write_apart(const Operation& operation, const Operands& operands, std::size_t size,
                 KnownBytes& known) {
  constexpr std::size_t kMostElements = 1024;
  const Operands::Tensor& written = operands.tensors[0];
  if (operands.count > kMostElements) return known.forget(written.data, size);
  Inputs inputs(known);
  const Computed result = computed(operation, operands, read_all(operands, inputs), std::nullopt);
  for (std::size_t i = 0; i < operands.count; ++i) {
    const std::size_t place = operands.offset(written, i);
    const bool is_known = result.bytes.knows(place, written.width);
    put(known, written.data + place, {&result.bytes.bytes[place], written.width, is_known}, inputs);
  }
}

}  // namespace

bool run_arithmetic(std::string_view name, void** arguments, KnownBytes& known,
                    bool (*owns)(const void* address)) {
  static auto& known_names = *new ByName<Arithmetic>(&find_arithmetic);
  const auto& [operation, guess, rest, stand_in_of] = known_names(name);
  // Of so much at most a share is known, and what follows takes its time.
  constexpr std::size_t kMost = KnownBytes::kMaxBytesOfMask;
  const bool is_much = at<std::uint32_t>(arguments[0]) > kMost;
  if (operation == nullptr || (is_much && guess == nullptr)) return false;
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
  const auto read = read_all(*operands, inputs);
  const bool is_any_unknown = !std::ranges::all_of(read, &PartlyKnown::has_any);
  if (guess != nullptr && is_any_unknown && guess(*operation, *operands, known)) return true;
  if (size > KnownBytes::max_bytes(written.width) && are_flags(*operands, read)) {
    return known.set_flags(written.data, size, read[0].bytes), true;
  }
  const auto stand_in = stand_in_of(*operands, read);
  Computed result;
  if (size <= KnownBytes::max_bytes(written.width) &&
      may_be_known(*operation, read, *operands, stand_in)) {
    result = computed(*operation, *operands, read, stand_in);
  }
  if (operands->count == 1 && !result.bytes.knows(0, size)) {
    return forget_one(known, written.data, written.type), true;
  }
  if (result.bytes.bytes.empty() && written.type == c10::ScalarType::Bool) {
    return known.guess(written.data, size, {1}), true;  // where the host chooses by a mask as well
  }
  if (const auto holds = rest(*operands, known)) take_rest(result, *holds);
  Trust trust = inputs.trust();
  trust.is_assumed |= result.is_guessed;
  known.set_partly(written.data, result.bytes, size, trust);
  return true;
}

}  // namespace headroom::dry_run
