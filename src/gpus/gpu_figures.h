// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/gpus/gpu.h"

// A GPU that no table has: its figures by their names, as `headroom list gpus --json` prints them
// and a file for `--gpu` gives them.
namespace headroom::dry_run {

/// A number of a Gpu. All of them are whole up to 2^53, or rates, so that a double holds them.
struct GpuFigure {
  const char* name;  // that of the member of Gpu; capability_..., products_..., power_... of parts
  double (*of)(const Gpu& gpu);
  void (*set)(Gpu& gpu, double value);
  double most;  // that it can be
  bool is_whole;
  bool may_be_zero;  // the rate of a type that the tensor cores may lack, and power
};

std::span<const GpuFigure> gpu_figures();

/// The name, the product and all figures, a line each: how a program that runs dry is told them.
std::string gpu_text(const Gpu& gpu);

/// Makes the GPU of such a text one that find_gpu() finds, until the program ends; one of the same
/// name that came before is no longer found. Null: it is no such text.
const Gpu* add_gpu(std::string_view text);

/// The GPU that was added by that name. Null: none was.
const Gpu* added_gpu(std::string_view name);

}  // namespace headroom::dry_run
