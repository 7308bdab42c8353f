// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/yaml.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

TEST(YamlReader, KeepsTextsOrderAndPlaces) {
  const Node root = read_yaml(
      "# a comment\n"
      "name: vit\n"
      "steps: 010   # stays a text\n"
      "quoted: \"4\"\n"
      "list:\n"
      "  - a\n"
      "  - {lr: 5.0e-5, 'on': off}\n",
      "s.yaml");
  ASSERT_EQ(root.members.size(), 4u);
  EXPECT_EQ(root.members[1].key, "steps");
  EXPECT_EQ(root.members[1].place.text(), "s.yaml:3:1");
  EXPECT_EQ(root.find("steps")->text, "010");
  EXPECT_FALSE(root.find("steps")->quoted);
  EXPECT_TRUE(root.find("quoted")->quoted);
  EXPECT_EQ(root.find("nothing"), nullptr);
  const Node& list = *root.find("list");
  ASSERT_EQ(list.kind, Node::Kind::list);
  EXPECT_EQ(list.items[1].place.text(), "s.yaml:7:5");
  EXPECT_EQ(list.items[1].find("lr")->text, "5.0e-5");
  EXPECT_EQ(list.items[1].find("on")->place.text(), "s.yaml:7:24");
}

TEST(YamlReader, AcceptsOneDocumentInItsForms) {
  for (const char* text : {"a: 1", "---\na: 1\n", "---\na: 1\n...\n", "{a: 1}",
                           "\xEF\xBB\xBF"
                           "a: 1\n",
                           "a: 1\r\n", "\n\n# x\na: 1\n# y\n", "? a\n: 1\n"}) {
    const Node root = read_yaml(text, "s.yaml");
    ASSERT_EQ(root.members.size(), 1u) << text;
    EXPECT_EQ(root.find("a")->text, "1") << text;
  }
}

TEST(YamlReader, ReadsTextsOfEveryStyle) {
  const Node root = read_yaml(
      "plain: two\n  lines\nsingle: 'it''s'\ndouble: \"\\u00e4 \\\"x\\\"\"\n"
      "literal: |\n  a\n  b\nfolded: >\n  a\n  b\nempty: \"\"\nutf8: \xC3\xA4\nnull_text: "
      "\"null\"\n",
      "s.yaml");
  EXPECT_EQ(root.find("plain")->text, "two lines");
  EXPECT_EQ(root.find("single")->text, "it's");
  EXPECT_EQ(root.find("double")->text, "\xC3\xA4 \"x\"");
  EXPECT_EQ(root.find("literal")->text, "a\nb\n");
  EXPECT_TRUE(root.find("literal")->quoted);
  EXPECT_EQ(root.find("folded")->text, "a b\n");
  EXPECT_EQ(root.find("empty")->text, "");
  EXPECT_EQ(root.find("utf8")->text, "\xC3\xA4");
  EXPECT_EQ(root.find("null_text")->text, "null");
}

TEST(YamlReader, AcceptsWhatItsLimitsAllow) {
  std::string deep = "a: ";
  deep += std::string(YamlLimits::kDepth - 1, '[') + "x" + std::string(YamlLimits::kDepth - 1, ']');
  EXPECT_NO_THROW(read_yaml(deep, "s.yaml"));
  EXPECT_NO_THROW(read_yaml("a: " + std::string(YamlLimits::kScalarBytes, 'x'), "s.yaml"));
  std::string wide;  // the root and 4999 keys with their values
  for (int i = 0; i < 4999; ++i) wide += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(read_yaml(wide, "s.yaml").members.size(), 4999u);
  const std::string large = "a: 1\n#" + std::string(YamlLimits::kBytes - 6, 'x');
  EXPECT_EQ(large.size(), YamlLimits::kBytes);
  EXPECT_NO_THROW(read_yaml(large, "s.yaml"));
}

TEST(YamlReader, ReadsFiles) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "s.yaml", "a: 1\n");
  EXPECT_EQ(read_yaml_file(folder / "s.yaml").find("a")->place.text(), folder / "s.yaml:1:4");
  write_file_atomically(folder / "large.yaml", std::string(YamlLimits::kBytes + 1, '\n'));
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { read_yaml_file(folder / "large.yaml"); }),
                       "too large"));
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { read_yaml_file("/dev/zero"); }),
                       "not a regular file"));
}

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
