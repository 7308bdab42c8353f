// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <array>
#include <cstdint>
#include <initializer_list>

#include "src/gpus/gpu.h"
#include "src/ptx/kernel.h"

// What work is, and how long it lasts on a GPU: a time to begin, and an amount at the rate that is
// achieved of the peak. docs/time_rates.md says where the rates come from, docs/time.md how far off
// they are.
namespace headroom::dry_run {

/// What the time of a piece of work is made of: the units that multiply, the memory of the device,
/// the links to the host and to other GPUs.
enum class WorkKind { product, attention, memory, host_link, peer_link };
inline constexpr std::size_t kWorkKinds = 5;

/// A piece of work on a stream: its nanoseconds by WorkKind, and what it counts as.
struct Work {
  std::array<std::int64_t, kWorkKinds> ns{};
  std::int64_t launches = 0;  // of kernels
  std::int64_t product_flops = 0;
  double computing_joules = 0;  // at the full clock, beside what the GPU draws anyway
  double moving_joules = 0;     // of its memory, likewise
  bool is_compiled = false;     // by the program, whose own code launches it, without an operator

  std::int64_t all_ns() const;
  Work& operator+=(const Work& other);
};

/// A matrix product, or what is one by its operations.
struct Product {
  std::int64_t flops;
  Precision precision;
  std::int64_t bytes = 0;          // of its matrices
  std::int64_t written_bytes = 0;  // of the one that it gives, where that takes time of its own
  std::int64_t row_bytes = 16;     // the largest power of two, up to 16, that all rows are apart by
  bool is_convolution = false;
};
Work product_work(const Gpu& gpu, const Product& product);

/// Attention in one kernel. `share`: of the rate of products.
Work attention_work(const Gpu& gpu, std::int64_t flops, Precision precision, double share);

/// What all warps of a kernel execute, in so many blocks: its products by their rate, then its
/// instructions, of which each of the four schedulers of a multiprocessor issues one a cycle.
/// Memory is left out.
Work instruction_work(const Gpu& gpu, const ptx::Count& count, std::int64_t blocks);

/// So many instructions of threads, likewise.
Work thread_work(const Gpu& gpu, std::int64_t instructions);

/// What takes as long as the longer of two, and draws what both do.
Work side_by_side(const Work& one, const Work& other);

/// How a kernel reads and writes memory: each thread 16 bytes at once, or number by number, which
/// takes longer where numbers have less than 4 bytes, and where neighbours are not read together.
enum class Access { vectors, numbers, narrow_numbers, scattered_numbers, narrow_scattered_numbers };

/// What a kernel moves through the device's memory, and what its threads ask for, where many ask
/// for the same: a number that is added to each of a row comes from the cache.
struct Moved {
  std::int64_t bytes;
  std::int64_t asked_bytes = 0;  // 0: as much
  bool is_part = false;          // of more, of which the cache keeps nothing until it is used again
};

/// What the blocks of a launch go through, each its own part, such as a row: all of it once, and
/// `again_bytes` of it after that, which counts each time.
struct Parts {
  std::int64_t bytes;
  std::int64_t again_bytes = 0;
  std::int64_t spilled_of_thread = 0;  // bytes, which have no room in its registers
};

/// Whether the cache has room for so much of each block, of all that run at once.
bool is_kept(const Gpu& gpu, std::int64_t bytes_of_block, std::int64_t blocks,
             std::int64_t threads_of_block);

/// What of that comes from memory or goes there. A block finds again in the cache what it went
/// through, where the parts of all blocks that run at once have room in it.
std::int64_t moved_bytes(const Gpu& gpu, const Parts& parts, std::int64_t blocks,
                         std::int64_t threads_of_block);

/// A kernel that moves so much by so many blocks of threads; 0: there are enough of them.
Work memory_work(const Gpu& gpu, const Moved& moved, Access access = Access::narrow_numbers,
                 std::int64_t blocks = 0);

/// Batch normalization of (N, C, ...) by the batch's own mean: a pass over `elements` numbers of
/// `width` bytes, `passes` times: forward no more than 3, backward 5.
Work batch_norm_work(const Gpu& gpu, std::int64_t elements, int width, std::int64_t channels,
                     int passes);

/// Copies: inside the device's memory, of which it is read and written; between device and host;
/// what a rank sends to its peers.
Work device_copy_work(const Gpu& gpu, std::int64_t bytes);
Work host_copy_work(const Gpu& gpu, std::int64_t bytes);
Work peer_copy_work(const Gpu& gpu, std::int64_t bytes);

/// How long the host takes to move so much through its own memory.
std::int64_t host_memory_ns(std::int64_t bytes);

/// What a kernel moves of which nothing else is known: each thread reads two vectors of 16 bytes
/// and writes one, as PyTorch's elementwise kernels do.
inline constexpr std::int64_t kBytesPerThread = 48;

/// The floating-point operations of `batch` products of (m, k) and (k, n); a complex multiplication
/// and addition counts four times.
std::int64_t product_flops(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                           cudaDataType type);

/// Of a number of the type.
std::int64_t element_bytes(cudaDataType type);
bool is_complex(cudaDataType type);

/// Product::row_bytes of matrices whose rows are so many numbers apart.
std::int64_t row_bytes(std::initializer_list<std::int64_t> leading, cudaDataType type);

/// The bytes of their matrices.
std::int64_t product_bytes(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                           cudaDataType type);

/// Whether a product computed so may round fp32 to TF32.
bool rounds_to_tf32(cublasComputeType_t compute);

/// What the units that multiply compute in. `tensor_cores` says whether fp32 may be rounded to
/// TF32.
Precision product_precision(cudaDataType type, bool tensor_cores);

}  // namespace headroom::dry_run
