// SPDX-License-Identifier: Apache-2.0
#include "src/runner/worker_messages.h"

#include "src/core/json_reader.h"

namespace headroom {
namespace {

constexpr std::size_t kMostBytesOfLine = 1024 * 1024;
constexpr std::size_t kMostBytesOfPhase = 64;

using Json = nlohmann::ordered_json;

bool is_text(const Json& message, const char* key, std::string_view value) {
  const auto entry = message.find(key);
  return entry != message.end() && entry->is_string() &&
         entry->get_ref<const std::string&>() == value;
}

std::int64_t count_of(const Json& message, const char* key) {
  const auto entry = message.find(key);
  return entry != message.end() && entry->is_number_integer() ? entry->get<std::int64_t>() : 0;
}

/// Words of lower-case letters only: the phase is printed on terminals and stands in reasons.
bool is_phase(const std::string& text) {
  return !text.empty() && text.size() <= kMostBytesOfPhase &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

}  // namespace

void WorkerMessages::take(std::string_view bytes) {
  while (fault_.empty() && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (unread_.size() + part.size() > kMostBytesOfLine) {
      fault_ = "the worker sent a message of more than 1 MiB";
      return;
    }
    unread_ += part;
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    take_line(unread_);
    unread_.clear();
  }
}

void WorkerMessages::take_line(std::string_view line) {
  try {
    take_message(read_json(line));
  } catch (const JsonError& error) {
    fault_ = std::string("the worker sent a message that is no JSON: ") + error.what();
  }
}

void WorkerMessages::take_message(const Json& message) {
  if (!message.is_object() || !is_text(message, "nonce", nonce_)) {
    fault_ = "the worker sent a message that is not of this conversation (wrong nonce)";
  } else if (!record_.is_null()) {
    fault_ = is_text(message, "event", "record") ? "the worker sent two records"
                                                 : "the worker sent a message after its record";
  } else if (is_text(message, "event", "record")) {
    record_ = message.value("record", Json());
    if (!record_.is_object()) fault_ = "the worker sent a record that is no object";
  } else if (is_text(message, "event", "progress")) {
    const auto phase = message.find("phase");
    if (phase == message.end() || !phase->is_string() || !is_phase(phase->get<std::string>())) {
      fault_ = "the worker sent progress with no phase";
      return;
    }
    last_ = {phase->get<std::string>(), count_of(message, "step"), count_of(message, "steps"),
             last_.messages + 1};
    on_progress_(last_);
  } else {
    fault_ = "the worker sent an unknown event";
  }
}

}  // namespace headroom
