// SPDX-License-Identifier: Apache-2.0
#include "src/worker/messages.h"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

namespace headroom {
namespace {

constexpr int kDescriptor = 3;

}  // namespace

void Messages::progress(std::string_view phase, long step, long steps) const {
  send({{"event", "progress"}, {"phase", phase}, {"step", step}, {"steps", steps}});
}

void Messages::record(const nlohmann::ordered_json& record) const {
  send({{"event", "record"}, {"record", record}});
}

void Messages::send(nlohmann::ordered_json message) const {
  message["nonce"] = nonce_;
  // What libraries say of themselves (an error's text) may hold any bytes.
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t written = write(kDescriptor, line.data() + sent, line.size() - sent);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "to the runner");
    sent += static_cast<std::size_t>(written);
  }
}

}  // namespace headroom
