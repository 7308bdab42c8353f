// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/workers/worker_call.h"

namespace headroom {

/// To measure a case with the test worker, which behaves so after so many milliseconds.
inline WorkerRequest test_request(const std::string& behaviour, int work_ms = 0) {
  using Json = nlohmann::ordered_json;
  WorkerRequest request;
  request.worker = HEADROOM_BUILD_DIR "/test_worker";
  request.body = {{"request", "measure"},
                  {"case",
                   {{"name", "a"},
                    {"model", {{"name", behaviour}}},
                    {"train", {{"batch_size", 8}, {"work_ms", work_ms}}},
                    {"techniques", Json::array()}}}};
  return request;
}

}  // namespace headroom
