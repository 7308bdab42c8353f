// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/block_products.h"
#include "src/distributed/token_parts.h"
#include "techniques/step.h"

namespace headroom {

/// Products of which each rank computes a part: tensor parallelism. Layers whose outputs are shared
/// need nothing of other ranks, and backward sums the gradient of their input; layers whose inputs
/// are shared sum their outputs. With `shares_tokens` these sums leave each rank its own tokens,
/// and what is not a product works on those alone: sequence parallelism. Their input is then
/// gathered, and gathered again for backward, so that no rank keeps all tokens.
/// Source: Shoeybi et al. 2019, arXiv:1909.08053; Korthikanti et al. 2022, arXiv:2205.05198.
class SharedProducts final : public BlockProducts {
 public:
  /// The step outlives it.
  SharedProducts(Step& step, bool shares_tokens) : step_(step), shares_tokens_(shares_tokens) {}

  at::Tensor enter_blocks(const at::Tensor& x) override;
  at::Tensor leave_blocks(const at::Tensor& x) override;
  std::vector<at::Tensor> by_outputs(const at::Tensor& x, std::int64_t tokens,
                                     std::initializer_list<Linear> layers) override;
  at::Tensor by_inputs(const at::Tensor& x, std::int64_t tokens, const Linear& layer) override;

  /// All tokens of x, of which this rank has its own: x itself where tokens are not shared.
  at::Tensor all_tokens(const at::Tensor& x, std::int64_t dimension) const;
  at::Tensor own_tokens(const at::Tensor& x, std::int64_t dimension) const;
  /// The sum of x over ranks, of this rank's tokens. Writes over x.
  at::Tensor sum(const at::Tensor& x, std::int64_t dimension) const;
  bool shares_tokens() const { return shares_tokens_; }

 private:
  Step& step_;
  bool shares_tokens_;
  std::optional<TokenParts> parts_;  // of the batch that is in the blocks, where tokens are shared
};

}  // namespace headroom
