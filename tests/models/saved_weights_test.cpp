// SPDX-License-Identifier: Apache-2.0
#include "models/saved_weights.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "models/table.h"
#include "models/tensor_file.h"
#include "src/core/error.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

class SavedWeightsTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  std::string message(const std::function<void()>& call) const {
    try {
      call();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }

  const std::string path_ = testing::TempDir() +
                            testing::UnitTest::GetInstance()->current_test_info()->name() +
                            std::to_string(::getpid()) + ".safetensors";
};

std::unique_ptr<Model> small_model(at::ScalarType dtype = at::kFloat) {
  return find_model("vit_ti_16").make({.name = "vit_ti_16"}, {.image_size = 32}, {at::kCPU, dtype});
}

NamedTensors tensors_of(const Model& model) {
  NamedTensors tensors;
  for (const Parameter& parameter : model.parameters()) tensors[parameter.name] = parameter.tensor;
  return tensors;
}

TEST_F(SavedWeightsTest, TensorsOfEveryTypeComeBack) {
  NamedTensors written = {{"scalar", at::full({}, 2.5)},
                          {"empty", at::empty({0, 3}, at::kDouble)},
                          {"flags", at::arange(5).remainder(2).to(at::kBool)},
                          {"transposed", at::randn({3, 4}).t()}};
  for (const at::ScalarType type :
       {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kFloat8_e5m2, at::kFloat8_e4m3fn,
        at::kComplexFloat, at::kLong, at::kInt, at::kShort, at::kChar, at::kUInt64, at::kUInt32,
        at::kUInt16, at::kByte}) {
    written[c10::toString(type)] = at::arange(6).view({2, 3}).to(type);
  }
  write_tensors(path_, written);
  const NamedTensors read = read_tensors(path_);
  ASSERT_EQ(read.size(), written.size());
  for (const auto& [name, tensor] : written) {
    const at::Tensor& back = read.at(name);
    EXPECT_EQ(back.scalar_type(), tensor.scalar_type()) << name;
    ASSERT_EQ(back.sizes(), tensor.sizes()) << name;
    const at::ScalarType wide = tensor.is_complex() ? at::kComplexDouble : at::kDouble;
    EXPECT_TRUE(back.to(wide).equal(tensor.to(wide))) << name;
  }
}

TEST_F(SavedWeightsTest, AModelComesBack) {
  const auto saved = small_model();
  const auto loaded = small_model();
  write_tensors(path_, tensors_of(*saved));
  load_weights(path_, loaded->parameters());
  for (std::size_t i = 0; i < saved->parameters().size(); ++i) {
    EXPECT_TRUE(loaded->parameters()[i].tensor.equal(saved->parameters()[i].tensor));
    EXPECT_TRUE(loaded->parameters()[i].tensor.requires_grad());
  }
}

TEST_F(SavedWeightsTest, WeightsAreConvertedToTheModelsType) {
  const auto wide = small_model();
  write_tensors(path_, tensors_of(*wide));
  const auto narrow = small_model(at::kBFloat16);
  load_weights(path_, narrow->parameters());
  for (std::size_t i = 0; i < wide->parameters().size(); ++i) {
    EXPECT_TRUE(
        narrow->parameters()[i].tensor.equal(wide->parameters()[i].tensor.to(at::kBFloat16)));
  }
}

TEST_F(SavedWeightsTest, EveryDifferenceIsListedAndNothingIsLoaded) {
  const auto model = small_model();
  NamedTensors tensors;
  for (const auto& [name, tensor] : tensors_of(*model)) tensors[name] = at::ones_like(tensor);
  tensors.erase("encoder.ln.bias");
  tensors["encoder.ln.beta"] = at::zeros({192});
  tensors["heads.head.bias"] = at::zeros({1000});
  tensors["class_token"] = at::zeros({1, 1, 192}, at::kInt);
  write_tensors(path_, tensors);
  EXPECT_EQ(
      message([&] { load_weights(path_, model->parameters()); }),
      path_ +
          ": these are not the model's weights; missing: encoder.ln.bias; unexpected: "
          "encoder.ln.beta; different: class_token is I32, not floating point, heads.head.bias "
          "is (1000), not (10); a case with 'model.head: new' begins with a head of its own");
  EXPECT_FALSE(tensors_of(*model).at("conv_proj.weight").eq(1).any().item<bool>());
}

TEST_F(SavedWeightsTest, WhatIsNotANumberIsRefused) {
  const auto model = small_model();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kFloat8_e5m2}) {
    NamedTensors tensors = tensors_of(*model);
    at::Tensor values = at::zeros({192});
    values[191].fill_(std::nan(""));
    tensors["encoder.ln.bias"] = values.to(type);
    write_tensors(path_, tensors);
    EXPECT_EQ(message([&] { load_weights(path_, model->parameters()); }),
              path_ + ": a value of 'encoder.ln.bias' is not a number (NaN)");
  }
}

