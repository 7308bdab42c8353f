// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/reduction.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

template <class T>
Bytes bytes_of(const std::vector<T>& numbers) {
  Bytes bytes(numbers.size() * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// Of two ranks.
template <class T>
Bytes reduced(const std::vector<T>& one, const std::vector<T>& other, Reduction reduction,
              Number number) {
  return reduce({{bytes_of(one), {}}, {bytes_of(other), {}}}, reduction, number).bytes;
}

TEST(ReductionTest, IsThatOfEachElement) {
  const std::vector<std::int64_t> one{1, -5};
  const std::vector<std::int64_t> other{3, 2};
  const auto of = [&](Reduction reduction) {
    return reduced(one, other, reduction, Number::int64);
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(of(Reduction::sum), bytes_of(Numbers{4, -3}));
  EXPECT_EQ(of(Reduction::product), bytes_of(Numbers{3, -10}));
  EXPECT_EQ(of(Reduction::max), bytes_of(Numbers{3, 2}));
  EXPECT_EQ(of(Reduction::min), bytes_of(Numbers{1, -5}));
  EXPECT_EQ(of(Reduction::average), bytes_of(Numbers{2, -1}));
}

TEST(ReductionTest, KnowsTheNumbersThatProgramsCountIn) {
  const auto sum = Reduction::sum;
  EXPECT_EQ(reduced<float>({0.5F}, {1}, sum, Number::float32), bytes_of<float>({1.5F}));
  EXPECT_EQ(reduced<double>({0.5}, {1}, sum, Number::float64), bytes_of<double>({1.5}));
  EXPECT_EQ(reduced<std::int32_t>({-2}, {1}, sum, Number::int32), bytes_of<std::int32_t>({-1}));
  EXPECT_EQ(reduced<unsigned char>({200}, {100}, sum, Number::uint8), Bytes{44});
  EXPECT_EQ(reduced<signed char>({-1}, {1}, Reduction::max, Number::int8), Bytes{1});
  EXPECT_EQ(reduced<unsigned char>({255}, {1}, Reduction::max, Number::uint8), Bytes{255});
}

TEST(ReductionTest, IsNotKnownWhereOneKnowsNothing) {
  const PartlyKnown known{{1}, {}};
  EXPECT_FALSE(reduce({known, {}}, Reduction::max, Number::uint8).has_any());
  EXPECT_FALSE(reduce({{}, {}}, Reduction::max, Number::uint8).has_any());
  EXPECT_FALSE(reduce({{{1, 2}, {}}, known}, Reduction::max, Number::uint8).has_any());
}

TEST(ReductionTest, HasGapsWhereOneHas) {
  const PartlyKnown whole{{1, 2, 3}, {}};
  const PartlyKnown of_one{{5, 0, 5}, {false, true, false}};
  const PartlyKnown of_other{{7, 7, 0}, {false, false, true}};
  const PartlyKnown sum = reduce({whole, of_one, of_other}, Reduction::sum, Number::uint8);
  EXPECT_EQ(sum.gaps, (std::vector<bool>{false, true, true}));
  EXPECT_EQ(sum.bytes[0], 13);
}

TEST(ReductionTest, OfTheSameNumbersIsThatWhateverTheirKind) {
  const PartlyKnown same{{1, 2}, {}};
  const auto reduced = [](const std::vector<PartlyKnown>& sent, Reduction reduction) {
    return reduce(sent, reduction, Number::other);
  };
  EXPECT_EQ(reduced({same, same}, Reduction::average).bytes, same.bytes);
  EXPECT_FALSE(reduced({same, same}, Reduction::sum).has_any());
  EXPECT_FALSE(reduced({same, {{2, 2}, {}}}, Reduction::max).has_any());
  EXPECT_EQ(reduced({same}, Reduction::sum).bytes, same.bytes);
}

}  // namespace
}  // namespace headroom::dry_run
