// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/yaml.h"
#include "src/suite/catalog.h"

// Checks what a suite file says against the catalog's fields. Messages name the place, the dotted
// path, and what is allowed.
namespace headroom {

/// Letters, digits, '.', '_' and '-', at most 64, the first a letter or digit: what a suite and a
/// case may be called, so that names serve as file names.
bool is_name(std::string_view text);
inline constexpr std::size_t kLongestCaseName = 64;
inline constexpr const char* kNameRule =
    "a letter or digit, then at most 63 letters, digits, '.', '_' or '-'";

/// A node that is a list or a map, or a ConfigError that says what `what` must be.
const Node& expect(const Node& node, Node::Kind kind, const std::string& what);

/// The value that `node` gives to a field that is no object. `path` is the field's.
nlohmann::ordered_json read_value(const Node& node, const Field& field, const std::string& path);

/// All values that a map gives to `fields`, without regard to which fields go together.
nlohmann::ordered_json read_values(const Node& map, const std::vector<Field>& fields,
                                   const std::string& path);

/// Puts one layer over `values`: the values that `map` gives replace those that are there. The
/// layer's own `name` counts first: what was there and does not go with a new name is dropped, what
/// the layer gives and does not go with the name in force is an error.
void merge_layer(nlohmann::ordered_json& values, const Node& map, const std::vector<Field>& fields,
                 const std::string& path);

/// `values` in the catalog's order, with the defaults of all other fields that apply to the name.
nlohmann::ordered_json fill_defaults(const nlohmann::ordered_json& values,
                                     const std::vector<Field>& fields);

/// Throws ConfigError where a field that must be given is not there.
void check_required(const nlohmann::ordered_json& values, const std::vector<Field>& fields,
                    const Place& place, const std::string& path = {});

/// The field at a dotted path, which must be no object.
const Field& scalar_field_at(const std::string& path, const std::vector<Field>& fields,
                             const Place& place);

}  // namespace headroom
