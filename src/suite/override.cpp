// SPDX-License-Identifier: Apache-2.0
#include "src/suite/override.h"

#include "src/core/error.h"
#include "src/core/utf8.h"
#include "src/core/yaml_reader.h"

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

}  // namespace headroom
