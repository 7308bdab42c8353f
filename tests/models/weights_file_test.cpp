// SPDX-License-Identifier: Apache-2.0
#include "models/weights_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "models/table.h"
#include "src/core/error.h"

namespace headroom {
namespace {

class WeightsFile : public testing::Test {
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

TEST_F(WeightsFile, TensorsOfEveryTypeComeBack) {
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

TEST_F(WeightsFile, AModelComesBack) {
  const auto saved = small_model();
  const auto loaded = small_model();
  write_tensors(path_, tensors_of(*saved));
  load_weights(path_, *loaded);
  for (std::size_t i = 0; i < saved->parameters().size(); ++i) {
    EXPECT_TRUE(loaded->parameters()[i].tensor.equal(saved->parameters()[i].tensor));
    EXPECT_TRUE(loaded->parameters()[i].tensor.requires_grad());
  }
}

TEST_F(WeightsFile, WeightsAreConvertedToTheModelsType) {
  const auto wide = small_model();
  write_tensors(path_, tensors_of(*wide));
  const auto narrow = small_model(at::kBFloat16);
  load_weights(path_, *narrow);
  for (std::size_t i = 0; i < wide->parameters().size(); ++i) {
    EXPECT_TRUE(
        narrow->parameters()[i].tensor.equal(wide->parameters()[i].tensor.to(at::kBFloat16)));
  }
}

TEST_F(WeightsFile, EveryDifferenceIsListedAndNothingIsLoaded) {
  const auto model = small_model();
  NamedTensors tensors;
  for (const auto& [name, tensor] : tensors_of(*model)) tensors[name] = at::ones_like(tensor);
  tensors.erase("encoder.ln.bias");
  tensors["encoder.ln.beta"] = at::zeros({192});
  tensors["heads.head.bias"] = at::zeros({1000});
  tensors["class_token"] = at::zeros({1, 1, 192}, at::kInt);
  write_tensors(path_, tensors);
  EXPECT_EQ(
      message([&] { load_weights(path_, *model); }),
      path_ +
          ": these are not the model's weights; missing: encoder.ln.bias; unexpected: "
          "encoder.ln.beta; different: class_token is I32, not floating point, heads.head.bias "
          "is (1000), not (10)");
  EXPECT_FALSE(tensors_of(*model).at("conv_proj.weight").eq(1).any().item<bool>());
}

TEST_F(WeightsFile, LongListsAreCut) {
  const auto model = small_model();
  write_tensors(path_, {{"something", at::zeros({1})}});
  const std::string text = message([&] { load_weights(path_, *model); });
  EXPECT_NE(text.find("and 142 more; unexpected: something"), std::string::npos) << text;
  EXPECT_LT(text.size(), 2000U);
}

TEST_F(WeightsFile, BooleansMustBeZeroOrOne) {
  write_tensors(path_, {{"flags", at::ones({8}, at::kBool)}});
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-1, std::ios::end);
  file.put(2);
  file.close();
  EXPECT_NE(message([&] { read_tensors(path_); }).find("flags"), std::string::npos);
}

TEST_F(WeightsFile, AFileThatIsCutShortIsRefused) {
  write_tensors(path_, {{"weight", at::ones({8})}});
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_NE(message([&] { read_tensors(path_); }), "no error");
}

TEST_F(WeightsFile, AFileThatIsNotThereIsNamed) {
  EXPECT_NE(message([&] { read_tensors(path_); }).find(path_), std::string::npos);
}

}  // namespace
}  // namespace headroom
