// SPDX-License-Identifier: Apache-2.0
#include "src/runner/measure_request.h"

#include <stdexcept>

#include "src/runner/outcome.h"

namespace headroom {
namespace {

std::chrono::seconds limit(const Case& one, const char* path) {
  const nlohmann::ordered_json* value = one.find(path);
  if (value == nullptr) throw std::logic_error(std::string("the catalog has no field ") + path);
  return std::chrono::seconds(value->get<std::int64_t>());
}

}  // namespace

WorkerRequest measure_request(const std::string& worker, const std::string& device, const Case& one,
                              const Catalog& catalog, int log) {
  WorkerRequest request;
  request.worker = worker;
  request.body = {{"request", "measure"}, {"device", device}, {"case", one.to_json()}};
  if (joins_ranks(one, catalog)) request.body.update({{"rank", 0}, {"ranks", one.ranks()}});
  request.log = log;
  request.silence = limit(one, "limits.silence_s");
  request.total = limit(one, "limits.case_s");
  return request;
}

}  // namespace headroom
