// SPDX-License-Identifier: Apache-2.0
#include "models/saved_weights.h"

#include <ATen/Dispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "models/saved_names.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/file.h"

namespace headroom {
namespace {

constexpr const char* kPartsKey = "parts";
constexpr const char* kSavingKey = "saving";
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

std::string part_file_name(const Saving& saving) {
  std::ostringstream name;
  name << std::setfill('0') << "part-" << std::setw(5) << saving.rank << "-of-" << std::setw(5)
       << saving.ranks << ".safetensors";
  return name.str();
}

nlohmann::ordered_json to_json(const TensorPart& part) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const TensorPart::Rows& range : part.rows) rows.push_back({range.begin, range.end});
  return {{"shape", part.shape}, {"dimension", part.dimension}, {"rows", rows}};
}

/// Throws what nlohmann throws, or std::invalid_argument with what is wrong.
TensorPart part_of(const nlohmann::ordered_json& json, const SafetensorsEntry& entry) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
  };
  TensorPart part{.shape = json.at("shape").get<std::vector<std::int64_t>>(),
                  .dimension = json.at("dimension").get<std::int64_t>(),
                  .rows = {}};
  std::int64_t elements = 1;
  for (const std::int64_t size : part.shape) {
    require(size > 0 && size <= kMaxElements / elements, "its shape can't be");
    elements *= size;
  }
  require(part.dimension >= TensorPart::kFlat && part.dimension < std::ssize(part.shape),
          "it has no such dimension");
  std::int64_t count = 0;
  for (const nlohmann::ordered_json& row : json.at("rows")) {
    const TensorPart::Rows rows{row.at(0).get<std::int64_t>(), row.at(1).get<std::int64_t>()};
    require(rows.begin >= 0 && rows.begin < rows.end && rows.end <= part.all_rows(),
            "it has no such rows");
    count += rows.end - rows.begin;
    require(count <= part.all_rows(), "it has more rows than the whole");
    part.rows.push_back(rows);
  }
  std::vector<std::int64_t> shape{count};
  if (part.dimension != TensorPart::kFlat) {
    shape = part.shape;
    shape[static_cast<std::size_t>(part.dimension)] = count;
  }
  require(shape == entry.shape, "its shape is not that of those rows");
  return part;
}

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
std::string name_list(std::string_view title, const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 10;
  if (names.empty()) return {};
  std::string text = "; " + std::string(title) + ": ";
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMaxNames)
    text += ", and " + std::to_string(names.size() - kMaxNames) + " more";
  return text;
}

bool is_integer(at::ScalarType type) { return at::isIntegralType(type, /*includeBool=*/false); }

/// What keeps saved values from being the model's tensor; empty: nothing.
std::string mismatch(const std::string& name, at::IntArrayRef shape, SafetensorsType type,
                     const at::Tensor& tensor) {
  if (tensor.sizes() != shape) {
    return name + " is " + shape_text(shape) + ", not " + shape_text(tensor.sizes());
  }
  const auto fits = tensor.is_floating_point() ? &at::isFloatingType : &is_integer;
  if (!fits(to_scalar_type(type))) {
    return name + " is " + std::string(enum_name(type)) + ", not " +
           (tensor.is_floating_point() ? "floating point" : "an integer");
  }
  return {};
}

/// Takes no memory: it is asked while the peak of building is measured.
bool has_nan(const at::Tensor& values) {
  if (!at::isFloatingType(values.scalar_type())) return false;
  return AT_DISPATCH_FLOATING_TYPES_AND5(
      at::kHalf, at::kBFloat16, at::kFloat8_e5m2, at::kFloat8_e4m3fn, at::kFloat8_e8m0fnu,
      values.scalar_type(), "has_nan", [&] {
        const scalar_t* const begin = values.const_data_ptr<scalar_t>();
        return std::any_of(begin, begin + values.numel(),
                           [](scalar_t value) { return std::isnan(static_cast<double>(value)); });
      });
}

}  // namespace

TensorPart TensorPart::whole(at::IntArrayRef shape) {
  TensorPart part{.shape = shape.vec(), .dimension = kFlat, .rows = {}};
  part.rows.push_back({0, part.all_rows()});
  return part;
}

std::int64_t TensorPart::all_rows() const {
  return dimension == kFlat ? c10::multiply_integers(shape)
                            : shape[static_cast<std::size_t>(dimension)];
}

void TensorPart::put(const at::Tensor& whole, const at::Tensor& values) const {
  const at::Tensor target = dimension == kFlat ? whole.view({-1}) : whole;
  const at::Tensor source = dimension == kFlat ? values.view({-1}) : values;
  const std::int64_t along = dimension == kFlat ? 0 : dimension;
  std::int64_t done = 0;
  for (const Rows& range : rows) {
    const std::int64_t count = range.end - range.begin;
    target.narrow(along, range.begin, count).copy_(source.narrow(along, done, count));
    done += count;
  }
}

void write_weight_parts(const std::string& folder, const Saving& saving,
                        std::span<const WeightPart> parts) {
  if (parts.empty()) return;
  NamedTensors tensors;
  nlohmann::ordered_json said = nlohmann::ordered_json::object();
  for (const WeightPart& part : parts) {
    tensors[part.name] = part.values;
    const bool is_whole = part.values.sizes() == at::IntArrayRef(part.part.shape);
    if (!is_whole) said[part.name] = to_json(part.part);
  }
  Metadata metadata;
  if (!said.empty()) metadata[kPartsKey] = said.dump();
  if (!saving.name.empty()) metadata[kSavingKey] = saving.name;
  make_folders(folder);
  write_tensors(std::filesystem::path(folder) / part_file_name(saving), tensors, metadata);
}

