// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/gpus/gpu.h"
#include "src/runner/gpu_json.h"
#include "src/suite/json_schema.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

struct ListOptions {
  std::string what;
  bool json = false;
};

/// What there is to list, as JSON and as text.
struct Listing {
  Json json;
  std::string text;
};

Listing list_choices(const Catalog& catalog, const std::string& path) {
  Listing listing{Json::array(), ""};
  std::vector<Cells> rows;
  const Field* field = catalog.find_case_field(path);
  if (field == nullptr) throw std::logic_error("the catalog has no field " + path);
  for (const FieldChoice& choice : field->choices) {
    rows.push_back({choice.name, choice.summary});
    listing.json.push_back({{"name", choice.name}, {"summary", choice.summary}});
  }
  listing.text = format_table({"name", "summary"}, rows);
  return listing;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string describe_options(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    const std::string value = field.required ? "required" : field.default_value.dump();
    text += (text.empty() ? "" : ", ") + field.name + " (" + value + ")";
  }
  return text;
}

std::string describe_techniques(const Catalog& catalog) {
  std::string text;
  for (const TechniqueInfo& technique : catalog.techniques) {
    text += technique.name + ": " + technique.summary + "\n";
    const std::vector<Cells> lines = {{"saves", technique.saves},
                                      {"costs", technique.costs},
                                      {"options", describe_options(technique.fields)},
                                      {"excludes", joined(technique.excludes)},
                                      {"source", technique.source}};
    for (const Cells& line : lines) {
      if (!line[1].empty()) text += "  " + line[0] + ": " + printable(line[1]) + "\n";
    }
  }
  return text;
}

std::string describe_columns(const Catalog& catalog) {
  std::vector<Cells> rows;
  for (const Column& column : catalog.columns) {
    rows.push_back({column.name, std::string(enum_name(column.type)),
                    std::string(enum_name(column.group)), column.summary});
  }
  return format_table({"name", "type", "group", "summary"}, rows);
}

Listing list_gpus() {
  Listing listing{Json::array(), ""};
  std::vector<Cells> rows;
  for (const dry_run::Gpu& gpu : dry_run::gpu_table()) {
    Json entry{{"name", gpu.name}, {"product", gpu.product}, {"summary", gpu.summary}};
    entry.update(figures_of(gpu));
    entry["source"] = gpu.source;
    listing.json.push_back(std::move(entry));
    rows.push_back({std::string(gpu.name), format_bytes(gpu.memory_bytes),
                    format_bytes(gpu.context_bytes), std::string(gpu.summary)});
  }
  listing.text =
      format_table({"name", "memory", "context", "summary"}, rows, {"memory", "context"});
  return listing;
}

Listing make_listing(const CommandLine& line, const std::string& what) {
  const Catalog catalog = line.catalog();
  if (what == "models") return list_choices(catalog, "model.name");
  if (what == "data") return list_choices(catalog, "data.name");
  if (what == "gpus") return list_gpus();
  if (what == "schema") {
    const Json schema = suite_json_schema(catalog);
    return {schema, json_text(schema)};
  }
  const Json all = read_json(line.catalog_json);
  if (what == "techniques") return {all.at("techniques"), describe_techniques(catalog)};
  return {all.at("columns"), describe_columns(catalog)};
}

}  // namespace

void add_list(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "list", "What a suite can name, what a row says, and the JSON schema of suite files");
  const auto options = std::make_shared<ListOptions>();
  command->add_option("WHAT", options->what, "models, techniques, columns, data, gpus or schema")
      ->required()
      ->check(CLI::IsMember({"models", "techniques", "columns", "data", "gpus", "schema"}));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] {
      const Listing listing = make_listing(line, options->what);
      print(options->json ? json_text(listing.json) : listing.text);
      return 0;
    };
  });
}

}  // namespace headroom
