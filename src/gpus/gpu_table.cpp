// SPDX-License-Identifier: Apache-2.0
// Shared by all rows; each row's `source` names the rest.
// - memory_bytes: what a real driver printed. "GiB" there stands for PyTorch's out-of-memory
//   message ("GPU 0 has a total capacity of ..."), exact to 5 MiB. XLA stands for the files in
//   https://github.com/openxla/xla/tree/main/xla/backends/gpu/target_config/specs.
// - context_bytes: from the same messages, "this process has ... in use" less what is allocated
//   and what is reserved by PyTorch; rounded to 10 MiB.
// - Multiprocessors, L2, memory bus and clock: CUDA's sample deviceQuery, as it was printed in the
//   named log or, where none is named, in other public logs; for V100, A100, H100 and B200, XLA.
// - Products: fits of https://github.com/ai-dynamo/aiconfigurator's measured bfloat16 products
//   (A100, H100, H200, L40S, B200; docs/time_rates.md); of GeForce, whose clock goes beyond the
//   data sheet's, https://github.com/mli/transformers-benchmarks, a 3090 Ti and a 4090, and three
//   of four RTX 5090 of https://github.com/zzc0721/torch-performance-test-data (issues 96, 124,
//   200, pull request 15; 8,192 numbers of 16 bits: 234 to 236 TFLOP/s, the fourth 175); of the
//   others as the row says, or assumed, by how NVIDIA limits their power. A row that names an issue
//   of the same data has both of its shares from there. Without tensor cores: of the Hopper and
//   Blackwell data centre GPUs our H100's; of the A10 assumed; of the others the largest of five
//   sizes up to 10,240 in the same data (database.md), of several A100 the least, of the L4 that
//   of 4,096 (issue 120).
// - Power: the limits are the data sheet's; the rest is from the same tables, of which one of an
//   H200 and one of a B200 have watts (docs/time_rates.md). An H100's is an H200's, but for a
//   product's.
// - Rates: NVIDIA's data sheet, halved where it counts sparsity; the memory's is bus x 2 x clock.
#include <algorithm>
#include <array>

#include "src/gpus/data_center_gpus.h"
#include "src/gpus/desktop_gpus.h"

namespace headroom::dry_run {
namespace {

constexpr auto kGpus = [] {
  std::array<Gpu, kDataCenterGpus.size() + kDesktopGpus.size()> all{};
  std::ranges::copy(kDesktopGpus, std::ranges::copy(kDataCenterGpus, all.begin()).out);
  return all;
}();

}  // namespace

std::span<const Gpu> gpu_table() { return kGpus; }

}  // namespace headroom::dry_run
