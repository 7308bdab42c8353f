// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_random.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/dry_run/parts.h"
#include "src/dry_run/philox.h"
#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kMostDrawn = 4096;
constexpr std::string_view kDraw = "43distribution_elementwise_grid_stride_kernelI";
constexpr std::string_view kResult = "27distribution_nullary_kernelI";
constexpr std::string_view kUniform = "21uniform_and_transformI";
constexpr std::string_view kNormal = "20normal_and_transformI";
constexpr std::string_view kSameKeys = "37randperm_handle_duplicate_keys_kernelI";

enum class Chance { uniform, exponential, bernoulli, normal, from_to, any };

/// <type that is drawn, how many of it at once>, and somewhere the type of the result.
struct DrawForm {
  Chance chance;
  char drawn;  // f, d: a number from 0 to 1, or a normal one; j, m: 32 or 64 bits
  c10::ScalarType type;
};

std::optional<Chance> chance_of(std::string_view name) {
  if (has(name, kNormal))
    return has(name, "13normal_kernel") ? std::optional(Chance::normal) : std::nullopt;
  if (has(name, "21random_from_to_kernel")) return Chance::from_to;
  if (has(name, "13random_kernel")) return Chance::any;
  if (!has(name, kUniform)) return std::nullopt;
  if (has(name, "14uniform_kernel")) return Chance::uniform;
  if (has(name, "18exponential_kernel")) return Chance::exponential;
  if (has(name, "16bernoulli_kernel")) return Chance::bernoulli;
  return std::nullopt;
}

std::optional<DrawForm> draw_form(std::string_view name) {
  const std::size_t found = name.find(kDraw);
  const auto chance = chance_of(name);
  if (found == std::string_view::npos || !chance) return std::nullopt;
  const char drawn = name[found + kDraw.size()];
  const bool is_of_bits = *chance == Chance::from_to || *chance == Chance::any;
  // A type that is a class is named before the result is.
  auto type = type_behind(name, kUniform);
  if (!type) type = type_behind(name, kNormal);
  if (!type) type = type_behind(name, kResult);
  const std::string_view drawn_here = is_of_bits ? "jm" : "fd";
  if (!type || drawn_here.find(drawn) == std::string_view::npos) return std::nullopt;
  return DrawForm{*chance, drawn, *type};
}

/// at::PhiloxCudaState{seed, offset, uint32, bool is_captured}: in a captured graph these stand on
/// the device. An offset counts words, of which a call takes four.
struct Generator {
  std::uint64_t seed;
  std::uint64_t offset;
  std::uint32_t offset_in_graph;
  bool is_captured;
};

/// (how many, generator, -, function of a place), which holds {to, int stride in bytes} or {where
/// they lie, to}, and the numbers behind that a draw is made a result by.
struct DrawLaunch {
  DrawLaunch(const DrawForm& draw, std::string_view name, void** arguments)
      : form(draw),
        count(has(name, "EEviNS_15PhiloxCudaState") ? at<int>(arguments[0])
                                                    : at<std::int64_t>(arguments[0])),
        generator(at<Generator>(arguments[1])),
        function(static_cast<const char*>(arguments[3])),
        is_in_a_row(has(name, std::string("EUli") + draw.drawn + "E_EEv")) {}

  const char* to() const { return at<const char*>(function, is_in_a_row ? 0 : kToBehindPlaces); }
  bool is_laid_out(Owns owns) const {
    return count > 0 && count <= kMostDrawn && !generator.is_captured &&
           generator.offset % 4 == 0 && owns(to()) &&
           (is_in_a_row || Offsets(function, 1).is_laid_out());
  }
  /// In bytes from `to`.
  std::size_t place(std::int64_t element) const {
    const auto number = static_cast<std::size_t>(element);
    if (!is_in_a_row) return Offsets(function, 1).of(number, 0);
    return number * static_cast<std::size_t>(at<int>(function, sizeof(void*)));
  }
  /// Of the last one.
  std::size_t reach() const {
    return is_in_a_row ? place(count - 1) : Offsets(function, 1).last(0);
  }
  /// What stands behind, of so many bytes at most each.
  const char* numbers(std::size_t width) const {
    return function + (is_in_a_row ? whole_parts(sizeof(void*) + sizeof(int), width)
                                   : kToBehindPlaces + sizeof(void*));
  }

