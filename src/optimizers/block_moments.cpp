// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/block_moments.h"

#include <algorithm>

namespace headroom {
namespace {

/// Calls `work(first, blocks, width)` for `numbers` numbers in blocks of `block`. The last block
/// may be shorter and comes by itself.
template <class Work>
void for_blocks(std::int64_t numbers, std::int64_t block, const Work& work) {
  constexpr std::int64_t kNumbersAtOnce = 1 << 20;
  const std::int64_t whole = numbers / block;
  for (std::int64_t first = 0; first < whole; first += kNumbersAtOnce / block) {
    work(first, std::min(kNumbersAtOnce / block, whole - first), block);
  }
  if (whole * block < numbers) work(whole, std::int64_t{1}, numbers - whole * block);
}

}  // namespace

BlockMoments::BlockMoments(std::int64_t block, CodeFormat format,
                           const std::array<at::Tensor, 2>& values, const at::Tensor& like,
                           const StateFactory& make_state)
    : block_(block),
      codes_in_a_byte_(format.two_in_a_byte ? 2 : 1),
      maps_{BlockMap(values[0], format, like, make_state),
            BlockMap(values[1], format, like, make_state)} {}

void BlockMoments::update(const UpdateTensors& tensors, std::size_t index,
                          const MomentsUpdate& update) const {
  const at::Tensor parameter = tensors.parameters[index].view({-1});
  const at::Tensor gradient = tensors.gradients[index].reshape({-1});
  for_blocks(parameter.numel(), block_, [&](auto block, auto blocks, auto width) {
    const auto piece = [&](const at::Tensor& flat, std::int64_t numbers_each) {
      return flat.narrow(0, block * block_ / numbers_each, blocks * width / numbers_each)
          .view({blocks, width / numbers_each});
    };
    const auto codes = [&](std::size_t k) {
      return piece(tensors.state[k][index].view({-1}), codes_in_a_byte_);
    };
    const auto scales = [&](std::size_t k) {
      return tensors.state[k][index].narrow(0, block, blocks);
    };
    const at::Tensor first = maps_[0].widened(codes(0), scales(1));
    const at::Tensor second = maps_[1].widened(codes(2), scales(3));
    at::Tensor narrow_weights = piece(parameter, 1);
    const at::Tensor weights = narrow_weights.to(at::kFloat);  // itself, where it is float32
    update(weights, piece(gradient, 1).to(at::kFloat), first, second);
    narrow_weights.copy_(weights);
    maps_[0].narrow(first, codes(0), scales(1));
    maps_[1].narrow(second, codes(2), scales(3));
  });
}

std::vector<at::Tensor> BlockMoments::tensors() const {
  std::vector<at::Tensor> all = maps_[0].tensors();
  for (const at::Tensor& tensor : maps_[1].tensors()) all.push_back(tensor);
  return all;
}

}  // namespace headroom
