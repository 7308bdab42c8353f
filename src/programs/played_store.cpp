// SPDX-License-Identifier: Apache-2.0
#include "src/programs/played_store.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "src/core/checksum.h"

namespace headroom {
namespace {

// c10d's answers of one byte.
constexpr char kReady = 0;
constexpr char kNotReady = 1;
constexpr char kStopWaiting = 0;
constexpr char kWaitCanceled = 1;

template <class Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

std::string text_of(const std::string& text) { return bytes_of(std::uint64_t{text.size()}) + text; }

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The barrier of init_process_group() and new_group(): the last rank to come says so.
bool is_end_of_barrier(std::string_view key) {
  return key.find("store_based_barrier_key:") != std::string_view::npos &&
         key.ends_with(":last_worker");
}

/// Where rank 0 of a group puts the unique id of its communicator: behind the names of the groups,
/// the communicator's number, or the two ranks that send to each other.
bool is_unique_id(std::string_view key) {
  const auto end_of_groups = key.rfind("//");
  if (end_of_groups == std::string_view::npos) return false;
  const std::string_view name = key.substr(end_of_groups + 2);
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return is_digits(name);
  return is_digits(name.substr(0, colon)) && is_digits(name.substr(colon + 1));
}

/// Unlike those of other keys, and the same for each rank that asks.
std::string unique_id_of(std::string_view key) {
  constexpr std::size_t kBytes = 128;  // NCCL_UNIQUE_ID_BYTES of nccl.h
  std::string id = fingerprint(key);
  id.resize(kBytes, '.');
  return id;
}

/// What ranks that never come would have set; nothing: that is not known.
std::optional<std::string> set_by_others(const std::string& key) {
  if (is_end_of_barrier(key)) return "1";
  if (is_unique_id(key)) return unique_id_of(key);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> PlayedStore::answer(const StoreRequest& request) {
  const auto& keys = request.keys;
  const auto& values = request.values;
  switch (request.verb) {
    case StoreVerb::validate:
      return "";
    case StoreVerb::ping:
      return bytes_of(static_cast<std::uint32_t>(request.number));
    case StoreVerb::cancel_wait:
      return std::string{kWaitCanceled};
    case StoreVerb::count_keys:
      return bytes_of(static_cast<std::int64_t>(values_.size()));
    case StoreVerb::remove:
      return bytes_of(static_cast<std::int64_t>(values_.erase(keys[0])));
    case StoreVerb::append:
      values_[keys[0]] += values[0];
      return "";
    case StoreVerb::add:
      return bytes_of(add(keys[0], request.number));
    case StoreVerb::compare_set:
      return text_of(exchange(request));
    case StoreVerb::set:
    case StoreVerb::set_each:
      for (std::size_t i = 0; i < keys.size(); ++i) values_[keys[i]] = values[i];
      return "";
    case StoreVerb::check: {
      // Who checks goes on where it is not there: only what this rank set is.
      const auto is_there = [&](const std::string& key) { return values_.contains(key); };
      return std::string{std::all_of(keys.begin(), keys.end(), is_there) ? kReady : kNotReady};
    }
    case StoreVerb::wait:
      if (missing(keys)) return std::nullopt;
      return std::string{kStopWaiting};
    case StoreVerb::get:
    case StoreVerb::get_each: {
      if (missing(keys)) return std::nullopt;
      std::string texts;
      for (const std::string& key : keys) texts += text_of(*find(key));
      return texts;
    }
  }
  return std::nullopt;
}

std::optional<std::string> PlayedStore::missing(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys) {
    if (!find(key)) return key;
  }
  return std::nullopt;
}

std::optional<std::string> PlayedStore::find(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return found->second;
  const auto of_other = of_others_.find(key);
  return of_other != of_others_.end() ? of_other->second : set_by_others(key);
}

/// c10d keeps numbers as texts. What is none counts as 0.
std::int64_t PlayedStore::add(const std::string& key, std::int64_t number) {
  std::string& value = values_[key];
  std::int64_t before = 0;
  std::from_chars(value.data(), value.data() + value.size(), before);
  const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(before) +
                                             static_cast<std::uint64_t>(number));
  value = std::to_string(sum);
  return sum;
}

/// The value that stands then.
const std::string& PlayedStore::exchange(const StoreRequest& request) {
  const std::string& expected = request.values[0];
  const auto found = values_.find(request.keys[0]);
  if (found == values_.end()) {
    if (!expected.empty()) return expected;  // as c10d answers, though nothing stands there
    return values_[request.keys[0]] = request.values[1];
  }
  if (found->second == expected) found->second = request.values[1];
  return found->second;
}

}  // namespace headroom
