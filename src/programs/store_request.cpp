// SPDX-License-Identifier: Apache-2.0
#include "src/programs/store_request.h"

#include <array>
#include <cstring>
#include <stdexcept>

namespace headroom {
namespace {

/// What stands behind a verb.
struct Form {
  enum class Keys : char { none, one, counted } keys = Keys::none;
  int values = 0;        // behind each key
  int number_bytes = 0;  // behind all that
};

/// By verb.
constexpr std::array<Form, 14> kForms{{
    {.number_bytes = 4},                           // validate
    {.keys = Form::Keys::one, .values = 1},        // set
    {.keys = Form::Keys::one, .values = 2},        // compare_set
    {.keys = Form::Keys::one},                     // get
    {.keys = Form::Keys::one, .number_bytes = 8},  // add
    {.keys = Form::Keys::counted},                 // check
    {.keys = Form::Keys::counted},                 // wait
    {},                                            // count_keys
    {.keys = Form::Keys::one},                     // remove
    {.keys = Form::Keys::one, .values = 1},        // append
    {.keys = Form::Keys::counted},                 // get_each
    {.keys = Form::Keys::counted, .values = 1},    // set_each
    {},                                            // cancel_wait
    {.number_bytes = 4},                           // ping
}};

/// There is less than a whole request.
struct Incomplete {};

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(int size) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(static_cast<std::size_t>(size)).data(),
                static_cast<std::size_t>(size));
    return value;
  }
  std::string text() {
    const std::uint64_t size = number(sizeof(size));
    if (size > StoreRequestReader::kMaxText) throw std::length_error("a text is too long");
    return std::string(take(size));
  }
  std::size_t read() const { return read_; }

 private:
  std::string_view take(std::size_t size) {
    if (size > bytes_.size() - read_) throw Incomplete{};
    read_ += size;
    return bytes_.substr(read_ - size, size);
  }

  std::string_view bytes_;
  std::size_t read_ = 0;
};

StoreRequest read_request(Cursor& cursor) {
  const std::uint64_t verb = cursor.number(1);
  if (verb >= kForms.size()) {
    throw std::runtime_error("request " + std::to_string(verb) + " is not known");
  }
  StoreRequest request{.verb = static_cast<StoreVerb>(verb), .keys = {}, .values = {}};
  const Form& form = kForms[verb];
  std::uint64_t keys = form.keys == Form::Keys::one ? 1 : 0;
  if (form.keys == Form::Keys::counted) keys = cursor.number(sizeof(keys));
  if (keys > StoreRequestReader::kMaxKeys) throw std::length_error("there are too many keys");
  for (std::uint64_t key = 0; key < keys; ++key) {
    request.keys.push_back(cursor.text());
    for (int value = 0; value < form.values; ++value) request.values.push_back(cursor.text());
  }
  request.number = static_cast<std::int64_t>(cursor.number(form.number_bytes));
  if (request.verb == StoreVerb::validate && request.number != StoreRequestReader::kMagic) {
    throw std::runtime_error("it is no store of PyTorch that asks");
  }
  return request;
}

}  // namespace

void StoreRequestReader::take(std::string_view bytes) {
  if (fault_.empty()) unread_ += bytes;
}

std::optional<StoreRequest> StoreRequestReader::next() {
  if (!fault_.empty() || unread_.empty()) return std::nullopt;
  Cursor cursor(unread_);
  try {
    StoreRequest request = read_request(cursor);
    unread_.erase(0, cursor.read());
    return request;
  } catch (const Incomplete&) {
    if (unread_.size() > kMaxBytes) fault_ = "a request is too long";
  } catch (const std::exception& error) {
    fault_ = error.what();
  }
  return std::nullopt;
}

}  // namespace headroom
