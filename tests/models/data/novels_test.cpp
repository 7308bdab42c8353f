// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/data/dataset.h"
#include "src/core/checksum.h"
#include "src/core/error.h"

namespace headroom {

extern const std::string_view kNovels;

namespace {

constexpr std::int64_t kWordsOfANovel = 42'000;
constexpr std::int64_t kFirstHeldOut = 36'000;

std::unique_ptr<Dataset> novels(std::int64_t sequence_length, std::int64_t classes = 6) {
  return find_data("novels").make({.name = "novels", .sequence_length = sequence_length}, classes,
                                  123);
}

std::vector<std::int64_t> indices_below(std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

std::string refusal_of(std::int64_t sequence_length, std::int64_t classes) {
  try {
    novels(sequence_length, classes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

/// The words of a novel in a part's passages, in their order: without what a passage begins with.
at::Tensor words_of(const Batch& batch, std::int64_t novel) {
  const at::Tensor passages = batch.inputs.index({batch.labels.eq(novel)});
  return passages.narrow(1, 1, passages.size(1) - 1).flatten();
}

/// Words of novels.bin from `first` on, 16 bits each.
at::Tensor words_of_file(std::int64_t first, std::int64_t count) {
  at::Tensor ids = at::empty({count}, at::kLong);
  auto* id = ids.mutable_data_ptr<std::int64_t>();
  for (const char* byte = kNovels.data() + 2 * first; count-- > 0; byte += 2) {
    *id++ = static_cast<unsigned char>(byte[0]) + 256 * static_cast<unsigned char>(byte[1]);
  }
  return ids;
}

TEST(Novels, AreTheFileThatTheScriptMakes) {
  EXPECT_EQ(std::ssize(kNovels), 504'000);
  EXPECT_EQ(fingerprint(kNovels), "cf2ff4dee54c0b62");
}

// By the words of make_novels.py: the six first words of each novel and its six first held-out
// ones.
TEST(Novels, ReadWhatTheSourceSays) {
  const std::array<std::array<std::int64_t, 7>, 6> first = {
      {{1, 164, 456, 3, 298, 3, 665},      // emma woodhouse , handsome , clever
       {1, 101, 1244, 223, 758, 63, 970},  // about thirty years ago miss maria
       {1, 39, 66, 72, 23, 133, 244},      // no one who had ever seen
       {1, 112, 355, 545, 3, 8, 519},      // sir walter elliot , of kellynch
       {1, 15, 28, 9, 803, 3258, 1188},    // it is a truth universally acknowledged
       {1, 5, 150, 8, 285, 23, 139}}};     // the family of dashwood had long
  const std::array<std::array<std::int64_t, 7>, 6> first_held_out = {
      {{1, 178, 3534, 131, 43, 6, 45},     // does fly indeed ! and my
       {1, 11, 77, 17, 30, 34, 876},       // i am not at all tired
       {1, 21, 178, 25, 136, 4, 21},       // he does his sister . he
       {1, 203, 2895, 14, 31, 95, 4},      // captain benwick was very great .
       {1, 39, 75, 4, 295, 8, 5},          // no good . others of the
       {1, 2726, 2889, 5, 267, 521, 7}}};  // lying awake the whole night to
  const auto data = novels(7);
  const Batch train = data->train(indices_below(6));
  const Batch held_out = data->held_out(indices_below(6));
  for (std::int64_t novel = 0; novel < 6; ++novel) {
    EXPECT_EQ(train.labels[novel].item<std::int64_t>(), novel);
    EXPECT_EQ(held_out.labels[novel].item<std::int64_t>(), novel);
    EXPECT_TRUE(
        at::equal(train.inputs[novel], at::tensor(at::ArrayRef<std::int64_t>(first[novel]))))
        << novel;
    EXPECT_TRUE(at::equal(held_out.inputs[novel],
                          at::tensor(at::ArrayRef<std::int64_t>(first_held_out[novel]))))
        << novel;
  }
}

class NovelsOfLength : public testing::TestWithParam<std::int64_t> {};

/// Each word of a part stands in one passage, but for those too few for another passage.
TEST_P(NovelsOfLength, AreCutIntoPassagesThatShareNoWord) {
  const std::int64_t words = GetParam() - 1;
  const auto data = novels(GetParam());
  ASSERT_EQ(data->train_size(), 36'000 / words * 6);
  ASSERT_EQ(data->held_out_size(), 6'000 / words * 6);
  const Batch train = data->train(indices_below(data->train_size()));
  const Batch held_out = data->held_out(indices_below(data->held_out_size()));
  for (std::int64_t novel = 0; novel < 6; ++novel) {
    const std::int64_t begin = novel * kWordsOfANovel;
    EXPECT_TRUE(at::equal(words_of(train, novel), words_of_file(begin, 36'000 / words * words)));
    EXPECT_TRUE(at::equal(words_of(held_out, novel),
                          words_of_file(begin + kFirstHeldOut, 6'000 / words * words)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, NovelsOfLength, testing::Values(2, 64, 128, 4096, 6001));

TEST(Novels, HoldIdsThatEveryModelOfTextsReads) {
  const auto data = novels(64);
  for (const Batch& batch : {data->train(indices_below(data->train_size())),
                             data->held_out(indices_below(data->held_out_size()))}) {
    ASSERT_EQ(batch.inputs.scalar_type(), at::kLong);
    EXPECT_FALSE(batch.attention_mask.defined());
    EXPECT_TRUE(batch.inputs.select(1, 0).eq(1).all().item<bool>());
    const at::Tensor words = batch.inputs.narrow(1, 1, 63);
    EXPECT_GE(words.min().item<std::int64_t>(), 2);
    EXPECT_LT(words.max().item<std::int64_t>(), 4096);
    // What has no id is little, or nothing could be learned.
    EXPECT_LT(words.eq(2).to(at::kDouble).mean().item<double>(), 0.05);
  }
  for (const ModelEntry& model : model_table()) {
    if (model.input != InputKind::text) continue;
    EXPECT_GT(model.vocabulary, 4095) << model.name;
  }
}

TEST(Novels, GiveTheSameSampleInAnyBatchUnderAnySeed) {
  const DataOptions options{.name = "novels", .sequence_length = 64};
  const Batch alone =
      find_data("novels").make(options, 6, 1)->train(std::array<std::int64_t, 1>{7});
  const Batch among =
      find_data("novels").make(options, 6, 2)->train(std::array<std::int64_t, 3>{3, 7, 7});
  EXPECT_TRUE(at::equal(among.inputs[1], alone.inputs[0]));
  EXPECT_TRUE(at::equal(among.inputs[2], alone.inputs[0]));
  EXPECT_FALSE(at::equal(among.inputs[0], alone.inputs[0]));
  EXPECT_EQ(alone.labels.item<std::int64_t>(), 1);
}

TEST(Novels, RefuseWhatTheyHaveNotGot) {
  EXPECT_EQ(refusal_of(64, 5), "data novels has 6 classes, model.num_classes is 5");
  EXPECT_EQ(refusal_of(64, 6), "none");
  const std::string allowed = "; allowed for novels: 2 to 6001 (of each, 6000 words are held out)";
  EXPECT_EQ(refusal_of(1, 6), "data.sequence_length is 1" + allowed);
  EXPECT_EQ(refusal_of(6002, 6), "data.sequence_length is 6002" + allowed);
  const auto data = novels(64);
  EXPECT_THROW(data->train(std::array<std::int64_t, 1>{-1}), std::out_of_range);
  EXPECT_THROW(data->train(std::array{data->train_size()}), std::out_of_range);
  EXPECT_THROW(data->held_out(std::array{data->held_out_size()}), std::out_of_range);
}

}  // namespace
}  // namespace headroom
