// SPDX-License-Identifier: Apache-2.0
#include "models/data/dataset.h"

#include <array>
#include <string>
#include <vector>

#include "src/core/table.h"

namespace headroom {

// One function a data set, at the end of its .cpp.
DataEntry digits_entry();
DataEntry novels_entry();
DataEntry cifar10_entry();
DataEntry random_images_entry();
DataEntry random_tokens_entry();

std::span<const DataEntry> data_table() {
  static const std::array table = {digits_entry(), novels_entry(), cifar10_entry(),
                                   random_images_entry(), random_tokens_entry()};
  return table;
}

const DataEntry& find_data(std::string_view name) {
  return find_entry(data_table(), "data set", name);
}

void DataOptions::fields(Fields& f) {
  std::vector<Choice> names;
  for (const DataEntry& entry : data_table()) names.push_back({entry.name, entry.summary});
  f.choice({.name = "name", .summary = "the data set", .required = true}, name, names);
  f.integer({.name = "image_size",
             .summary = "height and width of an image, pixels",
             .only_with = {"digits", "cifar10", "random_images"}},
            image_size, {1, 4096});
  f.integer({.name = "sequence_length",
             .summary = "length of a text, tokens",
             .only_with = {"novels", "random_tokens"}},
            sequence_length, {1, 1'048'576});
  f.integer({.name = "samples",
             .summary = "samples there are; they repeat after so many",
             .only_with = {"random_images", "random_tokens"}},
            samples, {1, 10'000'000});
  f.text({.name = "path",
          .summary = "your folder of data_batch_1.bin .. data_batch_5.bin and test_batch.bin",
          .only_with = {"cifar10"}},
         path);
  f.integer(
      {.name = "workers", .summary = "threads that prepare batches; 0: the training thread does"},
      workers, {0, 64});
  f.integer({.name = "prefetch", .summary = "batches that each worker keeps ready"}, prefetch,
            {1, 64});
  f.boolean({.name = "pinned",
             .summary = "batches in page-locked host memory; no effect without a CUDA device"},
            pinned);
}

InputShape DataOptions::shape() const {
  return find_data(name).input == InputKind::image
             ? InputShape{.image_size = image_size, .sequence_length = 0}
             : InputShape{.image_size = 0, .sequence_length = sequence_length};
}

}  // namespace headroom
