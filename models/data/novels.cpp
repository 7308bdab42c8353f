// SPDX-License-Identifier: Apache-2.0
// Jane Austen's six novels: real texts that travel inside the library (novels.LICENSE; novels.bin
// is made by make_novels.py, which says what an id stands for). A sample is a passage of one novel,
// its label the novel. A model that tells tokens learns the passage's words instead.
//
// Of each novel the first 36,000 words are trained on and the 6,000 behind them held out. Passages
// do not overlap, so none shares a word's place with one of the other part; characters go through a
// whole novel, and their names tell much of a label. The seed of a case has no part in it.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "models/data/dataset.h"
#include "src/core/error.h"

namespace headroom {

extern const std::string_view kNovels;  // novels.bin, embedded by models/CMakeLists.txt

namespace {

constexpr std::int64_t kNovelCount = 6;
constexpr std::int64_t kWords = 42'000;  // of each novel
constexpr std::int64_t kTrainWords = 36'000;
constexpr std::int64_t kHeldOutWords = kWords - kTrainWords;
constexpr std::int64_t kPassageStart = 1;  // the id that each passage begins with

class Novels final : public Dataset {
 public:
  explicit Novels(std::int64_t sequence_length) : words_(sequence_length - 1) {}

  std::int64_t train_size() const override { return kNovelCount * (kTrainWords / words_); }
  std::int64_t held_out_size() const override { return kNovelCount * (kHeldOutWords / words_); }
  Batch train(std::span<const std::int64_t> indices) const override {
    return read(0, train_size(), indices);
  }
  Batch held_out(std::span<const std::int64_t> indices) const override {
    return read(kTrainWords, held_out_size(), indices);
  }

 private:
  /// Passages of the part that begins at `first_word` of each novel. The novels take turns, so that
  /// the first samples of a part, however many, hold of each novel as many, or one more.
  Batch read(std::int64_t first_word, std::int64_t size,
             std::span<const std::int64_t> indices) const {
    const std::int64_t count = std::ssize(indices);
    Batch batch{.inputs = at::empty({count, 1 + words_}, at::kLong),
                .attention_mask = {},
                .labels = at::empty({count}, at::kLong)};
    auto* id = batch.inputs.mutable_data_ptr<std::int64_t>();
    auto* label = batch.labels.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t index : indices) {
      if (index < 0 || index >= size) throw std::out_of_range("novels has no such passage");
      const std::int64_t novel = index % kNovelCount;
      const std::int64_t word = novel * kWords + first_word + index / kNovelCount * words_;
      *label++ = novel;
      *id++ = kPassageStart;
      for (std::int64_t i = word; i < word + words_; ++i) *id++ = id_at(i);
    }
    return batch;
  }

  static std::int64_t id_at(std::int64_t word) {  // 16 bits, little-endian
    const auto* byte = reinterpret_cast<const std::uint8_t*>(kNovels.data()) + 2 * word;
    return byte[0] + 256 * byte[1];
  }

  std::int64_t words_;  // of a passage
};

std::unique_ptr<Dataset> make_novels(const DataOptions& options, std::int64_t num_classes,
                                     std::int64_t /*seed*/) {
  if (num_classes < kNovelCount) {
    throw ConfigError("data novels has " + std::to_string(kNovelCount) +
                      " classes, model.num_classes is " + std::to_string(num_classes));
  }
  if (options.sequence_length < 2 || options.sequence_length > 1 + kHeldOutWords) {
    throw ConfigError("data.sequence_length is " + std::to_string(options.sequence_length) +
                      "; allowed for novels: 2 to " + std::to_string(1 + kHeldOutWords) +
                      " (of each, " + std::to_string(kHeldOutWords) + " words are held out)");
  }
  return std::make_unique<Novels>(options.sequence_length);
}

}  // namespace

DataEntry novels_entry() {
  return {.name = "novels",
          .summary =
              "passages of Jane Austen's six novels, inside the program; 36,000 words of each "
              "to train on",
          .input = InputKind::text,
          .make = make_novels};
}

}  // namespace headroom
