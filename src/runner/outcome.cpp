// SPDX-License-Identifier: Apache-2.0
#include "src/runner/outcome.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Ending = WorkerReply::Ending;

/// JSON has no NaN and no infinity: a worker's number that is neither finite nor missing is null.
bool is_finite(const Json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

bool has_type(const Json& value, ColumnType type) {
  if (type == ColumnType::text) return value.is_string();
  return type == ColumnType::integer ? value.is_number_integer() : is_finite(value);
}

bool is_loss(std::string_view column) { return column == "first_loss" || column == "last_loss"; }

/// What is wrong with the record's columns; empty: nothing.
std::string fault_in_columns(const Json& columns, const Catalog& catalog) {
  if (!columns.is_object()) return "the worker's record has columns that are no object";
  for (const auto& [name, value] : columns.items()) {
    const Column* column = catalog.find_column(name);
    if (column == nullptr || column->origin != kWorkerOrigin) {
      return "the worker's record has a column that is not the worker's: " + Json(name).dump();
    }
    if (is_loss(name) && value.is_null()) continue;  // reported as a wrong loss
    if (!has_type(value, column->type)) {
      return "the worker's record has no valid value of " + name + ": " + value.dump();
    }
    if (value.is_number() && value.get<double>() < 0 && column->group == ColumnGroup::memory) {
      return "the worker's record has a negative " + name;
    }
  }
  return "";
}

bool losses_are_finite(const Json& record) {
  const Json losses = record.value("loss", Json::array());
  const Json columns = columns_of(record);
  for (const auto& [name, value] : columns.items()) {
    if (is_loss(name) && !is_finite(value)) return false;
  }
  return losses.is_array() && std::all_of(losses.begin(), losses.end(), is_finite);
}

std::optional<Status> status_of_worker(const Json& record) {
  const Json status = record.value("status", Json());
  for (const Status one : {Status::ok, Status::out_of_memory, Status::unsupported, Status::inactive,
                           Status::incorrect, Status::failed}) {
    if (status == enum_name(one)) return one;
  }
  return std::nullopt;
}

Outcome failed(const std::string& reason, const Json& record = nullptr) {
  return {{Status::failed, reason}, record};
}

Outcome outcome_of_record(const WorkerReply& reply, const Catalog& catalog) {
  const Json& record = reply.record;
  const auto status = status_of_worker(record);
  const Json reason = record.value("reason", Json());
  if (!status || !reason.is_string())
    return failed("the worker's record has no valid status", record);
  const std::string fault = fault_in_columns(columns_of(record), catalog);
  if (!fault.empty()) return failed(fault, record);
  if (*status == Status::ok && !losses_are_finite(record)) {
    return {{Status::incorrect, "the loss is not finite"}, record};
  }
  const std::string text = reason.get<std::string>();
  return {{*status, text.empty() ? reply.reason : text}, record};
}

bool excludes(const Catalog& catalog, const std::string& one, const std::string& other) {
  const TechniqueInfo* info = catalog.find_technique(one);
  return info != nullptr && std::count(info->excludes.begin(), info->excludes.end(), other) > 0;
}

std::string names_of_joining(const Catalog& catalog) {
  std::string names;
  for (const TechniqueInfo& technique : catalog.techniques) {
    if (technique.joins_ranks) names += (names.empty() ? "" : ", ") + technique.name;
  }
  return names;
}

}  // namespace

Outcome outcome_of(const WorkerReply& reply, const Catalog& catalog) {
  switch (reply.ending) {
    case Ending::answered:
      return outcome_of_record(reply, catalog);
    case Ending::timed_out:
      return {{Status::timeout, reply.reason}, nullptr};
    case Ending::crashed:
      if (reply.killed_for_memory) {
        return {{Status::out_of_memory, "host: killed by the kernel's OOM killer"}, nullptr};
      }
      return {{Status::crashed, reply.reason}, nullptr};
    case Ending::lost:
    case Ending::broken:
    case Ending::dismissed:
    case Ending::interrupted:
      break;
  }
  return failed(reply.reason);
}

bool joins_ranks(const Case& one, const Catalog& catalog) {
  return std::any_of(one.techniques.begin(), one.techniques.end(), [&](const Json& technique) {
    const TechniqueInfo* info = catalog.find_technique(technique.at("name").get<std::string>());
    return info != nullptr && info->joins_ranks;
  });
}

std::optional<std::string> why_unsupported(const Case& one, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Json& technique : one.techniques) names.push_back(technique.at("name"));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      if (excludes(catalog, names[i], names[j]) || excludes(catalog, names[j], names[i])) {
        return names[i] + " and " + names[j] + " exclude each other";
      }
    }
  }
  if (one.ranks() > 1 && !joins_ranks(one, catalog)) {
    return std::to_string(one.ranks()) +
           " ranks need a technique that joins them: " + names_of_joining(catalog);
  }
  return std::nullopt;
}

}  // namespace headroom