std::vector<TensorPart> read_parts(const TensorFile& file) {
  const SafetensorsHeader& header = file.header();
  const auto text = header.metadata.find(kPartsKey);
  std::string name = kPartsKey;
  try {
    const nlohmann::ordered_json said = text == header.metadata.end()
                                            ? nlohmann::ordered_json::object()
                                            : nlohmann::ordered_json::parse(text->second);
    if (!said.is_object()) throw std::invalid_argument("it is no object");
    std::vector<TensorPart> parts;
    for (const SafetensorsEntry& entry : header.tensors) {
      name = entry.name;
      parts.push_back(said.contains(name) ? part_of(said.at(name), entry)
                                          : TensorPart::whole(entry.shape));
    }
    return parts;
  } catch (const nlohmann::ordered_json::exception& error) {
    throw ConfigError(Place{.file = file.path()},
                      "what it says of the part '" + name + "' can't be read: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw ConfigError(Place{.file = file.path()},
                      "what it says of the part '" + name + "' is wrong: " + error.what());
  }
}

SavedWeights::SavedWeights(const std::string& path) : path_(path) {
  for (const std::string& file : files_of(path)) {
    const TensorFile& opened = files_.emplace_back(file);
    std::vector<TensorPart> parts = read_parts(opened);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SafetensorsEntry& entry = opened.header().tensors[i];
      pieces_[entry.name].push_back({files_.size() - 1, entry, std::move(parts[i])});
    }
  }
  check_are_of_one_saving();
  for (const auto& [name, pieces] : pieces_) check_pieces(name, pieces);
}

void SavedWeights::check_are_of_one_saving() const {
  const auto saving_of = [](const TensorFile& file) {
    const auto found = file.header().metadata.find(kSavingKey);
    return found == file.header().metadata.end() ? "" : found->second;
  };
  for (const TensorFile& file : files_) {
    if (saving_of(file) == saving_of(files_.front())) continue;
    throw ConfigError(Place{.file = path_}, "the parts in " + files_.front().path() + " and " +
                                                file.path() +
                                                " are not of one saving: one was not finished, or "
                                                "was made into the folder of another");
  }
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
  for (const TensorPart::Rows& range : rows) {
    if (range.begin < end) refuse("overlap at " + std::to_string(range.begin));
    if (range.begin > end) break;
    end = range.end;
  }
  if (end < first.part.all_rows()) refuse("leave out what begins at " + std::to_string(end));
}

void SavedWeights::rename(std::span<const Parameter> parameters) {
  std::vector<std::string> in_file;
  for (const auto& [name, pieces] : pieces_) in_file.push_back(name);
  const SavedNames names(parameters, in_file);
  for (const std::string& name : in_file) {
    auto node = pieces_.extract(name);
    node.key() = names.in_model(name);
    if (node.key().empty()) continue;
    if (!pieces_.insert(std::move(node)).inserted) {
      throw ConfigError(Place{.file = path_}, "'" + name + "' is there under another name too");
    }
  }
}

void SavedWeights::match(std::span<const Parameter> parameters, std::span<const Buffer> buffers,
                         Head head) {
  rename(parameters);
  NamedTensors wanted;
  for (const Parameter& parameter : parameters) wanted[parameter.name] = parameter.tensor;
  for (const Buffer& buffer : buffers) wanted[buffer.name] = buffer.tensor;
  if (head == Head::drawn) {
    const auto of_head = [](const auto& entry) { return is_of_head(entry.first); };
    if (std::erase_if(wanted, of_head) == 0) {
      throw ConfigError("the model has no head that could begin anew: its embedding is its head");
    }
    std::erase_if(pieces_, of_head);
  }
  check(wanted);
}

void SavedWeights::check(const NamedTensors& wanted) const {
  std::vector<std::string> missing;
  std::vector<std::string> different;
  bool head_differs = false;
  for (const auto& [name, tensor] : wanted) {
    const auto found = pieces_.find(name);
    if (found == pieces_.end()) {
      missing.push_back(name);
    } else {
      const Piece& piece = found->second.front();
      std::string text = mismatch(name, piece.part.shape, piece.entry.type, tensor);
      if (text.empty()) continue;
      different.push_back(std::move(text));
    }
    head_differs = head_differs || is_of_head(name);
  }
  std::vector<std::string> unexpected;
  for (const auto& [name, pieces] : pieces_) {
    if (!wanted.contains(name)) unexpected.push_back(name);
  }
  const std::string text = name_list("missing", missing) + name_list("unexpected", unexpected) +
                           name_list("different", different);
  if (!text.empty()) {
    const std::string hint =
        head_differs ? "; a case with 'model.head: new' begins with a head of its own" : "";
    throw ConfigError(Place{.file = path_}, "these are not the model's weights" + text + hint);
  }
}

at::Tensor SavedWeights::read(const std::string& name) {
  const std::vector<Piece>& pieces = pieces_.at(name);
  const at::Tensor whole =
      at::empty(pieces.front().part.shape, to_scalar_type(pieces.front().entry.type));
  for (const Piece& piece : pieces) {
    const at::Tensor values = files_[piece.file].read(piece.entry);
    if (has_nan(values)) {
      throw ConfigError(Place{.file = files_[piece.file].path()},
                        "a value of '" + name + "' is not a number (NaN)");
    }
    piece.part.put(whole, values);
  }
  return whole;
}

void load_weights(const std::string& path, std::span<const Parameter> parameters,
                  std::span<const Buffer> buffers) {
  SavedWeights saved(path);
  saved.match(parameters, buffers, Head::saved);
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : parameters) parameter.tensor.copy_(saved.read(parameter.name));
  for (const Buffer& buffer : buffers) buffer.tensor.copy_(saved.read(buffer.name));
}

}  // namespace headroom
