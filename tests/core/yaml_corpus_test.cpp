// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "src/core/error.h"
#include "src/core/yaml_reader.h"

namespace headroom {
namespace {

// Every file of tests/corpus/yaml is read; its name says what must come of it.
TEST(YamlCorpus, EveryFileIsAcceptedOrRefusedAsItsNameSays) {
  const std::filesystem::path folder = HEADROOM_SOURCE_DIR "/tests/corpus/yaml";
  int accepted = 0;
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const std::string name = entry.path().filename().string();
    try {
      read_yaml_file(path);
      EXPECT_TRUE(name.starts_with("accept_")) << path;
      ++accepted;
    } catch (const ConfigError& error) {
      EXPECT_TRUE(name.starts_with("reject_")) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(path + ":")) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace headroom