  static constexpr std::size_t kToBehindPlaces = whole_parts(Offsets::bytes(1), alignof(void*));
  DrawForm form;
  std::int64_t count;
  Generator generator;
  const char* function;
  bool is_in_a_row;
};

/// From above 0 to 1.
float uniform_float(std::uint32_t bits) { return static_cast<float>(bits) * 0x1p-32F + 0x1p-33F; }
double uniform_double(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = low ^ (std::uint64_t{high} << 21U);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}
/// Of two uniform numbers, one of two normal ones, by Box and Muller.
double normal_of(double one, double other, bool is_second) {
  const double angle = other * 2 * std::numbers::pi;
  return std::sqrt(-2 * std::log(one)) * (is_second ? std::cos(angle) : std::sin(angle));
}

/// The number that is drawn first, second, ... at one call.
template <class Drawn>
Drawn drawn_of(const PhiloxWords& words, std::size_t index, bool is_normal);

template <>
float drawn_of<float>(const PhiloxWords& words, std::size_t index, bool is_normal) {
  if (!is_normal) return uniform_float(words[index]);
  const std::size_t first = index / 2 * 2;
  return static_cast<float>(
      normal_of(uniform_float(words[first]), uniform_float(words[first + 1]), index % 2 == 1));
}
template <>
double drawn_of<double>(const PhiloxWords& words, std::size_t index, bool is_normal) {
  if (!is_normal) return uniform_double(words[2 * index], words[2 * index + 1]);
  return normal_of(uniform_double(words[0], words[1]), uniform_double(words[2], words[3]),
                   index == 1);
}
template <>
std::uint32_t drawn_of<std::uint32_t>(const PhiloxWords& words, std::size_t index, bool) {
  return words[index];
}
template <>
std::uint64_t drawn_of<std::uint64_t>(const PhiloxWords& words, std::size_t index, bool) {
  return std::uint64_t{words[2 * index]} << 32U | words[2 * index + 1];
}

/// Numbers from 0 or 1 on as the type has them.
template <class T, class Drawn>
T result_of_float(Chance chance, Drawn drawn, const char* numbers) {
  switch (chance) {
    case Chance::uniform: {  // {to - from, from, to}, the last two of the result's type
      const auto range = at<Drawn>(numbers);
      const auto from = at<T>(numbers, sizeof(Drawn));
      const auto to = at<T>(numbers, sizeof(Drawn) + sizeof(T));
      const auto value = static_cast<T>(std::fma(drawn, range, static_cast<Drawn>(from)));
      return value == to ? from : value;
    }
    case Chance::exponential: {  // {rate}
      constexpr Drawn kSmall = std::numeric_limits<Drawn>::epsilon() / 2;
      const Drawn logarithm =
          drawn >= 1 - kSmall ? -kSmall : static_cast<Drawn>(std::log(static_cast<double>(drawn)));
      return static_cast<T>(Drawn{-1} / at<Drawn>(numbers) * logarithm);
    }
    case Chance::bernoulli:  // {double how likely 1 is}
      return static_cast<T>(drawn < static_cast<Drawn>(at<double>(numbers)) ? 1 : 0);
    default:  // {mean, deviation}
      return static_cast<T>(drawn * at<Drawn>(numbers, sizeof(Drawn)) + at<Drawn>(numbers));
  }
}

template <class T, class Drawn>
T result_of_bits(Chance chance, Drawn drawn, const char* numbers) {
  if (chance == Chance::from_to) {  // {range, first}
    const std::uint64_t rest = drawn % at<std::uint64_t>(numbers);
    return static_cast<T>(static_cast<std::int64_t>(rest + at<std::uint64_t>(numbers, 8)));
  }
  if constexpr (std::is_same_v<T, bool>) {
    return (drawn & 1U) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(drawn % (static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1));
  } else {
    return static_cast<T>(drawn % ((std::uint64_t{1} << std::numeric_limits<T>::digits) + 1));
  }
}

