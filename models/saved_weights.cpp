// SPDX-License-Identifier: Apache-2.0
#include "models/saved_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "src/core/enum_names.h"
#include "src/core/error.h"

namespace headroom {
namespace {

/// The file itself, or those of a folder, by their names.
std::vector<std::string> files_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  if (files.empty()) throw ConfigError(Place{.file = path}, "a folder without .safetensors files");
  return files;
}

std::string shape_text(at::IntArrayRef shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

/// "; missing: a, b, and 7 more", or nothing where there are no names.
std::string list(std::string_view title, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  if (names.empty()) return {};
  std::string text = "; " + std::string(title) + ": ";
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMost) text += ", and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

/// What keeps saved values from being the parameter; empty: nothing.
std::string mismatch(const std::string& name, at::IntArrayRef shape, SafetensorsType type,
                     const at::Tensor& parameter) {
  if (parameter.sizes() != shape) {
    return name + " is " + shape_text(shape) + ", not " + shape_text(parameter.sizes());
  }
  if (!at::isFloatingType(to_scalar_type(type))) {
    return name + " is " + std::string(enum_name(type)) + ", not floating point";
  }
  return {};
}

}  // namespace

SavedWeights::SavedWeights(const std::string& path) : path_(path) {
  for (const std::string& file : files_of(path)) {
    const TensorFile& opened = files_.emplace_back(file);
    std::vector<TensorPart> parts = read_parts(opened);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SafetensorsEntry& entry = opened.header().tensors[i];
      pieces_[entry.name].push_back({files_.size() - 1, entry, std::move(parts[i])});
    }
  }
  for (const auto& [name, pieces] : pieces_) check_pieces(name, pieces);
}

void SavedWeights::check_pieces(const std::string& name, std::span<const Piece> pieces) const {
  const auto refuse = [&](const std::string& what) {
    throw ConfigError(Place{.file = path_}, "the parts of '" + name + "' " + what);
  };
  const Piece& first = pieces.front();
  std::vector<TensorPart::Rows> rows;
  for (const Piece& piece : pieces) {
    if (piece.part.shape != first.part.shape || piece.part.dimension != first.part.dimension ||
        piece.entry.type != first.entry.type) {
      refuse("in " + files_[first.file].path() + " and " + files_[piece.file].path() +
             " are not of one saving");
    }
    rows.insert(rows.end(), piece.part.rows.begin(), piece.part.rows.end());
  }
  std::ranges::sort(rows, {}, &TensorPart::Rows::begin);
  std::int64_t end = 0;
  for (const TensorPart::Rows& one : rows) {
    if (one.begin < end) refuse("overlap at " + std::to_string(one.begin));
    if (one.begin > end) break;
    end = one.end;
  }
  if (end < first.part.all_rows()) refuse("leave out what begins at " + std::to_string(end));
}

void SavedWeights::check(std::span<const Parameter> parameters) const {
  std::vector<std::string> missing;
  std::vector<std::string> different;
  std::set<std::string> known;
  for (const Parameter& parameter : parameters) {
    known.insert(parameter.name);
    const auto found = pieces_.find(parameter.name);
    if (found == pieces_.end()) {
      missing.push_back(parameter.name);
      continue;
    }
    const Piece& piece = found->second.front();
    std::string text =
        mismatch(parameter.name, piece.part.shape, piece.entry.type, parameter.tensor);
    if (!text.empty()) different.push_back(std::move(text));
  }
  std::vector<std::string> unexpected;
  for (const auto& [name, pieces] : pieces_) {
    if (!known.contains(name)) unexpected.push_back(name);
  }
  std::ranges::sort(missing);
  std::ranges::sort(different);
  const std::string text =
      list("missing", missing) + list("unexpected", unexpected) + list("different", different);
  if (!text.empty()) {
    throw ConfigError(Place{.file = path_}, "these are not the model's weights" + text);
  }
}

at::Tensor SavedWeights::read(const std::string& name) {
  const std::vector<Piece>& pieces = pieces_.at(name);
  const at::Tensor whole =
      at::empty(pieces.front().part.shape, to_scalar_type(pieces.front().entry.type));
  for (const Piece& piece : pieces) piece.part.put(whole, files_[piece.file].read(piece.entry));
  return whole;
}

void load_weights(const std::string& path, std::span<const Parameter> parameters) {
  SavedWeights saved(path);
  saved.check(parameters);
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : parameters) parameter.tensor.copy_(saved.read(parameter.name));
}

}  // namespace headroom
