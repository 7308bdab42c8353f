// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// What cuFFT's plans work in. Its documentation says from one to eight complex numbers a point, and
// only "where needed". Inferred from what cuFFT 12 said on an H100 of 2,929 plans of 120 shapes:
// 92 % of the answers to the byte, 97 % within 1 % or 512 bytes.
namespace headroom::dry_run {

struct FourierPlan {
  std::int64_t complex_bytes = 8;   // 4, 8 or 16
  bool is_real = false;             // one of its sides
  std::int64_t transforms = 1;      // as many as are done by one call
  std::vector<std::int64_t> sizes;  // of one; the last dimension is the one that lies together
};

std::int64_t fourier_work_bytes(const FourierPlan& plan);

}  // namespace headroom::dry_run
