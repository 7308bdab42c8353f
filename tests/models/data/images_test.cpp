// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "models/data/dataset.h"
#include "models/data/image_dataset.h"
#include "src/core/error.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecordBytes = 3073;
constexpr std::size_t kFileBytes = 10'000 * kRecordBytes;

/// A folder with six files of the right size. Image i of file f (the test file is 0) has the label
/// i % 10, a red plane of f, a green plane of i / 100 and a blue plane of i % 100.
class Cifar10 : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("headroom_cifar10_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    for (std::size_t f = 0; f < 6; ++f) write(file(f), content(f));
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(std::size_t f) const {
    return folder_ / (f == 0 ? "test_batch.bin" : "data_batch_" + std::to_string(f) + ".bin");
  }

  static std::string content(std::size_t f) {
    std::string bytes;
    bytes.reserve(kFileBytes);
    for (std::size_t i = 0; i < 10'000; ++i) {
      bytes += static_cast<char>(i % 10);
      for (const std::size_t value : {f, i / 100, i % 100}) {
        bytes.append(1024, static_cast<char>(value));
      }
    }
    return bytes;
  }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::unique_ptr<Dataset> make() const {
    return find_data("cifar10").make(
        {.name = "cifar10", .image_size = 64, .path = folder_.string()}, 10, 1);
  }

  void expect_refused(const std::string& reason) const {
    try {
      make();
      FAIL() << "no error";
    } catch (const ConfigError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(reason), std::string::npos) << message;
      EXPECT_NE(message.find("https://www.cs.toronto.edu/~kriz/cifar.html"), std::string::npos);
    }
  }

  fs::path folder_;
};

/// The bytes that the fake image above was made of.
void expect_image(const Batch& batch, std::int64_t at, std::array<float, 3> planes) {
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    const at::Tensor plane = batch.inputs[at][channel];
    const float expected = (planes[channel] / 255 - 0.5F) / 0.5F;
    EXPECT_LT(plane.sub(expected).abs().max().item<float>(), 1e-6F) << at << " " << channel;
  }
}

TEST_F(Cifar10, TrainsOnTheFirst45000AndHoldsOutTheTestFile) {
  const auto data = make();
  ASSERT_EQ(data->train_size(), 45'000);
  ASSERT_EQ(data->held_out_size(), 10'000);

  const Batch train = data->train(std::array<std::int64_t, 4>{0, 12'345, 39'999, 44'999});
  ASSERT_EQ(train.inputs.sizes(), (at::IntArrayRef{4, 3, 64, 64}));
  expect_image(train, 0, {1, 0, 0});
  expect_image(train, 1, {2, 23, 45});
  expect_image(train, 2, {4, 99, 99});
  expect_image(train, 3, {5, 49, 99});
  EXPECT_EQ(train.labels[1].item<std::int64_t>(), 5);

  const Batch held_out = data->held_out(std::array<std::int64_t, 2>{0, 9'999});
  expect_image(held_out, 0, {0, 0, 0});
  expect_image(held_out, 1, {0, 99, 99});
  EXPECT_EQ(held_out.labels[1].item<std::int64_t>(), 9);
}

TEST_F(Cifar10, RefusesAMissingFile) {
  fs::remove(file(3));
  expect_refused("data_batch_3.bin: can't open: No such file");
}

TEST_F(Cifar10, RefusesAFileThatIsTooShortOrTooLong) {
  fs::resize_file(file(0), kFileBytes - 1);
  expect_refused("test_batch.bin: has 30729999 bytes instead of 30730000");
  fs::resize_file(file(0), kFileBytes + 1);
  expect_refused("test_batch.bin: has 30730001 bytes instead of 30730000");
}

TEST_F(Cifar10, RefusesALabelThatIsNoClass) {
  std::string bytes = content(2);
  bytes[17 * kRecordBytes] = 10;
  write(file(2), bytes);
  expect_refused("data_batch_2.bin: image 17 has the label 10");
}

TEST_F(Cifar10, RefusesAFolderInPlaceOfAFile) {
  fs::remove(file(1));
  fs::create_directory(file(1));
  expect_refused("data_batch_1.bin: not a regular file");
}

TEST_F(Cifar10, SaysWhatIsExpectedWhereNoPathIsGiven) {
  folder_.clear();
  expect_refused("data.path is missing");
}

TEST(Resize, InterpolatesBetweenPixelCentres) {
  // Twice the size: a target centre lies a quarter of a pixel off a source centre.
  //   0 16        0  4 12 16 in the first row, 16 12  4  0 in the last; values 0 .. 16 are
  //   16 0        mapped to [-1, 1]
  const std::uint8_t pixels[] = {0, 16, 16, 0};
  std::vector<float> out(16);
  Resize(2, 4, 16)(pixels, out.data());
  // The second row lies a quarter of the way from the first source row to the second: its source
  // row is (4, 12).
  const std::vector<float> expected = {-1,  -0.5, 0.5,   1,    -0.5, -0.25, 0.25, 0.5,
                                       0.5, 0.25, -0.25, -0.5, 1,    0.5,   -0.5, -1};
  EXPECT_EQ(out, expected);
}

TEST(Resize, KeepsAnImageOfTheSameSize) {
  const std::uint8_t pixels[] = {0, 51, 204, 255};
  std::vector<float> out(4);
  Resize(2, 2, 255)(pixels, out.data());
  EXPECT_FLOAT_EQ(out[0], -1);
  EXPECT_FLOAT_EQ(out[1], -0.6F);
  EXPECT_FLOAT_EQ(out[2], 0.6F);
  EXPECT_FLOAT_EQ(out[3], 1);
}

class ResizeAgainstLibTorch : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(ResizeAgainstLibTorch, Agrees) {
  const auto [from, to] = GetParam();
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(from) * from);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 37 % 256);
  std::vector<float> out(static_cast<std::size_t>(to) * to);
  Resize(from, to, 255)(pixels.data(), out.data());

  const at::Tensor source =
      at::from_blob(pixels.data(), {1, 1, from, from}, at::kByte).to(at::kDouble).div(255);
  const at::Tensor expected =
      at::upsample_bilinear2d(source, {to, to}, /*align_corners=*/false).sub(0.5).div(0.5);
  const at::Tensor difference = at::from_blob(out.data(), {1, 1, to, to}).sub(expected);
  EXPECT_LT(difference.abs().max().item<float>(), 2e-6F);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ResizeAgainstLibTorch,
                         testing::Values(std::pair(8, 224), std::pair(32, 224), std::pair(8, 32),
                                         std::pair(32, 33), std::pair(32, 15), std::pair(8, 1)));

}  // namespace
}  // namespace headroom
