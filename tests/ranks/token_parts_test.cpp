// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/token_parts.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "tests/ranks/threads.h"

namespace headroom {
namespace {

/// Memory that nobody has written to is NaN, in place of what happens to be there.
class UnwrittenMemoryIsNan {
 public:
  UnwrittenMemoryIsNan() { at::globalContext().setDeterministicAlgorithms(true, false); }
  ~UnwrittenMemoryIsNan() { at::globalContext().setDeterministicAlgorithms(false, false); }
  UnwrittenMemoryIsNan(const UnwrittenMemoryIsNan&) = delete;
  UnwrittenMemoryIsNan& operator=(const UnwrittenMemoryIsNan&) = delete;
};

// 5 tokens of 3 ranks: two of each, the last one of which is none.
TEST(TokenParts, ArePaddedWithZerosAndGiveTheWholeAgain) {
  const UnwrittenMemoryIsNan nan;
  on_ranks(3, [](ProcessGroup& group) {
    Ledger ledger;
    const TokenParts parts(group, ledger, 5);
    const at::Tensor x = at::arange(5 * 4, at::kFloat).view({5, 4});  // (T, D)
    const at::Tensor padded = at::cat({x, at::zeros({1, 4})});
    const at::Tensor expected = padded.narrow(0, 2 * group.rank(), 2);
    EXPECT_TRUE(at::equal(parts.own(x, 0), expected)) << parts.own(x, 0);
    EXPECT_TRUE(at::equal(parts.gather(expected, 0), x));
    EXPECT_TRUE(at::equal(parts.sum(x.clone(), 0), 3 * expected));
    const at::Tensor turned = x.view({5, 2, 2}).transpose(0, 1).contiguous();  // (B, T, D)
    const at::Tensor own = parts.own(turned, 1);
    EXPECT_TRUE(at::equal(own.transpose(0, 1).reshape({2, 4}), expected)) << own;
    EXPECT_TRUE(at::equal(parts.gather(own, 1), turned));
  });
}

}  // namespace
}  // namespace headroom