template <class Drawn>
void run_draws(const DrawLaunch& launch, std::uint64_t threads, KnownBytes& known) {
  constexpr std::size_t kDrawnAtOnce = sizeof(PhiloxWords) / sizeof(Drawn);
  constexpr bool kIsFloat = std::is_floating_point_v<Drawn>;
  const bool has_narrow_ones = kIsFloat && launch.form.chance != Chance::bernoulli;
  const char* const numbers = launch.numbers(has_narrow_ones ? sizeof(Drawn) : sizeof(double));
  const std::uint64_t first_call = (launch.generator.offset + launch.generator.offset_in_graph) / 4;
  with_type(launch.form.type, [&](auto zero) {
    using T = decltype(zero);
    const std::size_t reach = launch.reach() + sizeof(T);
    if (reach > KnownBytes::kMaxBytes) return known.forget(launch.to(), reach);
    Writes writes(launch.to(), reach);
    for (std::int64_t i = 0; i < launch.count; ++i) {
      const auto element = static_cast<std::uint64_t>(i);
      const std::uint64_t call = element / (threads * kDrawnAtOnce);
      const PhiloxWords words =
          philox_call(launch.generator.seed, element % threads, first_call + call);
      const Drawn drawn = drawn_of<Drawn>(words, element / threads % kDrawnAtOnce,
                                          launch.form.chance == Chance::normal);
      T value{};
      if constexpr (kIsFloat) {
        value = result_of_float<T>(launch.form.chance, drawn, numbers);
      } else {
        value = result_of_bits<T>(launch.form.chance, drawn, numbers);
      }
      writes.put(launch.place(i), &value, sizeof(value));
    }
    writes.tell(known, {});
  });
}

/// (sorted keys, values, mask, int how many, ...): values are mixed anew whose keys are the same.
bool run_same_keys(std::string_view name, void** arguments, KnownBytes& known, Owns owns) {
  const auto type = type_behind(name, kSameKeys);
  const std::size_t width = opaque_bytes(name);
  const auto count = static_cast<std::size_t>(at<int>(arguments[3]));
  if (!type || width == 0 || !owns(pointer(arguments, 0)) || !owns(pointer(arguments, 1))) {
    return false;
  }
  Inputs inputs(known);
  const auto bytes = inputs.bytes(pointer(arguments, 0), count * bytes_of_type(*type));
  bool are_distinct = !bytes.empty();
  with_type(*type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (std::size_t i = sizeof(T); i < bytes.size(); i += sizeof(T)) {
        const auto differing = at<T>(bytes.data(), i) ^ at<T>(bytes.data(), i - sizeof(T));
        if ((differing & at<T>(arguments[2])) == 0) are_distinct = false;
      }
    }
  });
  if (!are_distinct) known.forget(pointer(arguments, 1), count * width);
  return true;
}

}  // namespace

bool is_random(const char* name) { return has(name, kSameKeys) || draw_form(name); }

bool run_random(const char* name, void** arguments, std::uint64_t threads, KnownBytes& known,
                Owns owns) {
  if (has(name, kSameKeys)) return run_same_keys(name, arguments, known, owns);
  const DrawForm form = *draw_form(name);
  const DrawLaunch launch(form, name, arguments);
  if (!launch.is_laid_out(owns) || threads == 0) return false;
  if (form.drawn == 'f') {
    run_draws<float>(launch, threads, known);
  } else if (form.drawn == 'd') {
    run_draws<double>(launch, threads, known);
  } else if (form.drawn == 'j') {
    run_draws<std::uint32_t>(launch, threads, known);
  } else {
    run_draws<std::uint64_t>(launch, threads, known);
  }
  return true;
}

}  // namespace headroom::dry_run
