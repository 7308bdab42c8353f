// SPDX-License-Identifier: Apache-2.0
#include "src/programs/played_store.h"

#include <gtest/gtest.h>

#include "tests/programs/store_messages.h"

namespace headroom {
namespace {

constexpr char kTrue = '\0';   // READY, STOP_WAITING
constexpr char kFalse = '\1';  // NOT_READY, WAIT_CANCELED

StoreRequest request(StoreVerb verb, std::vector<std::string> keys,
                     std::vector<std::string> values = {}, std::int64_t number = 0) {
  return {verb, std::move(keys), std::move(values), number};
}

TEST(PlayedStore, keeps_what_its_rank_sets) {
  PlayedStore store;
  EXPECT_EQ(store.answer(request(StoreVerb::check, {"a"})), std::string{kFalse});
  EXPECT_EQ(store.answer(request(StoreVerb::set, {"a"}, {"1"})), "");
  EXPECT_EQ(store.answer(request(StoreVerb::append, {"a"}, {"2"})), "");
  EXPECT_EQ(store.answer(request(StoreVerb::set_each, {"b", "c"}, {"3", ""})), "");
  EXPECT_EQ(store.answer(request(StoreVerb::get, {"a"})), text("12"));
  EXPECT_EQ(store.answer(request(StoreVerb::get_each, {"b", "a"})), text("3") + text("12"));
  EXPECT_EQ(store.answer(request(StoreVerb::check, {"a", "b", "c"})), std::string{kTrue});
  EXPECT_EQ(store.answer(request(StoreVerb::count_keys, {})), bytes_of(std::int64_t{3}));
  EXPECT_EQ(store.answer(request(StoreVerb::remove, {"b"})), bytes_of(std::int64_t{1}));
  EXPECT_EQ(store.answer(request(StoreVerb::remove, {"b"})), bytes_of(std::int64_t{0}));
  EXPECT_EQ(store.answer(request(StoreVerb::ping, {}, {}, 77)), bytes_of(std::uint32_t{77}));
}

TEST(PlayedStore, counts) {
  PlayedStore store;
  EXPECT_EQ(store.answer(request(StoreVerb::add, {"n"}, {}, 2)), bytes_of(std::int64_t{2}));
  EXPECT_EQ(store.answer(request(StoreVerb::add, {"n"}, {}, -5)), bytes_of(std::int64_t{-3}));
  EXPECT_EQ(store.answer(request(StoreVerb::get, {"n"})), text("-3"));
}

// c10d's own table: what is expected of a key that nobody set is given back.
TEST(PlayedStore, compares_before_it_sets) {
  PlayedStore store;
  EXPECT_EQ(store.answer(request(StoreVerb::compare_set, {"a"}, {"old", "new"})), text("old"));
  EXPECT_EQ(store.answer(request(StoreVerb::compare_set, {"a"}, {"", "new"})), text("new"));
  EXPECT_EQ(store.answer(request(StoreVerb::compare_set, {"a"}, {"old", "newer"})), text("new"));
  EXPECT_EQ(store.answer(request(StoreVerb::compare_set, {"a"}, {"new", "newer"})), text("newer"));
  EXPECT_EQ(store.answer(request(StoreVerb::get, {"a"})), text("newer"));
}

TEST(PlayedStore, answers_for_ranks_that_never_come_where_it_is_known_what_they_set) {
  PlayedStore store;
  const std::string barrier = "default_pg/0//store_based_barrier_key:1:last_worker";
  EXPECT_EQ(store.answer(request(StoreVerb::wait, {barrier})), std::string{kTrue});
  for (const char* id : {"default_pg/0//cuda//0", "default_pg/0//1f00//12", "1//cuda//3:4"}) {
    const auto answer = store.answer(request(StoreVerb::get, {id}));
    ASSERT_TRUE(answer) << id;
    EXPECT_EQ(answer->size(), 8U + 128U) << id;
  }
  store.answer(request(StoreVerb::set, {"default_pg/0//cuda//0"}, {"its own"}));
  EXPECT_EQ(store.answer(request(StoreVerb::get, {"default_pg/0//cuda//0"})), text("its own"));
  EXPECT_EQ(store.answer(request(StoreVerb::check, {barrier})), std::string{kFalse})
      << "who only looks is told what was set";
}

TEST(PlayedStore, has_whoever_asks_for_the_rest_wait) {
  PlayedStore store;
  // The last: gloo's address of rank 0.
  for (const char* key : {"a", "1//cuda//", "1//cuda//3:", "1//cuda//x", "1//cpu//0/0"}) {
    EXPECT_FALSE(store.answer(request(StoreVerb::wait, {key}))) << key;
    EXPECT_FALSE(store.answer(request(StoreVerb::get, {key}))) << key;
    EXPECT_EQ(store.missing({key}), key);
  }
  store.answer(request(StoreVerb::set, {"a"}, {""}));
  EXPECT_FALSE(store.answer(request(StoreVerb::wait, {"a", "b"})));
  EXPECT_EQ(store.missing({"a", "b"}), "b");
  store.answer(request(StoreVerb::add, {"b"}));
  EXPECT_EQ(store.answer(request(StoreVerb::wait, {"a", "b"})), std::string{kTrue});
  EXPECT_EQ(store.answer(request(StoreVerb::cancel_wait, {})), std::string{kFalse});
}

}  // namespace
}  // namespace headroom
