// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/launch_work.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "src/dry_run/attention_launch.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_offsets.h"

namespace headroom::dry_run {
namespace {

using Kind = KernelForm::Kind;

/// ATen/native/cuda/MultiTensorApply.cuh. Lists that fill a launch go on in the next.
constexpr std::int64_t kElementsOfChunk = 65536;
constexpr unsigned kMostChunksOfLaunch = 320;
/// No thread reads or writes more of a tensor than so much, where nothing else is known.
constexpr std::int64_t kMostBytesOfThread = 128;
/// What a thread executes for each place of a depthwise convolution's window (docs/time_rates.md).
constexpr std::int64_t kInstructionsOfPlace = 26;
/// And for each number that it draws by chance (docs/time_rates.md).
constexpr std::int64_t kInstructionsOfChance = 50;

std::int64_t count(dim3 size) { return std::int64_t{1} * size.x * size.y * size.z; }

std::int64_t threads_of(const KernelLaunch& launch) {
  return count(launch.grid) * count(launch.block);
}

/// The bytes of `elements` at the address: their width is what the rest of the tensor has room for,
/// where that is one of a number, and else what the kernel's name says. PyTorch launches a kernel
/// for no more than 2 GiB of a tensor, and so several for one that has more: the rest is then no
/// width.
std::int64_t bytes_at(const void* address, std::int64_t elements, int width,
                      const LiveBlocks& blocks) {
  constexpr std::int64_t kMostOfLaunch = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostWidth = 8;
  const std::int64_t room = blocks.behind(address) / elements;
  if (room < 1 || room > kMostWidth) return elements * width;
  const std::int64_t apart = std::max<std::int64_t>(1, elements - 1);  // the first and the last
  const std::int64_t most = std::clamp<std::int64_t>((kMostOfLaunch - 1) / apart, 1, room);
  return elements * static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
}

/// Of a tensor that an elementwise kernel goes through by strides: each of its own numbers once,
/// however many elements it is read for, by sectors of 32 bytes.
std::int64_t strided_bytes(const Offsets& offsets, std::size_t tensor) {
  constexpr std::int64_t kSectorBytes = 32;
  std::int64_t numbers = 1;
  std::int64_t apart = kSectorBytes;
  for (std::size_t i = 0; i < offsets.dimensions(); ++i) {
    const auto stride = std::int64_t{offsets.stride(i, tensor)};
    if (stride == 0) continue;
    numbers *= offsets.size(i);
    apart = std::min(apart, stride);
  }
  return numbers * apart;
}

/// The same of all; 0: the kernel holds no strides.
std::int64_t strided_bytes(int tensors, const KernelLaunch& launch, const LiveBlocks& blocks) {
  const Offsets offsets(launch.arguments[1], static_cast<std::size_t>(tensors));
  const auto elements = static_cast<std::size_t>(at<int>(launch.arguments[0]));
  if (!offsets.is_laid_out() || offsets.elements() != elements) return 0;
  std::int64_t bytes = 0;
  for (std::size_t tensor = 0; tensor < static_cast<std::size_t>(tensors); ++tensor) {
    if (blocks.behind(offsets.address(tensor)) == 0) return 0;
    bytes += strided_bytes(offsets, tensor);
  }
  return bytes;
}

Moved elementwise_bytes(const KernelForm& form, const KernelLaunch& launch,
                        const LiveBlocks& blocks) {
  const auto elements = std::int64_t{at<int>(launch.arguments[0])};
  if (elements < 1) return {0};
  if (!form.has_pointers) {
    const std::int64_t asked = elements * form.tensors * form.width;
    const std::int64_t strided = strided_bytes(form.tensors, launch, blocks);
    return {.bytes = strided > 0 ? strided : asked, .asked_bytes = asked};
  }
  const Elementwise kernel(launch.arguments);
  std::int64_t bytes = 0;
  for (int tensor = 0; tensor < form.tensors; ++tensor) {
    const void* address = kernel.pointer(static_cast<std::size_t>(tensor));
    bytes += bytes_at(address, elements, form.width, blocks);
  }
  return {bytes};
}

/// {operation, identity, {bytes of an element, inputs, outputs, ...}, ...}: how much lies before
/// depends on the types; 0: it is not found.
std::int64_t reduction_bytes(const KernelLaunch& launch) {
  for (const std::size_t offset : {8, 16, 4, 24}) {
    const auto config = at<std::array<int, 3>>(launch.arguments[0], offset);
    const bool is_width =
        config[0] >= 1 && config[0] <= 16 && std::has_single_bit(static_cast<unsigned>(config[0]));
    if (is_width && config[1] > 0 && config[2] > 0) {
      return std::int64_t{1} * config[0] * config[1] * config[2];
    }
  }
  return 0;
}

/// What the argument at a place points to.
std::int64_t behind(std::size_t place, const KernelLaunch& launch, const LiveBlocks& blocks) {
  return blocks.behind(at<const void*>(launch.arguments[place]));
}

std::int64_t pointed_bytes(const KernelForm& form, const KernelLaunch& launch,
                           const LiveBlocks& blocks) {
  auto most = std::numeric_limits<std::int64_t>::max();
  if (form.kind == Kind::pointers) most = kMostBytesOfThread * threads_of(launch);
  if (form.kind == Kind::gather) most = behind(form.pointers.front(), launch, blocks);
  std::int64_t bytes = 0;
  for (const std::size_t place : form.pointers) {
    bytes += std::min(most, behind(place, launch, blocks));
  }
  return bytes;
}

/// Of a kernel whose blocks have a row each.
Moved whole_bytes(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch,
                  const LiveBlocks& blocks) {
  Parts parts{pointed_bytes(form, launch, blocks)};
  for (const std::size_t place : form.again) parts.again_bytes += behind(place, launch, blocks);
  return {moved_bytes(gpu, parts, count(launch.grid), count(launch.block))};
}

Moved moved_bytes(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch,
                  const LiveBlocks& blocks) {
  switch (form.kind) {
    case Kind::elementwise:
      return elementwise_bytes(form, launch, blocks);
    case Kind::chunks:
      return {.bytes = kElementsOfChunk * launch.grid.x * form.tensors * form.width,
              .is_part = launch.grid.x == kMostChunksOfLaunch};
    case Kind::reduction:
      return {reduction_bytes(launch)};
    case Kind::pointers:
    case Kind::gather:
      return {pointed_bytes(form, launch, blocks)};
    case Kind::whole:
      return whole_bytes(gpu, form, launch, blocks);
    default:
      return {0};
  }
}

/// The places of all windows that a depthwise convolution goes over, by its arguments
/// (ATen/native/cuda/DepthwiseConv2d.cu).
std::int64_t places_of_windows(Kind kind, const KernelLaunch& launch) {
  const auto all = [&](std::initializer_list<std::size_t> places) {
    std::int64_t product = 1;
    for (const std::size_t place : places) product *= at<int>(launch.arguments[place]);
    return product;
  };
  switch (kind) {
    case Kind::depthwise_forward:
      return all({5, 12, 13});  // elements of the output, a window's width and height
    case Kind::depthwise_of_input:
      return all({3, 5, 11, 12});  // elements of the input, filters of a channel, width and height
    default:
      return all({3, 5, 9, 10, 11, 12});  // samples, filters, width and height of both
  }
}

/// Of a thread: forward it reads a number and writes one, as its neighbours have read the others of
/// its window. Gradients took as long on an H100 as kernels of which nothing is known.
std::int64_t depthwise_bytes(const KernelForm& form) {
  return form.kind == Kind::depthwise_forward ? std::int64_t{2} * form.width : kBytesPerThread;
}

/// Of a dropout the mask has a byte for each.
std::int64_t drawn_numbers(const KernelForm& form, const KernelLaunch& launch,
                           const LiveBlocks& blocks) {
  return form.kind == Kind::random ? std::int64_t{at<int>(launch.arguments[0])}
                                   : behind(2, launch, blocks);
}

Work work_of_chance(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch,
                    const LiveBlocks& blocks) {
  const std::int64_t numbers = drawn_numbers(form, launch, blocks);
  const std::int64_t bytes =
      form.kind == Kind::random ? numbers * form.width : pointed_bytes(form, launch, blocks);
  return side_by_side(memory_work(gpu, {bytes}, form.access),
                      thread_work(gpu, kInstructionsOfChance * numbers));
}

}  // namespace

Work launch_work(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch,
                 const LiveBlocks& blocks) {
  switch (form.kind) {
    case Kind::flash_forward:
    case Kind::flash_backward:
    case Kind::efficient_forward:
    case Kind::efficient_backward:
      return work_of_attention(gpu, form, launch);
    case Kind::batch_norm: {
      const std::int64_t elements = behind(0, launch, blocks) / form.width;
      return batch_norm_work(gpu, elements, form.width, launch.grid.x, form.tensors);
    }
    case Kind::depthwise_forward:
    case Kind::depthwise_of_input:
    case Kind::depthwise_of_filter:
      return side_by_side(
          memory_work(gpu, {depthwise_bytes(form) * threads_of(launch)}),
          thread_work(gpu, kInstructionsOfPlace * places_of_windows(form.kind, launch)));
    case Kind::dropout:
    case Kind::random:
      return work_of_chance(gpu, form, launch, blocks);
    default: {
      Moved moved = moved_bytes(gpu, form, launch, blocks);
      if (moved.bytes == 0) moved.bytes = kBytesPerThread * threads_of(launch);
      return memory_work(gpu, moved, form.access,
                         form.kind == Kind::whole ? count(launch.grid) : 0);
    }
  }
}

}  // namespace headroom::dry_run
