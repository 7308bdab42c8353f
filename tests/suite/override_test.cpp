// SPDX-License-Identifier: Apache-2.0
#include "src/suite/override.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

const std::string kSuite = "suite: s\ndefaults:\n  model: {name: vit}\ncases:\n  - name: a\n";

TEST(Override, SplitsAtTheFirstEqualsSign) {
  const Override one = parse_override("data.path=a=b c");
  EXPECT_EQ(one.path, "data.path");
  EXPECT_EQ(one.value.text, "a=b c");
  EXPECT_EQ(one.value.place.text(), "--set data.path=a=b c");
  EXPECT_EQ(parse_override("data.path=").value.text, "");
}

TEST(Override, RefusesWhatIsNone) {
  for (const std::string text : {"", "x", "=1", "a=\x1b[31m", "a=\xFF", "a=1\n"}) {
    EXPECT_TRUE(message_of<ConfigError>([&] { parse_override(text); }).starts_with("--set"))
        << text;
  }
  EXPECT_THROW(parse_override("a=" + std::string(2000, 'x')), ConfigError);
}

TEST(Override, IsCheckedAsAnyOtherValue) {
  const auto refusal = [](const std::string& set) {
    return refusal_of<ConfigError>(kSuite, {set});
  };
  EXPECT_EQ(
      refusal("train.batch_size=x"),
      "--set train.batch_size=x: train.batch_size is 'x'; allowed: an integer from 1 to 4096");
  EXPECT_EQ(refusal("trian.seed=1"),
            "--set trian.seed=1: unknown key 'trian.seed'; did you mean 'train'? Allowed: ranks, "
            "model, data, "
            "train, limits, gate");
  EXPECT_TRUE(contains(refusal("train=1"), "is a group of fields; name one of them"));
  EXPECT_TRUE(contains(refusal("train.optimizer.name=sdg"), "did you mean 'sgd'?"));
  EXPECT_TRUE(contains(refusal("techniques=x"), "unknown key 'techniques'"));
  EXPECT_EQ(load_text(kSuite, {"data.path=12"}).cases[0].find("data.path")->dump(), "\"12\"");
}

}  // namespace
}  // namespace headroom
