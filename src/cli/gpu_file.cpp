// SPDX-License-Identifier: Apache-2.0
#include "src/cli/gpu_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/core/text.h"
#include "src/core/yaml.h"
#include "src/gpus/gpu_figures.h"
#include "src/suite/schema.h"

namespace headroom {
namespace {

using dry_run::Gpu;
using dry_run::GpuFigure;

constexpr std::size_t kLongestName = 63;      // a report of a dry run holds so much
constexpr std::size_t kLongestProduct = 255;  // cudaDeviceProp holds so much

std::vector<std::string> allowed_keys() {
  std::vector<std::string> keys{"name", "like", "product", "summary", "source"};
  for (const GpuFigure& figure : dry_run::gpu_figures()) keys.emplace_back(figure.name);
  return keys;
}

const std::string& text_of(const Node& node, const std::string& key) {
  if (node.kind != Node::Kind::scalar || node.text.find('\n') != std::string::npos) {
    throw ConfigError(node.place, key + ": a text of one line is expected, not " + describe(node));
  }
  return node.text;
}

std::string name_of(const Node& root) {
  const Node* node = root.find("name");
  if (node == nullptr) throw ConfigError(root.place, "the GPU has no name");
  const std::string& name = text_of(*node, "name");
  if (!is_name(name) || name.size() > kLongestName) {
    throw ConfigError(node->place, "'" + name + "' is no name; allowed are up to " +
                                       std::to_string(kLongestName) + " characters: " + kNameRule);
  }
  const std::vector<std::string> known = dry_run::gpu_names();
  if (std::ranges::find(known, name) != known.end()) {
    throw ConfigError(node->place, "the table has a GPU '" + name + "' (headroom list gpus)");
  }
  return name;
}

/// Libraries are told it as part of a JSON text.
std::string product_of(const Node& root, const std::string& name) {
  const Node* node = root.find("product");
  if (node == nullptr) return name;
  const std::string& product = text_of(*node, "product");
  const auto is_allowed = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (product.empty() || product.size() > kLongestProduct ||
      !std::ranges::all_of(product, is_allowed)) {
    throw ConfigError(node->place, "product: allowed are 1 to " + std::to_string(kLongestProduct) +
                                       " characters of ASCII, no quotes and no backslash");
  }
  return product;
}

/// What counts where the file has no figure; without `like` nothing.
const Gpu* model_of(const Node& root) {
  const Node* node = root.find("like");
  if (node == nullptr) return nullptr;
  const std::string& name = text_of(*node, "like");
  const Gpu* found = dry_run::find_gpu(name);
  if (found != nullptr) return found;
  throw ConfigError(node->place,
                    "no GPU '" + name + "'; " + allowed_names(name, dry_run::gpu_names()));
}

double value_of(const Node& node, const GpuFigure& figure) {
  const auto value = parse_number(text_of(node, figure.name));
  const double least = figure.may_be_zero ? 0 : std::numeric_limits<double>::min();
  if (value && *value >= least && *value <= figure.most &&
      (!figure.is_whole || *value == std::floor(*value))) {
    return *value;
  }
  const bool is_too_large = value && *value > figure.most;
  throw ConfigError(node.place, std::string(figure.name) + ": '" + node.text + "' is not " +
                                    (figure.is_whole ? "a whole number" : "a number") +
                                    (figure.may_be_zero ? " from 0" : " above 0") +
                                    (is_too_large ? " up to " + format_number(figure.most) : ""));
}

}  // namespace

bool is_gpu_file(const std::string& gpu) {
  return gpu.find('/') != std::string::npos || gpu.ends_with(".yaml") || gpu.ends_with(".yml") ||
         gpu.ends_with(".json");
}

const Gpu& read_gpu_file(const std::string& path) {
  const Node root = read_yaml_file(path);
  const std::vector<std::string> allowed = allowed_keys();
  for (const Member& member : root.members) {
    if (std::ranges::find(allowed, member.key) != allowed.end()) continue;
    throw ConfigError(member.place, "unknown key '" + member.key + "' in the GPU; " +
                                        allowed_names(member.key, allowed));
  }
  const std::string name = name_of(root);
  const Gpu* model = model_of(root);
  Gpu gpu = model == nullptr ? Gpu{} : *model;
  for (const GpuFigure& figure : dry_run::gpu_figures()) {
    if (const Node* node = root.find(figure.name)) {
      figure.set(gpu, value_of(*node, figure));
    } else if (model == nullptr) {
      throw ConfigError(root.place, std::string(figure.name) +
                                        " is missing; a GPU has all figures of 'headroom list gpus "
                                        "--json', or says with 'like' whose figures stand for it");
    }
  }
  if (gpu.context_bytes >= gpu.memory_bytes) {
    throw ConfigError(root.place, "context_bytes is no less than memory_bytes");
  }
  const std::string product = product_of(root, name);
  gpu.name = name;
  gpu.product = product.c_str();
  return *dry_run::add_gpu(dry_run::gpu_text(gpu));
}

}  // namespace headroom
