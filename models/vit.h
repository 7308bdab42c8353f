// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/model.h"
#include "models/table.h"

namespace headroom {

/// What tells one vision transformer from another. The MLP is four times as wide as the rest.
struct VitSize {
  std::int64_t patch;  // pixels, square
  std::int64_t layers;
  std::int64_t heads;  // H
  std::int64_t width;  // D

  std::int64_t head_width() const { return width / heads; }
};

inline constexpr VitSize kVitTi16{.patch = 16, .layers = 12, .heads = 3, .width = 192};
inline constexpr VitSize kVitS16{.patch = 16, .layers = 12, .heads = 6, .width = 384};
inline constexpr VitSize kVitB16{.patch = 16, .layers = 12, .heads = 12, .width = 768};
inline constexpr VitSize kVitL16{.patch = 16, .layers = 24, .heads = 16, .width = 1024};
inline constexpr VitSize kVitH14{.patch = 14, .layers = 32, .heads = 16, .width = 1280};

/// Vision transformer. Source: torchvision.models.VisionTransformer 0.26, its names, initial values
/// and operations; Dosovitskiy et al. 2021, arXiv:2010.11929.
/// Throws ConfigError where the image size is no multiple of the patch.
std::unique_ptr<Model> make_vit(const VitSize& size, const ModelOptions& options,
                                const InputShape& shape, ParameterFactory parameters);

}  // namespace headroom
