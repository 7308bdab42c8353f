// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/core/file.h"
#include "src/suite/catalog.h"
#include "src/suite/suite.h"
#include "tests/core/messages.h"

namespace headroom {

/// A small catalog with every type of field.
inline constexpr std::string_view kCatalogJson = R"({
  "libtorch": "2.11.0", "cuda_built": true, "commit": "abc123",
  "case": [
    {"name": "ranks", "type": "integer", "summary": "processes", "default": 1, "min": 1,
     "max": 65536},
    {"name": "model", "type": "object", "summary": "what is trained", "fields": [
      {"name": "name", "type": "choice", "summary": "which model", "required": true,
       "choices": [{"name": "vit", "summary": "a vision transformer"},
                   {"name": "bert", "summary": "a text model"}]},
      {"name": "num_classes", "type": "integer", "summary": "classes", "default": 10,
       "min": 2, "max": 100000},
      {"name": "patch", "type": "integer", "summary": "pixels", "default": 16,
       "only_with": ["vit"]}]},
    {"name": "data", "type": "object", "summary": "what it is trained on", "fields": [
      {"name": "path", "type": "text", "summary": "folder", "default": ""}]},
    {"name": "train", "type": "object", "summary": "how", "fields": [
      {"name": "batch_size", "type": "integer", "summary": "samples", "default": 8,
       "min": 1, "max": 4096},
      {"name": "seed", "type": "integer", "summary": "seed", "default": 1},
      {"name": "tf32", "type": "boolean", "summary": "allow TF32", "default": false},
      {"name": "optimizer", "type": "object", "summary": "the update", "fields": [
        {"name": "name", "type": "choice", "summary": "which", "default": "adam",
         "choices": [{"name": "adam", "summary": ""}, {"name": "sgd", "summary": ""}]},
        {"name": "lr", "type": "number", "summary": "learning rate", "default": 0.001,
         "min": 0.0, "max": 10.0},
        {"name": "beta1", "type": "number", "summary": "decay", "default": 0.9,
         "only_with": ["adam"]},
        {"name": "momentum", "type": "number", "summary": "momentum", "default": 0.0,
         "only_with": ["sgd"]}]}]},
    {"name": "limits", "type": "object", "summary": "when to stop", "fields": [
      {"name": "silence_s", "type": "integer", "summary": "seconds", "default": 60, "min": 1}]}],
  "techniques": [
    {"name": "bfloat16", "summary": "weights in bfloat16", "fields": [], "excludes": [],
     "loss_tolerance": 0.02},
    {"name": "gradient_accumulation", "summary": "micro-batches", "saves": "activations",
     "costs": "time", "source": "a paper", "excludes": ["bfloat16"],
     "loss_tolerance": 0.001,
     "fields": [{"name": "micro_batches", "type": "integer", "summary": "parts", "default": 4,
                 "min": 1, "max": 64}]},
    {"name": "mixed_precision", "summary": "autocast", "excludes": [],
     "loss_tolerance": 0.02,
     "fields": [{"name": "dtype", "type": "choice", "summary": "which", "required": true,
                 "choices": [{"name": "float16", "summary": ""},
                             {"name": "bfloat16", "summary": ""}]}]},
    {"name": "ddp", "summary": "joins ranks", "fields": [], "excludes": [],
     "joins_ranks": true}],
  "columns": [
    {"name": "batch_size", "type": "integer", "group": "work", "summary": "samples a step",
     "origin": "case:train.batch_size"},
    {"name": "published_run_peak_reserved_bytes", "type": "integer", "group": "compare",
     "summary": "as published", "origin": "runner"},
    {"name": "published_samples_per_second", "type": "number", "group": "compare",
     "summary": "as published", "origin": "runner"},
    {"name": "status", "type": "text", "group": "identity", "summary": "how it ended",
     "origin": "runner"},
    {"name": "step_time_median_ns", "type": "integer", "group": "time", "summary": "of a step",
     "origin": "worker", "across_ranks": "largest"}]})";

inline const Catalog& test_catalog() {
  static const Catalog catalog = parse_catalog(kCatalogJson);
  return catalog;
}

/// Loads a suite from its text, under the name "s.yaml" in the working folder of messages.
inline Suite load_text(const std::string& text, const std::vector<std::string>& sets = {}) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "s.yaml", text);
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back(parse_override(set));
  return load_suite(folder / "s.yaml", test_catalog(), overrides);
}

/// The message that refuses a suite, from the file's own name on.
template <class E>
std::string refusal_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  const std::string message = message_of<E>([&] { load_text(text, sets); });
  const std::size_t start = message.find("s.yaml:");
  return start == std::string::npos ? message : message.substr(start);
}

}  // namespace headroom
