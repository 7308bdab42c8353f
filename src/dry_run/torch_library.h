// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What is asked of the LibTorch of the program that the dry run was loaded into.
namespace headroom::dry_run {

/// The peaks of PyTorch's caching allocator on a device, since the program last began them anew.
struct TorchAllocator {
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
};

/// A library that the program has loaded already, as dlopen() gives it; null: it has not. `name`:
/// that of its file, up to the first dot or dash: versions follow.
void* loaded_library(std::string_view name);

/// Looks for the program's LibTorch: what follows knows it from then on. When the program ends it
/// can't be asked for its version any more.
void look_for_torch();

/// The version of the program's LibTorch; empty: it was not found.
std::string torch_version();

/// Whether it is a version whose kernels' arguments were looked at, 2.1 to 2.15: those of
/// small_kernels.h lie alike in all of them, but for lists (small_lists.h).
/// tests/dry_run/programs/versions/values.py tries it.
bool are_kernels_of_torch_known();

/// The architecture (80: compute capability 8.0) whose kernels LibTorch would use on a GPU of that
/// one: the highest of the same major number that it was compiled for. Where it has none for the
/// GPU, which PyTorch warns of, the lowest that it has; where no LibTorch was found, the GPU's.
int torch_architecture(int gpu);

/// Whether all() of the program's LibTorch called, on this thread.
bool is_called_by_all();

/// Whether that code is of the library that holds LibTorch's caching allocator.
bool is_of_torch_allocator(const void* code);

/// Nothing where no LibTorch was found, or it is not the version that the dry run was built with.
/// Takes the allocator's lock: who calls holds none of the dry run's.
std::optional<TorchAllocator> ask_torch_allocator(int device);

}  // namespace headroom::dry_run