TEST_F(SavedWeightsTest, LongListsAreCut) {
  const auto model = small_model();
  write_tensors(path_, {{"something", at::zeros({1})}});
  const std::string text = message([&] { load_weights(path_, model->parameters()); });
  EXPECT_NE(text.find("and 142 more; unexpected: something"), std::string::npos) << text;
  EXPECT_LT(text.size(), 2000U);
}

TEST_F(SavedWeightsTest, BooleansMustBeZeroOrOne) {
  write_tensors(path_, {{"flags", at::ones({8}, at::kBool)}});
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-1, std::ios::end);
  file.put(2);
  file.close();
  EXPECT_NE(message([&] { read_tensors(path_); }).find("flags"), std::string::npos);
}

TEST_F(SavedWeightsTest, AFileThatIsCutShortIsRefused) {
  write_tensors(path_, {{"weight", at::ones({8})}});
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_NE(message([&] { read_tensors(path_); }), "no error");
}

TEST_F(SavedWeightsTest, AFileThatChangesWhileItIsReadIsRefused) {
  const auto read_after = [&](const std::function<void()>& happens) {
    write_tensors(path_, {{"weight", at::ones({1024})}});
    TensorFile file(path_);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a file's time has ticks
    happens();
    return message([&] { file.read(file.header().tensors.front()); });
  };
  const std::string changed = path_ + ": it changed while it was read";
  EXPECT_EQ(read_after([] {}), "no error");
  EXPECT_EQ(read_after([&] { std::filesystem::resize_file(path_, 4000); }), changed);
  EXPECT_EQ(read_after([&] { std::filesystem::resize_file(path_, 1); }), changed);
  EXPECT_EQ(read_after([&] { std::ofstream(path_, std::ios::app) << "more"; }), changed);
  EXPECT_EQ(read_after([&] {
              std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
              file.seekp(-4, std::ios::end);
              file << "xxxx";
            }),
            changed);
  // What was opened is still there.
  EXPECT_EQ(read_after([&] { write_tensors(path_, {{"weight", at::zeros({1024})}}); }), "no error");
}

TEST_F(SavedWeightsTest, AFileThatIsNotThereIsNamed) {
  EXPECT_NE(message([&] { read_tensors(path_); }).find(path_), std::string::npos);
}

