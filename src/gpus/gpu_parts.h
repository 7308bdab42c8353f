// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/gpus/gpu.h"

// What rows of several GPUs share.
namespace headroom::dry_run {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;

// 16 lanes with a line code of 128 bits in 130.
inline constexpr double kPcie3 = 16 * 8e9 / 8 * 128 / 130;
inline constexpr double kPcie4 = 2 * kPcie3;
inline constexpr double kPcie5 = 2 * kPcie4;

// {major, minor, threads, blocks, registers, shared memory, of it at most for one block}
inline constexpr Capability k70 = {7, 0, 2048, 32, 65536, 96 * kKiB, 96 * kKiB};
inline constexpr Capability k75 = {7, 5, 1024, 16, 65536, 64 * kKiB, 64 * kKiB};
inline constexpr Capability k80 = {8, 0, 2048, 32, 65536, 164 * kKiB, 163 * kKiB};
inline constexpr Capability k86 = {8, 6, 1536, 16, 65536, 100 * kKiB, 99 * kKiB};
inline constexpr Capability k89 = {8, 9, 1536, 24, 65536, 100 * kKiB, 99 * kKiB};
inline constexpr Capability k90 = {9, 0, 2048, 32, 65536, 228 * kKiB, 227 * kKiB};
inline constexpr Capability k100 = {10, 0, 2048, 32, 65536, 228 * kKiB, 227 * kKiB};
inline constexpr Capability k120 = {12, 0, 1536, 24, 65536, 100 * kKiB, 99 * kKiB};

}  // namespace headroom::dry_run
