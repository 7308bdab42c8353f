// SPDX-License-Identifier: Apache-2.0
#include "src/suite/suite.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "src/core/error.h"
#include "src/core/text.h"
#include "src/core/yaml.h"
#include "src/suite/catalog.h"
#include "src/suite/schema.h"
#include "src/suite/suite_file.h"

namespace headroom {

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  const Place place{.file = "--set " + text};
  if (equals == 0 || equals == std::string::npos) {
    throw ConfigError(place, "expected KEY=VALUE, such as train.batch_size=4");
  }
  Override result{.path = text.substr(0, equals), .value = {}};
  result.value.place = place;
  result.value.text = text.substr(equals + 1);
  if (text.size() > YamlLimits::kScalarBytes) throw ConfigError(Place{.file = "--set"}, "too long");
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    if (point.bytes == 0 || is_control(point.value)) {
      throw ConfigError(Place{.file = "--set"}, "only printable UTF-8 is allowed");
    }
    rest.remove_prefix(point.bytes);
  }
  return result;
}

namespace {

using Json = nlohmann::ordered_json;

Node empty_map() {
  Node map;
  map.kind = Node::Kind::map;
  return map;
}

/// Sets the value at a dotted path in a tree of maps. Paths lead to scalars by now, so none runs
/// through another one's value.
void put(Node& tree, std::string_view path, const Node& value) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  auto member = std::find_if(tree.members.begin(), tree.members.end(),
                             [&](const Member& other) { return other.key == key; });
  if (member == tree.members.end()) {
    tree.members.push_back({.key = key, .place = value.place, .value = empty_map()});
    member = std::prev(tree.members.end());
  }
  if (dot == std::string_view::npos) {
    member->value = value;
  } else {
    put(member->value, path.substr(dot + 1), value);
  }
}

/// How many cases the matrix makes of one; stops counting beyond the most that are allowed.
std::size_t count_combinations(const std::vector<Axis>& matrix) {
  std::size_t count = 1;
  for (const Axis& axis : matrix) {
    count *= axis.values.size();
    if (count > Suite::kMaxCases) break;
  }
  return count;
}

/// One combination of the matrix: a layer, and what it adds to the case's name.
struct Combination {
  Node layer = empty_map();
  std::string suffix;
};

Combination combination_at(std::size_t index, const std::vector<Axis>& matrix,
                           const Catalog& catalog) {
  std::vector<const Node*> chosen(matrix.size());
  for (std::size_t i = matrix.size(); i-- > 0;) {
    const std::vector<Node>& values = matrix[i].values;
    chosen[i] = &values[index % values.size()];
    index /= values.size();
  }
  Combination combination;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const std::string& path = matrix[i].path;
    const Json value = read_value(*chosen[i], *catalog.find_case_field(path), path);
    combination.suffix += (i == 0 ? "@" : ",") + path + "=";
    combination.suffix += value.is_string() ? value.get<std::string>() : value.dump();
    put(combination.layer, path, *chosen[i]);
  }
  return combination;
}

/// Of groups a and a_b with cases b_c and c two would be a_b_c.
void check_names(const std::vector<Case>& cases, const Place& groups_place) {
  std::unordered_set<std::string_view> seen;
  for (const Case& one : cases) {
    if (seen.insert(one.name).second) continue;
    throw ConfigError(groups_place, "two cases are named " + one.name + "; names are unique");
  }
}

}  // namespace

std::vector<Case> expand_cases(const SuiteFile& file, const Catalog& catalog) {
  const std::size_t count = count_combinations(file.matrix);
  if (count * file.groups.size() * file.cases.size() > Suite::kMaxCases) {
    throw ConfigError(count > 1 ? file.matrix_place : file.groups_place,
                      "more than " + std::to_string(Suite::kMaxCases) + " cases in all");
  }
  std::vector<Combination> combinations;
  for (std::size_t i = 0; i < count; ++i) {
    combinations.push_back(combination_at(i, file.matrix, catalog));
  }
  Node set = empty_map();
  for (const Override& entry : file.overrides) put(set, entry.path, entry.value);

  Json defaults = Json::object();
  merge_layer(defaults, file.defaults, catalog.case_fields, "");
  std::vector<Case> cases;
  for (const Group& group : file.groups) {
    Json of_group = defaults;
    merge_layer(of_group, group.fields, catalog.case_fields, "");
    for (const CaseEntry& entry : file.cases) {
      Json given = of_group;
      merge_layer(given, entry.fields, catalog.case_fields, "");
      const std::string name = group.name.empty() ? entry.name : group.name + "_" + entry.name;
      for (const Combination& combination : combinations) {
        Json values = given;
        merge_layer(values, combination.layer, catalog.case_fields, "");
        merge_layer(values, set, catalog.case_fields, "");
        values = fill_defaults(values, catalog.case_fields);
        check_required(values, catalog.case_fields, entry.place);
        Json gate = values[kGate];
        values.erase(kGate);
        cases.push_back({.name = name + combination.suffix,
                         .techniques = entry.techniques,
                         .fields = std::move(values),
                         .gate = std::move(gate),
                         .published = entry.published});
      }
    }
  }
  check_names(cases, file.groups_place);
  return cases;
}

void add_overrides(SuiteFile& file, const std::vector<Override>& overrides,
                   const Catalog& catalog) {
  for (const Override& entry : overrides) {
    scalar_field_at(entry.path, catalog.case_fields, entry.value.place);
    const auto same_path = [&](const auto& other) { return other.path == entry.path; };
    std::erase_if(file.overrides, same_path);
    const auto axis = std::find_if(file.matrix.begin(), file.matrix.end(), same_path);
    if (axis == file.matrix.end()) {
      file.overrides.push_back(entry);
    } else {
      axis->values = {entry.value};
    }
  }
}

Suite make_suite(const SuiteFile& file, const Catalog& catalog) {
  Suite suite{.name = file.name,
              .source = file.source,
              .gpu = file.gpu,
              .memory_only = file.memory_only,
              .cases = expand_cases(file, catalog),
              .effective_yaml = {}};
  suite.effective_yaml = write_effective_suite(file, catalog);
  return suite;
}

Suite load_suite(const std::string& path, const Catalog& catalog,
                 const std::vector<Override>& overrides) {
  SuiteFile file = parse_suite_file(read_yaml_file(path), catalog);
  add_overrides(file, overrides, catalog);
  return make_suite(file, catalog);
}

}  // namespace headroom
