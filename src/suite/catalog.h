// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/fields.h"
#include "src/core/fit_cost.h"
#include "src/results/columns.h"

namespace headroom {

// What the command line knows of the worker: docs/protocol.md, "The catalog".

enum class FieldType { integer, number, boolean, text, choice, object };

/// One value that a choice field may take.
struct FieldChoice {
  std::string name;
  std::string summary;
};

/// One value that a case, or a technique's options, may give.
struct Field {
  std::string name;
  std::string summary;
  FieldType type = FieldType::text;
  bool required = false;
  nlohmann::ordered_json default_value = nullptr;  // null: required, or an object
  Range<std::int64_t> integers = {};               // of an integer
  Range<double> numbers = {};                      // of a number
  std::vector<FieldChoice> choices = {};           // of a choice
  std::vector<Field> fields = {};                  // of an object
  /// The values of the sibling `name` with which the field may be given; empty: all.
  std::vector<std::string> only_with = {};

  /// May stand beside that value of the sibling `name`. An empty name: not known yet, so yes.
  bool applies_to(std::string_view sibling_name) const;
};

struct TechniqueInfo {
  std::string name;
  std::string summary;
  std::string saves;
  std::string costs;
  std::string source;
  std::vector<Field> fields;
  std::vector<std::string> excludes;
  double loss_tolerance = 0;      // relative, of first_loss
  double gradient_tolerance = 0;  // relative, of first_gradient_norm
  std::string rounding_option;    // which adds these where it is not at its default; or empty
  double option_loss_tolerance = 0;
  double option_gradient_tolerance = 0;
  bool trains_others = false;     // first_gradient_norm is of other parameters than without it
  bool draws_on_device = false;   // random weights, which are others on another device than the CPU
  bool joins_ranks = false;       // makes one training of the processes of a case
  bool replicates_batch = false;  // ... which all see the same samples
  bool splits_batch = false;      // forward passes read micro-batches
  FitCost fit_cost = {};          // where `fit` stacks it
  std::string changes = {};       // of what is computed, for people; empty: nothing but rounding
};

struct ModelInfo {
  std::string name;
  bool has_attention = true;
  /// A sample's loss depends on the others of its micro-batch.
  bool mixes_samples = false;
  double gradient_rounding = 1.0;  // a factor of techniques' gradient tolerances
};

/// One column of results.csv, as a catalog has it. The worker's own are those of kColumns; of rows
/// of other versions there may be others.
struct Column {
  std::string name;
  ColumnType type = ColumnType::text;
  ColumnGroup group = ColumnGroup::identity;
  std::string summary;
  std::string origin;  // kWorkerOrigin, kRunnerOrigin, or kCaseOrigin and a path
  AcrossRanks across_ranks = AcrossRanks::peak_rank;

  /// The path of the case's field that it copies; empty: it copies none.
  std::string_view case_path() const;
  /// Whether a plan can't know it: nothing is computed in one, and no time passes.
  bool is_real_only() const { return group == ColumnGroup::time || group == ColumnGroup::learning; }
};

struct Catalog {
  std::string libtorch;
  bool cuda_built = false;
  std::string commit;
  std::vector<Field> case_fields;  // ranks, and the objects model, data, train, limits, gate
  std::vector<ModelInfo> models;
  std::vector<TechniqueInfo> techniques;
  std::vector<Column> columns;

  const ModelInfo* find_model(std::string_view name) const;          // null: unknown
  const TechniqueInfo* find_technique(std::string_view name) const;  // null: unknown
  const Column* find_column(std::string_view name) const;            // null: unknown
  /// The field of a case by its dotted path ("train.optimizer.lr"); null: unknown.
  const Field* find_case_field(std::string_view path) const;
};

/// Reads the catalog that the worker printed. Throws std::invalid_argument where it is not one: the
/// build made it, so that is a fault and no user's error.
Catalog parse_catalog(std::string_view json);

/// The field of that name; null: there is none.
const Field* find_field(const std::vector<Field>& fields, std::string_view name);

inline constexpr const char* kGate = "gate";
inline constexpr const char* kGateTimePercent = "time_percent";
inline constexpr const char* kGateReservedBytes = "reserved_bytes";

/// The object `gate` of a case: how far its figures may move before a comparison calls them
/// changed. The worker knows nothing of it.
Field gate_field();

}  // namespace headroom
