// SPDX-License-Identifier: Apache-2.0
// What a rank of somebody's program asks of the store of ranks that never come.
#include "src/programs/played_store.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
void fuzz_store(std::string_view input) {
  PlayedStore store;
  for (const StoreRequest& request : read_however(input, StoreRequestReader())) {
    const bool has_answer = store.answer(request).has_value();
    const bool waits = request.verb == StoreVerb::wait || request.verb == StoreVerb::get ||
                       request.verb == StoreVerb::get_each;
    require(has_answer == !(waits && store.missing(request.keys)), "who waits is told for what");
  }
}

}  // namespace headroom
