// SPDX-License-Identifier: Apache-2.0
#include "models/random_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

namespace headroom {
namespace {

using Blocks = std::vector<std::int64_t>;

constexpr std::int64_t kLastIndex = 1024;  // in tokens: plans of the paper draw before it

Blocks range(std::int64_t begin, std::int64_t end) {
  Blocks blocks(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)));
  std::iota(blocks.begin(), blocks.end(), begin);
  return blocks;
}

/// numpy.random.RandomState of a seed.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : bits_(seed) {}

  Blocks permutation(Blocks values) {
    for (std::size_t i = values.size() - 1; i > 0; --i) {
      std::swap(values[i], values[up_to(static_cast<std::uint32_t>(i))]);
    }
    return values;
  }

 private:
  /// 0 to `most`, by drawing as many bits as that has until they fit.
  std::uint32_t up_to(std::uint32_t most) {
    const std::uint32_t mask = (std::bit_ceil(most + 1U)) - 1U;
    std::uint32_t value = 0;
    do value = static_cast<std::uint32_t>(bits_()) & mask;
    while (value > most);
    return value;
  }

  std::mt19937 bits_;
};

/// The plans of the paper, for 1,024, 3,072 and 4,096 tokens: of a model's positions, whatever the
/// tokens are.
class PaperPlan {
 public:
  explicit PaperPlan(const BlockSparse& sparse)
      : blocks_(sparse.positions / sparse.block),
        last_(kLastIndex > 2 * sparse.block ? kLastIndex / sparse.block - 1 : blocks_ - 1) {}

  std::int64_t rows() const { return blocks_ - 2; }

  /// The blocks among which block `row` draws. Those of the middle are 1 to blocks - 2, and here
  /// they are named by their index among these, with Python's slices: the end is left out and may
  /// lie behind the last.
  Blocks candidates(std::int64_t row) const {
    if (row == 1) return middle(2, last_);
    if (row == 2) return middle(3, last_);
    if (row >= blocks_ - 3) return middle(0, last_);
    const std::int64_t window = row - 2;
    if (window > last_) return middle(0, last_);
    Blocks before = middle(0, window);
    if (row + 1 == last_) return before;
    const Blocks behind = middle(row + 1, last_);
    before.insert(before.end(), behind.begin(), behind.end());
    return before;
  }

 private:
  Blocks middle(std::int64_t begin, std::int64_t end) const {
    return range(begin + 1, std::min(end, blocks_ - 2) + 1);
  }

  std::int64_t blocks_;
  std::int64_t last_;
};

/// Any other number of tokens: all rows draw among the first `drawn` blocks.
bool may_read(std::int64_t row, std::int64_t block, std::int64_t drawn) {
  if (block == 0 || block == drawn - 1) return false;
  if (block >= row - 1 && block <= row + 1) return false;
  if (row == 1 && block == drawn - 2) return false;
  return row != drawn - 2 || block != 1;
}

/// (heads, rows, random), flat.
class Plan {
 public:
  Plan(std::int64_t heads, std::int64_t rows, std::int64_t random)
      : rows_(rows), random_(random), blocks_(static_cast<std::size_t>(heads * rows * random)) {}

  /// Row 0 is of the block behind the first.
  void set(std::int64_t head, std::int64_t row, const Blocks& drawn) {
    if (row >= rows_) return;  // drawn all the same: those behind it depend on it
    std::copy_n(drawn.begin(), random_, blocks_.begin() + (head * rows_ + row) * random_);
  }
  Blocks take() { return std::move(blocks_); }

 private:
  std::int64_t rows_;
  std::int64_t random_;
  Blocks blocks_;
};

}  // namespace

std::vector<std::int64_t> random_blocks(const BlockSparse& sparse, std::int64_t tokens,
                                        std::int64_t heads, std::uint32_t seed) {
  NumpyRandom random(seed);
  const std::int64_t blocks = tokens / sparse.block;
  Plan plan(heads, blocks - 2, sparse.random);
  constexpr std::array kPaperTokens = {1024, 3072, 4096};
  if (std::ranges::count(kPaperTokens, tokens) > 0) {
    const PaperPlan paper(sparse);
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t row = 1; row <= paper.rows(); ++row) {
        plan.set(head, row - 1, random.permutation(paper.candidates(row)));
      }
    }
    return plan.take();
  }
  const std::int64_t drawn = 5 + 2 * sparse.random;
  for (std::int64_t row = 1; row < blocks; ++row) {
    for (std::int64_t head = 0; head < heads; ++head) {
      Blocks permuted = random.permutation(range(0, drawn));
      std::erase_if(permuted, [&](std::int64_t block) { return !may_read(row, block, drawn); });
      plan.set(head, row - 1, permuted);
    }
  }
  return plan.take();
}

}  // namespace headroom
