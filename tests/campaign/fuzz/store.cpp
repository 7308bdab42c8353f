// SPDX-License-Identifier: Apache-2.0
// What a rank of somebody's program asks of the store of ranks that never come.
#include "src/programs/played_store.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

struct ReadRequests {
  std::vector<StoreRequest> requests;
  std::string fault;

  friend bool operator==(const ReadRequests&, const ReadRequests&) = default;
};

void take_requests(StoreRequestReader& reader, std::string_view bytes, ReadRequests& into) {
  reader.take(bytes);
  while (auto request = reader.next()) into.requests.push_back(std::move(*request));
  into.fault = reader.fault();
}

}  // namespace

void fuzz_store(std::string_view input) {
  StoreRequestReader reader;
  ReadRequests whole;
  take_requests(reader, input, whole);
  StoreRequestReader slow_reader;
  ReadRequests in_parts;
  in_pieces(input, [&](std::string_view piece) { take_requests(slow_reader, piece, in_parts); });
  require(whole == in_parts, "requests are the same however they come");
  PlayedStore store;
  for (const StoreRequest& request : whole.requests) {
    const bool has_answer = store.answer(request).has_value();
    const bool waits = request.verb == StoreVerb::wait || request.verb == StoreVerb::get ||
                       request.verb == StoreVerb::get_each;
    require(has_answer == !(waits && store.missing(request.keys)), "who waits is told for what");
  }
}

}  // namespace headroom
