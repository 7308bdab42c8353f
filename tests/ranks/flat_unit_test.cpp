// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/flat_unit.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "src/memory/host_memory.h"
#include "tests/ranks/threads.h"

namespace headroom {
namespace {

std::vector<at::Tensor> two_parameters() {
  return {at::arange(6.0F).reshape({2, 3}).requires_grad_(),
          (at::arange(4.0F) + 10).requires_grad_()};
}

TEST(FlatUnitTest, PartsArePaddedAndTogetherAreTheWhole) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 7, 16}) {  // 16: most ranks' parts are padding alone
    SCOPED_TRACE(ranks);
    on_ranks(ranks, [](ProcessGroup& group) {
      const auto parameters = two_parameters();
      FlatUnit unit(parameters, group, {.gathered = true});
      EXPECT_EQ(unit.part().numel(), (10 + group.ranks() - 1) / group.ranks());
      EXPECT_TRUE(unit.part().is_leaf() && unit.part().requires_grad());
      EXPECT_FALSE(unit.is_allocated());
      unit.allocate();
      unit.gather(unit.fetch_part()).wait();
      EXPECT_TRUE(at::equal(parameters[0], two_parameters()[0]));
      EXPECT_TRUE(at::equal(parameters[1], two_parameters()[1]));
      const std::int64_t padding = unit.whole().numel() - 10;
      EXPECT_TRUE(at::equal(unit.whole().narrow(0, 10, padding), at::zeros({padding})));
    });
  }
}

TEST(FlatUnitTest, AnUpdateOfThePartsIsAnUpdateOfTheParameters) {
  for (const bool gathered : {false, true}) {
    on_ranks(3, [gathered](ProcessGroup& group) {
      const auto parameters = two_parameters();
      FlatUnit unit(parameters, group, {.gathered = gathered});
      unit.part().detach().add_(100.0);
      if (gathered) unit.allocate();
      unit.gather(unit.fetch_part()).wait();
      EXPECT_TRUE(at::equal(parameters[1], two_parameters()[1] + 100.0));
    });
  }
}

TEST(FlatUnitTest, GathersInAnotherDtypeAndFromTheHost) {
  for (const bool on_host : {false, true}) {
    on_ranks(2, [on_host](ProcessGroup& group) {
      const auto parameters = two_parameters();
      FlatUnit unit(parameters, group,
                    {.gathered = true, .part_on_host = on_host, .gather_dtype = at::kBFloat16});
      EXPECT_EQ(unit.part().scalar_type(), at::kFloat);
      EXPECT_EQ(unit.fetched_bytes(), on_host ? 20 : 0);
      unit.allocate();
      const at::Tensor fetched = unit.fetch_part();
      unit.gather(fetched).wait();
      EXPECT_EQ(fetched.storage().nbytes(), 0U) << "the copy that was sent is of no use then";
      EXPECT_EQ(parameters[0].scalar_type(), at::kBFloat16);
      EXPECT_TRUE(at::equal(parameters[0].to(at::kFloat), two_parameters()[0]));
    });
  }
}

TEST(FlatUnitTest, KeepsANarrowWholeBesideItsPart) {
  on_ranks(3, [](ProcessGroup& group) {
    const auto parameters = two_parameters();
    FlatUnit unit(parameters, group, {.gather_dtype = at::kBFloat16});
    EXPECT_EQ(unit.part().scalar_type(), at::kFloat);
    EXPECT_FALSE(unit.part().is_alias_of(unit.whole()));
    EXPECT_TRUE(at::equal(parameters[1].to(at::kFloat), two_parameters()[1]));
    EXPECT_TRUE(at::equal(unit.whole().narrow(0, 10, 2).to(at::kFloat), at::zeros({2})));
    unit.part().detach().add_(0.001);  // which the part can tell and the whole can't
    unit.gather(unit.fetch_part()).wait();
    EXPECT_TRUE(at::equal(parameters[1].to(at::kFloat), two_parameters()[1]));
    unit.part().detach().add_(100.0);
    unit.gather(unit.fetch_part()).wait();
    EXPECT_TRUE(at::equal(parameters[1].to(at::kFloat), two_parameters()[1] + 100.0));
  });
}

TEST(FlatUnitTest, ReceivesValuesThatCrossParts) {
  on_ranks(4, [](ProcessGroup& group) {
    const auto parameters = two_parameters();
    for (const at::Tensor& parameter : parameters) release_storage(parameter);
    FlatUnit unit(parameters, group, {.gathered = true});
    for (std::size_t i = 0; i < parameters.size(); ++i) unit.receive(i, two_parameters()[i]);
    unit.allocate();
    unit.gather(unit.fetch_part()).wait();
    EXPECT_TRUE(at::equal(parameters[0], two_parameters()[0]));
    EXPECT_TRUE(at::equal(parameters[1], two_parameters()[1]));
  });
}

TEST(FlatUnitTest, TakesGradientsAndZerosWhereThereAreNone) {
  on_ranks(3, [](ProcessGroup& group) {
    const auto parameters = two_parameters();
    const FlatUnit unit(parameters, group, {});
    at::Tensor(parameters[1]).mutable_grad() = at::full({4}, 2.0);
    const at::Tensor gradient = unit.take_gradient(SideStream(group.device()));
    EXPECT_EQ(gradient.numel(), 12);
    EXPECT_TRUE(at::equal(gradient.narrow(0, 0, 6), at::zeros({6})));
    EXPECT_TRUE(at::equal(gradient.narrow(0, 6, 4), at::full({4}, 2.0)));
    EXPECT_TRUE(at::equal(gradient.narrow(0, 10, 2), at::zeros({2})));
    EXPECT_FALSE(parameters[1].grad().defined());
  });
}

}  // namespace
}  // namespace headroom