class SavedPartsTest : public testing::Test {
 protected:
  /// The message with which a folder is refused.
  std::string refusal() const {
    try {
      SavedWeights saved(folder_.path());
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
  void write(std::int64_t rank, std::vector<WeightPart> parts, std::int64_t ranks = 2) const {
    write_weight_parts(folder_.path(), {rank, ranks}, parts);
  }

  const TemporaryFolder folder_;
  const at::Tensor whole_ = at::arange(24.0).view({6, 4});
};

WeightPart part(std::int64_t dimension, std::vector<TensorPart::Rows> rows, at::Tensor values) {
  return {
      "w", {.shape = {6, 4}, .dimension = dimension, .rows = std::move(rows)}, std::move(values)};
}

TEST_F(SavedPartsTest, RowsOfAnyDimensionAndElementsInARowBecomeWholeAgain) {
  const at::Tensor flat = whole_.view({-1});
  const std::vector<std::vector<WeightPart>> cuts{
      {part(-1, {{0, 7}}, flat.narrow(0, 0, 7)), part(-1, {{7, 24}}, flat.narrow(0, 7, 17))},
      {part(1, {{0, 1}}, whole_.narrow(1, 0, 1)), part(1, {{1, 4}}, whole_.narrow(1, 1, 3))},
      // three sections, of which each rank has a half
      {part(0, {{0, 1}, {2, 3}, {4, 5}}, whole_.slice(0, 0, 6, 2)),
       part(0, {{1, 2}, {3, 4}, {5, 6}}, whole_.slice(0, 1, 6, 2))},
  };
  for (const auto& cut : cuts) {
    write(0, {cut[0]});
    write(1, {cut[1]});
    EXPECT_TRUE(SavedWeights(folder_.path()).read("w").equal(whole_));
  }
}

TEST_F(SavedPartsTest, WhatIsWholeIsAPlainFile) {
  write(0, {{"w", TensorPart::whole({6, 4}), whole_}}, 1);
  write(1, {}, 2);  // a rank with nothing writes nothing
  const std::string file = folder_ / "part-00000-of-00001.safetensors";
  EXPECT_TRUE(read_tensors(file).at("w").equal(whole_));
  EXPECT_TRUE(TensorFile(file).header().metadata.empty());
  EXPECT_TRUE(SavedWeights(file).read("w").equal(whole_));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(SavedPartsTest, PartsThatDoNotMakeAWholeAreRefused) {
  EXPECT_NE(refusal().find("without .safetensors"), std::string::npos);
  write(0, {part(0, {{0, 2}}, whole_.narrow(0, 0, 2))});
  EXPECT_NE(refusal().find("leave out what begins at 2"), std::string::npos) << refusal();
  write(1, {part(0, {{3, 6}}, whole_.narrow(0, 3, 3))});
  EXPECT_NE(refusal().find("leave out what begins at 2"), std::string::npos) << refusal();
  write(1, {part(0, {{1, 6}}, whole_.narrow(0, 1, 5))});
  EXPECT_NE(refusal().find("overlap at 1"), std::string::npos) << refusal();
  write(1, {part(1, {{2, 4}}, whole_.narrow(1, 2, 2))});
  EXPECT_NE(refusal().find("not of one saving"), std::string::npos) << refusal();
  const at::Tensor lower = whole_.narrow(0, 2, 4);
  write(1, {part(0, {{2, 6}}, lower.to(at::kDouble))});
  EXPECT_NE(refusal().find("not of one saving"), std::string::npos) << refusal();
  const TensorPart of_larger{.shape = {8, 4}, .dimension = 0, .rows = {{2, 6}}};
  write(1, {{"w", of_larger, lower}});
  EXPECT_NE(refusal().find("not of one saving"), std::string::npos) << refusal();
  write(1, {part(0, {{2, 6}}, lower)});
  EXPECT_EQ(refusal(), "no error");
  write(0, {part(0, {{0, 6}}, whole_)}, 3);  // left by another number of ranks
  EXPECT_NE(refusal().find("not of one saving"), std::string::npos) << refusal();
}

TEST_F(SavedPartsTest, OfTwoSavingsAreRefusedHoweverWellTheyFit) {
  const std::vector<WeightPart> upper{part(0, {{0, 2}}, whole_.narrow(0, 0, 2))};
  const std::vector<WeightPart> lower{part(0, {{2, 6}}, whole_.narrow(0, 2, 4))};
  write_weight_parts(folder_.path(), {0, 2, "first"}, upper);
  write_weight_parts(folder_.path(), {1, 2, "first"}, lower);
  EXPECT_EQ(refusal(), "no error");
  write_weight_parts(folder_.path(), {0, 2, "second"}, upper);
  EXPECT_NE(refusal().find("not of one saving"), std::string::npos) << refusal();
  write_weight_parts(folder_.path(), {1, 2, "second"}, lower);
  EXPECT_EQ(refusal(), "no error");
}

TEST_F(SavedPartsTest, WhatAFileSaysOfItsPartsIsNotBelieved) {
  for (const char* said : {
           "[",
           "3",
           R"({"w": 3})",
           R"({"w": {"shape": [6, 4], "dimension": 0}})",
           R"({"w": {"shape": [6, 4], "dimension": 0, "rows": 3}})",
           R"({"w": {"shape": [6, 4], "dimension": 0, "rows": [[0]]}})",
           R"({"w": {"shape": [6, 4], "dimension": 2, "rows": [[0, 2]]}})",
           R"({"w": {"shape": [6, 4], "dimension": -2, "rows": [[0, 2]]}})",
           R"({"w": {"shape": [6, 4], "dimension": 0, "rows": [[2, 0]]}})",
           R"({"w": {"shape": [6, 4], "dimension": 0, "rows": [[-1, 1]]}})",
           R"({"w": {"shape": [6, 4], "dimension": 0, "rows": [[5, 7]]}})",
           R"({"w": {"shape": [6, 4], "dimension": 0, "rows": [[0, 3]]}})",
           R"({"w": {"shape": [6, 5], "dimension": 0, "rows": [[0, 2]]}})",
           R"({"w": {"shape": [0, 4], "dimension": 0, "rows": [[0, 2]]}})",
           R"({"w": {"shape": [-6, 4], "dimension": 0, "rows": [[0, 2]]}})",
           R"({"w": {"shape": ["6", 4], "dimension": 0, "rows": [[0, 2]]}})",
           R"({"w": {"shape": [4294967296, 4294967296, 6], "dimension": 2, "rows": [[0, 2]]}})",
       }) {
    const std::string file = folder_ / "part.safetensors";
    write_tensors(file, {{"w", whole_.narrow(0, 0, 2)}}, {{"parts", said}});
    const std::string text = refusal();
    EXPECT_EQ(text.find(file + ": what it says of the part"), 0u) << said << ": " << text;
  }
}

}  // namespace
}  // namespace headroom
