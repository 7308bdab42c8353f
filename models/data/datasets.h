// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/data/data.h"

// How each data set is made; the table of data sets names them. See DataEntry::make.
namespace headroom {

std::unique_ptr<Dataset> make_digits(const DataOptions& options, std::int64_t num_classes,
                                     std::int64_t seed);
std::unique_ptr<Dataset> make_cifar10(const DataOptions& options, std::int64_t num_classes,
                                      std::int64_t seed);
std::unique_ptr<Dataset> make_random_images(const DataOptions& options, std::int64_t num_classes,
                                            std::int64_t seed);
std::unique_ptr<Dataset> make_random_tokens(const DataOptions& options, std::int64_t num_classes,
                                            std::int64_t seed);

}  // namespace headroom
