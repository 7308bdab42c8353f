// SPDX-License-Identifier: Apache-2.0
// The handwritten digits of scikit-learn: real images that travel inside the library. 1,797 grey
// images of 8 x 8 pixels with values 0 .. 16 (digits.LICENSE; digits.bin is made by
// make_digits.py).
//
// The source is sorted by writer, so the split is a fixed shuffle: of shuffled(1797, 0) the first
// 1,500 are trained on, the last 297 held out. The seed of a case has no part in it.
#include <string_view>
#include <utility>

#include "models/data/image_dataset.h"
#include "models/data/random.h"

namespace headroom {

extern const std::string_view kDigits;  // digits.bin, embedded by models/CMakeLists.txt

namespace {

constexpr std::size_t kDigitsTrain = 1500;
constexpr std::uint64_t kSplitSeed = 0;

std::unique_ptr<Dataset> make_digits(const DataOptions& options, std::int64_t num_classes,
                                     std::int64_t /*seed*/) {
  ImageRecords records{.side = 8, .channels = 1, .max_value = 16};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(kDigits.data());
  const std::int64_t count = std::ssize(kDigits) / records.record_bytes();
  for (const std::int64_t index : shuffled(count, kSplitSeed)) {
    auto& part = records.train.size() < kDigitsTrain ? records.train : records.held_out;
    part.push_back(bytes + index * records.record_bytes());
  }
  return make_image_dataset(std::move(records), options, num_classes);
}

}  // namespace

DataEntry digits_entry() {
  return {
      .name = "digits",
      .summary = "1,797 handwritten digits of scikit-learn, inside the program; 1,500 to train on",
      .input = InputKind::image,
      .make = make_digits};
}

}  // namespace headroom
