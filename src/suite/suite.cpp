// SPDX-License-Identifier: Apache-2.0
#include "src/suite/suite.h"

#include "src/core/yaml_reader.h"
#include "src/suite/effective.h"
#include "src/suite/expand.h"
#include "src/suite/suite_file.h"

namespace headroom {

Suite load_suite(const std::string& path, const Catalog& catalog,
                 const std::vector<Override>& overrides) {
  SuiteFile file = parse_suite_file(read_yaml_file(path), catalog);
  add_overrides(file, overrides, catalog);
  Suite suite{.name = file.name,
              .source = file.source,
              .gpu = file.gpu,
              .cases = expand_cases(file, catalog),
              .effective_yaml = {}};
  suite.effective_yaml = write_effective_suite(file, catalog);
  return suite;
}

}  // namespace headroom
