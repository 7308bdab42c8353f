// SPDX-License-Identifier: Apache-2.0
#include "models/weight_parts.h"

#include <c10/util/accumulate.h>

#include <filesystem>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/core/error.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kParts = "parts";
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

std::string file_name(std::int64_t rank, std::int64_t ranks) {
  std::ostringstream name;
  name << std::setfill('0') << "part-" << std::setw(5) << rank << "-of-" << std::setw(5) << ranks
       << ".safetensors";
  return name.str();
}

Json to_json(const TensorPart& part) {
  Json rows = Json::array();
  for (const TensorPart::Rows& one : part.rows) rows.push_back({one.begin, one.end});
  return {{"shape", part.shape}, {"dimension", part.dimension}, {"rows", rows}};
}

/// Throws what nlohmann throws, or std::invalid_argument with what is wrong.
TensorPart part_of(const Json& json, const SafetensorsEntry& entry) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
  };
  TensorPart part{.shape = json.at("shape").get<std::vector<std::int64_t>>(),
                  .dimension = json.at("dimension").get<std::int64_t>(),
                  .rows = {}};
  std::int64_t elements = 1;
  for (const std::int64_t size : part.shape) {
    require(size > 0 && size <= kMostElements / elements, "its shape can't be");
    elements *= size;
  }
  require(part.dimension >= TensorPart::kFlat && part.dimension < std::ssize(part.shape),
          "it has no such dimension");
  std::int64_t count = 0;
  for (const Json& one : json.at("rows")) {
    const TensorPart::Rows rows{one.at(0).get<std::int64_t>(), one.at(1).get<std::int64_t>()};
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
  for (const Rows& one : rows) {
    const std::int64_t count = one.end - one.begin;
    target.narrow(along, one.begin, count).copy_(source.narrow(along, done, count));
    done += count;
  }
}

void write_weight_parts(const std::string& folder, std::int64_t rank, std::int64_t ranks,
                        std::span<const WeightPart> parts) {
  if (parts.empty()) return;
  NamedTensors tensors;
  Json said = Json::object();
  for (const WeightPart& one : parts) {
    tensors[one.name] = one.values;
    const bool is_whole = one.values.sizes() == at::IntArrayRef(one.part.shape);
    if (!is_whole) said[one.name] = to_json(one.part);
  }
  std::filesystem::create_directories(folder);
  write_tensors(std::filesystem::path(folder) / file_name(rank, ranks), tensors,
                said.empty() ? Metadata{} : Metadata{{kParts, said.dump()}});
}

std::vector<TensorPart> read_parts(const TensorFile& file) {
  const SafetensorsHeader& header = file.header();
  const auto text = header.metadata.find(kParts);
  std::string name = kParts;
  try {
    const Json said = text == header.metadata.end() ? Json::object() : Json::parse(text->second);
    if (!said.is_object()) throw std::invalid_argument("it is no object");
    std::vector<TensorPart> parts;
    for (const SafetensorsEntry& entry : header.tensors) {
      name = entry.name;
      parts.push_back(said.contains(name) ? part_of(said.at(name), entry)
                                          : TensorPart::whole(entry.shape));
    }
    return parts;
  } catch (const Json::exception& error) {
    throw ConfigError(Place{.file = file.path()},
                      "what it says of the part '" + name + "' can't be read: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw ConfigError(Place{.file = file.path()},
                      "what it says of the part '" + name + "' is wrong: " + error.what());
  }
}

}  // namespace headroom
