// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/parameters.h"

// How names of weights in files of torchvision, timm and transformers become names of a model here.
namespace headroom {

/// Whether a parameter is of a head, by the names that these libraries give to heads.
bool is_of_head(std::string_view name);

/// Translates the names in one file.
class SavedNames {
 public:
  /// `in_file`: all names of the file.
  SavedNames(std::span<const Parameter> model, std::span<const std::string> in_file);

  /// The name of the same tensor in the model, or, where the model has none such, something like
  /// it. Empty: a buffer, which a model makes itself.
  std::string in_model(const std::string& in_file) const;

 private:
  std::string prefix_;  // of the model's body that the file leaves out: "bert."
};

}  // namespace headroom
