// SPDX-License-Identifier: Apache-2.0
#include "src/suite/catalog.h"

#include <algorithm>
#include <stdexcept>

#include "src/core/enum_names.h"
#include "src/core/json.h"

namespace headroom {
namespace {

// The caching allocator's segment for what is larger than 1 MiB; whether a run needs one more may
// depend on when a stream came by.
constexpr std::int64_t kSegmentBytes = std::int64_t{20} << 20;

}  // namespace

Field gate_field() {
  Field percent{.name = kGateTimePercent,
                .summary = "how much a step's time may change, in percent",
                .type = FieldType::number,
                .default_value = 3.0,
                .numbers = {0.1, 100.0}};
  Field reserved{.name = kGateReservedBytes,
                 .summary = "how much a measured peak of reserved memory may change, in bytes",
                 .type = FieldType::integer,
                 .default_value = kSegmentBytes,
                 .integers = {0, std::int64_t{1} << 40}};
  return {.name = kGate,
          .summary = "how far figures may move before a comparison calls them changed",
          .type = FieldType::object,
          .fields = {percent, reserved}};
}

namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits kLimits{.bytes = 16 * 1024 * 1024};

template <class E>
E parse_enum(const Json& value) {
  const auto names = enum_names<E>();
  const auto text = value.get<std::string>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw std::invalid_argument("unknown value '" + text + "'");
  return static_cast<E>(found - names.begin());
}

template <class T>
Range<T> parse_range(const Json& json) {
  return {.min = json.value("min", Range<T>{}.min), .max = json.value("max", Range<T>{}.max)};
}

std::vector<Field> parse_fields(const Json& json);

Field parse_field(const Json& json) {
  Field field;
  field.name = json.at("name").get<std::string>();
  field.summary = json.at("summary").get<std::string>();
  field.type = parse_enum<FieldType>(json.at("type"));
  field.required = json.value("required", false);
  if (json.contains("default")) field.default_value = json.at("default");
  field.only_with = json.value("only_with", std::vector<std::string>{});
  if (field.type == FieldType::integer) field.integers = parse_range<std::int64_t>(json);
  if (field.type == FieldType::number) field.numbers = parse_range<double>(json);
  if (field.type == FieldType::object) field.fields = parse_fields(json.at("fields"));
  if (field.type == FieldType::choice) {
    for (const Json& choice : json.at("choices")) {
      field.choices.push_back({choice.at("name"), choice.value("summary", "")});
    }
  }
  const bool has_default = !field.default_value.is_null();
  if (field.type != FieldType::object && has_default == field.required) {
    throw std::invalid_argument(field.name + " needs a default, or to be required");
  }
  return field;
}

std::vector<Field> parse_fields(const Json& json) {
  std::vector<Field> fields;
  for (const Json& field : json) fields.push_back(parse_field(field));
  return fields;
}

FitCost parse_fit_cost(const Json& fit) {
  FitCost cost;
  for (const FitCostPart& part : kFitCostParts) cost.*part.value = fit.value(part.name, 0);
  return cost;
}

TechniqueInfo parse_technique(const Json& json) {
  const Json rounds_by = json.value("rounds_by", Json::object());
  const Json fit = json.value("fit", Json::object());
  return {.name = json.at("name"),
          .summary = json.at("summary"),
          .saves = json.value("saves", ""),
          .costs = json.value("costs", ""),
          .source = json.value("source", ""),
          .fields = parse_fields(json.at("fields")),
          .excludes = json.value("excludes", std::vector<std::string>{}),
          .loss_tolerance = json.value("loss_tolerance", 0.0),
          .gradient_tolerance = json.value("gradient_tolerance", 0.0),
          .rounding_option = rounds_by.value("option", ""),
          .option_loss_tolerance = rounds_by.value("loss_tolerance", 0.0),
          .option_gradient_tolerance = rounds_by.value("gradient_tolerance", 0.0),
          .trains_others = json.value("trains_others", false),
          .draws_on_device = json.value("draws_on_device", false),
          .joins_ranks = json.value("joins_ranks", false),
          .replicates_batch = json.value("replicates_batch", false),
          .splits_batch = json.value("splits_batch", false),
          .fit_cost = parse_fit_cost(fit),
          .changes = fit.value("changes", "")};
}

Column parse_column(const Json& json) {
  Column column{.name = json.at("name"),
                .type = parse_enum<ColumnType>(json.at("type")),
                .group = parse_enum<ColumnGroup>(json.at("group")),
                .summary = json.at("summary"),
                .origin = json.at("origin"),
                .across_ranks = parse_enum<AcrossRanks>(json.value("across_ranks", "peak_rank"))};
  if (column.type == ColumnType::text && column.across_ranks != AcrossRanks::peak_rank) {
    throw std::invalid_argument(column.name + ": of texts none is the largest");
  }
  return column;
}

template <class T>
const T* find_by_name(const std::vector<T>& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const T& entry) { return entry.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Catalog build_catalog(const Json& json) {
  Catalog catalog{.libtorch = json.value("libtorch", ""),
                  .cuda_built = json.value("cuda_built", false),
                  .commit = json.value("commit", ""),
                  .case_fields = parse_fields(json.at("case")),
                  .models = {},
                  .techniques = {},
                  .columns = {}};
  catalog.case_fields.push_back(gate_field());
  for (const Json& model : json.value("models", Json::array())) {
    catalog.models.push_back({.name = model.at("name"),
                              .has_attention = model.value("has_attention", true),
                              .mixes_samples = model.value("mixes_samples", false),
                              .gradient_rounding = model.value("gradient_rounding", 1.0)});
  }
  for (const Json& technique : json.at("techniques")) {
    catalog.techniques.push_back(parse_technique(technique));
  }
  for (const Json& column : json.at("columns")) catalog.columns.push_back(parse_column(column));
  return catalog;
}

}  // namespace

bool Field::applies_to(std::string_view sibling_name) const {
  return only_with.empty() || sibling_name.empty() ||
         std::find(only_with.begin(), only_with.end(), sibling_name) != only_with.end();
}

std::string_view Column::case_path() const {
  if (!origin.starts_with(kCaseOrigin)) return {};
  return std::string_view(origin).substr(kCaseOrigin.size());
}

const ModelInfo* Catalog::find_model(std::string_view name) const {
  return find_by_name(models, name);
}

const TechniqueInfo* Catalog::find_technique(std::string_view name) const {
  return find_by_name(techniques, name);
}

const Column* Catalog::find_column(std::string_view name) const {
  return find_by_name(columns, name);
}

const Field* Catalog::find_case_field(std::string_view path) const {
  const std::vector<Field>* fields = &case_fields;
  while (true) {
    const std::size_t dot = path.find('.');
    const Field* field = find_field(*fields, path.substr(0, dot));
    if (field == nullptr || dot == std::string_view::npos) return field;
    fields = &field->fields;
    path.remove_prefix(dot + 1);
  }
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
  return find_by_name(fields, name);
}

Catalog parse_catalog(std::string_view json) {
  try {
    return build_catalog(read_json(json, kLimits));
  } catch (const JsonError& error) {
    throw std::invalid_argument(std::string("the catalog is no JSON: ") + error.what());
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(std::string("the catalog lacks something: ") + error.what());
  }
}

}  // namespace headroom
