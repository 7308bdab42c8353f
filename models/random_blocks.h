// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace headroom {

/// What BigBird's block-sparse attention is made of: blocks of so many tokens, of which each reads
/// so many at random beside its neighbours, the first and the last.
struct BlockSparse {
  std::int64_t block;      // tokens
  std::int64_t random;     // blocks
  std::int64_t positions;  // of the model: the most tokens that it reads

  /// With so many tokens or fewer, transformers' BigBird attends to all of them instead.
  std::int64_t most_full() const { return (5 + 2 * random) * block; }
};

/// The blocks of keys that blocks of queries read at random, as transformers' BigBird draws them in
/// training: by numpy.random.seed(seed) in each forward pass, where the seed is the number of the
/// layer. So they are the same in each step. For `heads` heads, each block of queries but the first
/// and the last, `random` numbers of blocks: flat, (heads, blocks - 2, random).
/// `tokens`: a multiple of the block, more than most_full(), at most `positions`.
std::vector<std::int64_t> random_blocks(const BlockSparse& sparse, std::int64_t tokens,
                                        std::int64_t heads, std::uint32_t seed);

}  // namespace headroom
