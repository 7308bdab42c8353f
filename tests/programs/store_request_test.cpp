// SPDX-License-Identifier: Apache-2.0
#include "src/programs/store_request.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/programs/store_messages.h"

namespace headroom {
namespace {

struct Said {
  std::string bytes;
  StoreRequest request;
};

/// One of each kind.
std::vector<Said> all_kinds() {
  const std::string binary("\0\n\xff", 3);
  return {
      {validation(), {StoreVerb::validate, {}, {}, StoreRequestReader::kMagic}},
      {message(StoreVerb::set, text("key") + text(binary)), {StoreVerb::set, {"key"}, {binary}}},
      {message(StoreVerb::compare_set, text("key") + text("") + text("new")),
       {StoreVerb::compare_set, {"key"}, {"", "new"}}},
      {message(StoreVerb::get, text("key")), {StoreVerb::get, {"key"}, {}}},
      {message(StoreVerb::add, text("key") + bytes_of(std::int64_t{-2})),
       {StoreVerb::add, {"key"}, {}, -2}},
      {message_of_keys(StoreVerb::check, {"a", "b"}), {StoreVerb::check, {"a", "b"}, {}}},
      {message_of_keys(StoreVerb::wait, {"a", ""}), {StoreVerb::wait, {"a", ""}, {}}},
      {message(StoreVerb::count_keys), {StoreVerb::count_keys, {}, {}}},
      {message(StoreVerb::remove, text("key")), {StoreVerb::remove, {"key"}, {}}},
      {message(StoreVerb::append, text("key") + text("more")),
       {StoreVerb::append, {"key"}, {"more"}}},
      {message_of_keys(StoreVerb::get_each, {}), {StoreVerb::get_each, {}, {}}},
      {message(StoreVerb::set_each,
               bytes_of(std::uint64_t{2}) + text("a") + text("1") + text("b") + text("2")),
       {StoreVerb::set_each, {"a", "b"}, {"1", "2"}}},
      {message(StoreVerb::cancel_wait), {StoreVerb::cancel_wait, {}, {}}},
      {message(StoreVerb::ping, bytes_of(std::uint32_t{7})), {StoreVerb::ping, {}, {}, 7}}};
}

TEST(StoreRequest, comes_whole_however_it_is_cut) {
  std::string all;
  for (const Said& said : all_kinds()) all += said.bytes;
  for (const std::size_t size : {std::size_t{1}, std::size_t{5}, all.size()}) {
    StoreRequestReader reader;
    std::vector<StoreRequest> read;
    for (std::size_t at = 0; at < all.size(); at += size) {
      reader.take(std::string_view(all).substr(at, size));
      while (auto request = reader.next()) read.push_back(*request);
    }
    ASSERT_EQ(read.size(), all_kinds().size());
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], all_kinds()[i].request) << i;
  }
}

TEST(StoreRequest, that_is_none_is_refused) {
  const std::string too_long = bytes_of(StoreRequestReader::kMaxText + 1);
  const std::string too_many = bytes_of(StoreRequestReader::kMaxKeys + 1);
  const std::vector<std::pair<std::string, std::string>> faults = {
      {message(StoreVerb::validate, "abcd"), "it is no store of PyTorch that asks"},
      {"\x0e", "request 14 is not known"},
      {"GET / HTTP/1.1", "request 71 is not known"},
      {message(StoreVerb::get, too_long), "a text is too long"},
      {message(StoreVerb::wait, too_many), "there are too many keys"}};
  for (const auto& [bytes, fault] : faults) {
    StoreRequestReader reader;
    reader.take(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.fault(), fault);
    reader.take(validation());
    EXPECT_FALSE(reader.next()) << "nothing more is read";
  }
}

TEST(StoreRequest, of_random_bytes_does_no_harm) {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 3);
    StoreRequestReader reader;
    reader.take(bytes);
    while (auto request = reader.next()) EXPECT_LE(request->keys.size(), bytes.size());
  }
}

}  // namespace
}  // namespace headroom
