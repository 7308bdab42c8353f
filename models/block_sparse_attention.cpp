// SPDX-License-Identifier: Apache-2.0
#include "models/block_sparse_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <optional>
#include <vector>

namespace headroom {
namespace {

constexpr double kPenalty = -10000.0;  // for a key that does not count

/// As Python slices: from behind where a number is negative, to the end where there is no other.
at::Tensor cut(const at::Tensor& x, std::int64_t dimension, std::int64_t begin,
               std::optional<std::int64_t> end = std::nullopt) {
  return x.slice(dimension, begin, end);
}

at::Tensor penalty(const at::Tensor& counts) { return (1.0 - counts) * kPenalty; }

/// A block of queries beside the first or the last one.
struct OuterBlock {
  at::Tensor keys, values;  // (B, H, (4 + R) b, D)
  at::Tensor product;       // (B, H, b, (4 + R) b)
  at::Tensor weights;       // likewise
  at::Tensor mixed;         // (B, H, 1, b, D)
};

/// One call. The members are what the reference's function holds in local variables up to its end.
class Attending {
 public:
  explicit Attending(const BlockSparseInputs& inputs)
      : in_(inputs),
        batch_(inputs.q.size(0)),
        heads_(inputs.q.size(1)),
        tokens_(inputs.q.size(2)),
        block_(inputs.block),
        blocks_(tokens_ / block_),
        scale_(1.0 / std::sqrt(static_cast<double>(inputs.q.size(3)))),
        q_(in_blocks(inputs.q)),
        k_(in_blocks(inputs.k)),
        v_(in_blocks(inputs.v)) {}

  at::Tensor run() {
    make_masks();
    gathered_k_ = gathered(k_);
    gathered_v_ = gathered(v_);
    first_ = whole_row(0, first_weights_);
    second_ = outer_block(1, {0, 1, 2, -1}, 0);
    score_middle();
    mix_middle();
    second_last_ = outer_block(-2, {0, -3, -2, -1}, -1);
    last_ = whole_row(-1, last_weights_);
    at::Tensor mixed =
        at::cat({first_, second_.mixed, middle_, second_last_.mixed, last_}, 2);  // (B,H,n,b,D)
    middle_.reset();  // the reference has one name for both
    mixed = mixed.view({batch_, heads_, tokens_, -1}) * query_counts_;
    return mixed.transpose(1, 2).contiguous().view({batch_, tokens_, -1});
  }

  /// (B, H, T, T) of what run() computed.
  at::Tensor probabilities(const at::TensorOptions& options) const;

 private:
  at::Tensor in_blocks(const at::Tensor& x) const {  // (B, H, T, D) -> (B, H, n, b, D)
    return x.view({batch_, heads_, blocks_, block_, -1});
  }

  void make_masks();
  at::Tensor gathered(const at::Tensor& blocked) const;
  at::Tensor whole_row(std::int64_t row, at::Tensor& weights) const;
  OuterBlock outer_block(std::int64_t row, at::ArrayRef<std::int64_t> own,
                         std::int64_t random_row) const;
  at::Tensor outer_penalty(at::ArrayRef<std::int64_t> own, std::int64_t random_row) const;
  void score_middle();
  void mix_middle();
  void scatter_random(const at::Tensor& rows, const at::Tensor& weights, std::int64_t row) const;

