// SPDX-License-Identifier: Apache-2.0
#include "src/report/scale.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headroom {
namespace {

/// The smallest round step of which `most` reach `largest`.
double step_for(double largest, int most) {
  const double least = largest / (most + 1);  // so many more would not fit
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor > least) return power * factor;
  }
  return power * 10;
}

std::vector<Tick> ticks(double largest, int most, double unit, const std::string& name) {
  std::vector<Tick> list;
  if (!(largest > 0) || !std::isfinite(largest)) return list;
  const double step = step_for(largest / unit, most);
  for (int i = 1; i * step * unit <= largest; ++i) {
    list.push_back({i * step * unit, fmt::format("{:.6g}{}", i * step, name)});
  }
  return list;
}

}  // namespace

std::vector<Tick> byte_ticks(double largest, int most) {
  constexpr std::array kUnits = {" bytes", " KiB", " MiB", " GiB"};
  double unit = 1;
  std::size_t i = 0;
  for (; i + 1 < kUnits.size() && largest >= unit * 1024; ++i) unit *= 1024;
  return ticks(largest, most, unit, kUnits[i]);
}

std::vector<Tick> number_ticks(double largest, int most) { return ticks(largest, most, 1, ""); }

}  // namespace headroom
