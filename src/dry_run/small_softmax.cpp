// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_softmax.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::string_view kSoftmax = "20softmax_warp_forwardI";

struct Form {
  c10::ScalarType type = c10::ScalarType::Undefined;  // of what is written
  bool is_logarithm = false;
};

/// softmax_warp_forward<type that is read, type that is written, float, log2 of the row's numbers,
/// bool is_log_softmax, bool is_masked, ...>; nothing: the type is none that is followed.
std::optional<Form> form_of(std::string_view name) {
  const std::size_t place = name.find(kSoftmax);
  if (place == std::string_view::npos) return std::nullopt;
  name.remove_prefix(place + kSoftmax.size());
  const auto read = take_type(name);
  const auto written = name.starts_with('S') ? read : take_type(name);  // the same as before
  const std::size_t flag = name.find("ELb");
  if (!written || flag == std::string_view::npos || flag + 3 >= name.size()) return std::nullopt;
  return Form{*written, name[flag + 3] == '1'};
}

}  // namespace

bool is_softmax(const char* name) { return form_of(name).has_value(); }

/// (to, from, rows, numbers from one row to the next, numbers of a row, ...).
bool run_softmax(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const auto [type, is_logarithm] = *form_of(name);
  const void* const to = pointer(arguments, 0);
  const int rows = at<int>(arguments[2]);
  const int step = at<int>(arguments[3]);
  const int length = at<int>(arguments[4]);
  if (!owns(to) || !owns(pointer(arguments, 1)) || rows < 1 || length < 1 || step != length) {
    return false;
  }
  const double probability = 1.0 / length;
  const double value = is_logarithm ? std::log(probability) : probability;
  std::vector<unsigned char> element(bytes_of_type(type));
  convert(&value, c10::ScalarType::Double, element.data(), type);
  const std::size_t size =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(length) * element.size();
  known.guess(to, size, std::move(element));
  return true;
}

}  // namespace headroom::dry_run