  BlockSparseInputs in_;
  std::int64_t batch_, heads_, tokens_, block_, blocks_;
  double scale_;
  at::Tensor q_, k_, v_;                     // (B, H, n, b, D)
  at::Tensor query_counts_;                  // (B, 1, T, 1)
  at::Tensor key_counts_;                    // (B, 1, 1, T)
  at::Tensor band_counts_;                   // (B, 1, n - 4, b, 3 b)
  at::Tensor random_counts_;                 // (B, H, n - 2, b, R b)
  at::Tensor gathered_k_, gathered_v_;       // (B, H, n - 2, R b, D)
  at::Tensor first_weights_, last_weights_;  // (B, H, b, T)
  at::Tensor first_, last_;                  // (B, H, 1, b, D)
  OuterBlock second_, second_last_;
  at::Tensor band_k_, band_v_;  // (B, H, n - 4, 3 b, D): a block and its neighbours
  at::Tensor band_, random_, to_first_, to_last_;  // scores, (B, H, n - 4, b, ...)
  at::Tensor scores_, weights_;                    // (B, H, n - 4, b, (5 + R) b)
  at::Tensor middle_;                              // (B, H, n - 4, b, D)
};

void Attending::make_masks() {
  const at::Tensor blocked = in_.counts.view({batch_, blocks_, block_});
  const at::ScalarType dtype = in_.q.scalar_type();
  const at::Tensor neighbours =
      at::cat({cut(blocked, 1, 1, -3), cut(blocked, 1, 2, -2), cut(blocked, 1, 3, -1)}, 2);
  band_counts_ =
      at::einsum("blq,blk->blqk", {cut(blocked, 1, 2, -2), neighbours}).unsqueeze_(1).to(dtype);
  query_counts_ = in_.counts.view({batch_, 1, tokens_, 1}).to(dtype);
  key_counts_ = in_.counts.view({batch_, 1, 1, tokens_}).to(dtype);
  const at::Tensor flat = in_.random.reshape({batch_, -1}).unsqueeze(-1);
  const at::Tensor drawn =
      at::gather(blocked, 1, flat.expand({-1, -1, block_})).view({batch_, heads_, blocks_ - 2, -1});
  random_counts_ = at::einsum("blq,bhlk->bhlqk", {cut(blocked, 1, 1, -1), drawn});
}

at::Tensor Attending::gathered(const at::Tensor& blocked) const {
  const at::Tensor flat = in_.random.reshape({batch_, heads_, -1}).unsqueeze(-1).unsqueeze(-1);
  const at::Tensor indices = flat.expand({-1, -1, -1, block_, blocked.size(4)});
  return at::gather(blocked, 2, indices).view({batch_, heads_, blocks_ - 2, -1, blocked.size(4)});
}

/// A block of queries and all keys.
at::Tensor Attending::whole_row(std::int64_t row, at::Tensor& weights) const {
  at::Tensor product = at::matmul(q_.select(2, row), in_.k.transpose(-1, -2));
  product = product * scale_;
  product += penalty(key_counts_);
  weights = at::softmax(product, -1);
  return at::matmul(weights, in_.v).unsqueeze_(2);
}

/// Of the keys of the blocks `own`, and behind them the random ones.
at::Tensor Attending::outer_penalty(at::ArrayRef<std::int64_t> own, std::int64_t random_row) const {
  const at::Tensor counts = key_counts_.view({batch_, 1, 1, blocks_, block_});
  std::vector<at::Tensor> keys;
  for (const std::int64_t block : own) keys.push_back(counts.select(3, block));
  const std::int64_t drawn = random_counts_.size(-1);
  keys.push_back(key_counts_.new_ones({batch_, 1, 1, drawn}));
  const at::Tensor of_own = random_counts_.new_ones({batch_, heads_, block_, 4 * block_});
  const at::Tensor random = at::cat({of_own, random_counts_.select(2, random_row)}, 3);
  return penalty(at::minimum(at::cat(keys, 3), random));
}

OuterBlock Attending::outer_block(std::int64_t row, at::ArrayRef<std::int64_t> own,
                                  std::int64_t random_row) const {
  std::vector<at::Tensor> keys, values;
  for (const std::int64_t block : own) {
    keys.push_back(k_.select(2, block));
    values.push_back(v_.select(2, block));
  }
  keys.push_back(gathered_k_.select(2, random_row));
  values.push_back(gathered_v_.select(2, random_row));
  OuterBlock outer;
  outer.keys = at::cat(keys, 2);
  outer.values = at::cat(values, 2);
  outer.product = at::matmul(q_.select(2, row), outer.keys.transpose(-1, -2));
  outer.product = outer.product * scale_;
  outer.product += outer_penalty(own, random_row);
  outer.weights = at::softmax(outer.product, -1);
  outer.mixed = at::matmul(outer.weights, outer.values).unsqueeze_(2);
  return outer;
}

/// All blocks of queries but the outer two at each end.
void Attending::score_middle() {
  band_k_ = at::cat({cut(k_, 2, 1, -3), cut(k_, 2, 2, -2), cut(k_, 2, 3, -1)}, 3);
  band_v_ = at::cat({cut(v_, 2, 1, -3), cut(v_, 2, 2, -2), cut(v_, 2, 3, -1)}, 3);
  const at::Tensor q = cut(q_, 2, 2, -2);
  const auto scored_block = [&](std::int64_t block) {
    at::Tensor product = at::einsum("bhlqd,bhkd->bhlqk", {q, k_.select(2, block)});
    return product * scale_;
  };
  band_ = at::matmul(q, band_k_.transpose(-1, -2));
  band_ = band_ * scale_;
  random_ = at::matmul(q, cut(gathered_k_, 2, 1, -1).transpose(-1, -2));
  random_ = random_ * scale_;
  to_first_ = scored_block(0);
  to_last_ = scored_block(-1);
  band_ += penalty(band_counts_);
  to_first_ += penalty(cut(key_counts_, 3, 0, block_).unsqueeze(3));
  to_last_ += penalty(cut(key_counts_, 3, -block_).unsqueeze(3));
  random_ += penalty(cut(random_counts_, 2, 1, -1));
  scores_ = at::cat({to_first_, band_, random_, to_last_}, -1);
  weights_ = at::softmax(scores_, -1);
}

void Attending::mix_middle() {
  const auto of_block = [&](const at::Tensor& weights, std::int64_t block) {
    return at::einsum("bhlqk,bhkd->bhlqd", {weights, v_.select(2, block)});
  };
  middle_ = at::matmul(cut(weights_, 4, block_, 4 * block_), band_v_);
  middle_ += at::matmul(cut(weights_, 4, 4 * block_, -block_), cut(gathered_v_, 2, 1, -1));
  middle_ += of_block(cut(weights_, 4, 0, block_), 0);
  middle_ += of_block(cut(weights_, 4, -block_), -1);
}

/// Puts the weights (B, H, b, R b) of the random keys of block `row` in its rows (B, H, b, n, b).
void Attending::scatter_random(const at::Tensor& rows, const at::Tensor& weights,
                               std::int64_t row) const {
  const std::int64_t drawn = in_.random.size(3);
  const at::Tensor indices =
      in_.random.select(2, row).unsqueeze(-1).unsqueeze(2).expand({-1, -1, block_, -1, block_});
  at::Tensor(rows).scatter_(3, indices, weights.view({batch_, heads_, block_, drawn, block_}));
}

at::Tensor Attending::probabilities(const at::TensorOptions& options) const {
  const std::int64_t b = block_, middle = blocks_ - 4, drawn = in_.random.size(3);
  at::Tensor whole = at::zeros({batch_, heads_, tokens_, tokens_}, options);
  const auto rows = [&](std::int64_t begin, std::int64_t end) { return cut(whole, 2, begin, end); };
  const auto put = [](const at::Tensor& to, const at::Tensor& from) { at::Tensor(to).copy_(from); };
  const auto flat = [&](const at::Tensor& x) { return x.view({batch_, heads_, -1, b}); };
  const at::Tensor &second = second_.weights, &second_last = second_last_.weights;
  put(rows(0, b), first_weights_);
  put(cut(rows(b, 2 * b), 3, 0, 3 * b), cut(second, 3, 0, 3 * b));
  put(cut(rows(b, 2 * b), 3, -b), cut(second, 3, 3 * b, 4 * b));
  put(cut(rows(2 * b, -2 * b), 3, 0, b), flat(cut(weights_, 4, 0, b)));
  put(cut(rows(2 * b, -2 * b), 3, -b), flat(cut(weights_, 4, -b)));
  put(cut(rows(-2 * b, -b), 3, 0, b), cut(second_last, 3, 0, b));
  put(cut(rows(-2 * b, -b), 3, -3 * b), cut(second_last, 3, b, 4 * b));
  put(cut(whole, 2, -b), last_weights_);

  const at::Tensor blocked = whole.view({batch_, heads_, blocks_, b, blocks_, b});
  scatter_random(blocked.select(2, 1), cut(second, 3, 4 * b), 0);
  const at::Tensor number = at::arange(middle, in_.random.options());
  const at::Tensor diagonal = (number.unsqueeze(1) + at::arange(3, number.options()).unsqueeze(0))
                                  .view({1, 1, middle, 1, 3, 1})
                                  .expand({batch_, heads_, middle, b, 3, b});
  cut(cut(blocked, 2, 2, -2), 4, 1, -1)
      .scatter_(4, diagonal, cut(weights_, 4, b, 4 * b).view({batch_, heads_, middle, b, 3, b}));
  const at::Tensor indices = cut(in_.random, 2, 1, -1)
                                 .unsqueeze(-1)
                                 .unsqueeze(-1)
                                 .expand({batch_, heads_, middle, drawn, b, b})
                                 .transpose(3, 4);
  cut(blocked, 2, 2, -2)
      .scatter_(4, indices,
                cut(weights_, 4, 4 * b, -b).view({batch_, heads_, middle, b, drawn, b}));
  scatter_random(blocked.select(2, -2), cut(second_last, 3, 4 * b), -1);
  return whole;
}

}  // namespace

BlockSparseOutput attend_block_sparse(const BlockSparseInputs& inputs, bool whole_probabilities) {
  Attending attending(inputs);
  BlockSparseOutput output{.mixed = attending.run(), .probabilities = {}};
  if (whole_probabilities) {
    output.probabilities = attending.probabilities(output.mixed.options());
  }
  return output;
}

}  // namespace headroom
