// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/fields.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

enum class Colour { red, dark_green, blue };

TEST(EnumNames, AreThoseOfTheCode) {
  ASSERT_EQ(enum_names<Colour>().size(), 3u);
  EXPECT_EQ(enum_names<Colour>()[1], "dark_green");
  EXPECT_EQ(enum_name(Colour::blue), "blue");
}

using Json = nlohmann::ordered_json;

enum class Schedule { constant, cosine };

struct OptimizerOptions {
  std::string name = "adam";
  double lr = 1e-3;
  double momentum = 0.0;
  Schedule schedule = Schedule::constant;

  void fields(Fields& f) {
    const Choice names[] = {{"adam", "Adam"}, {"sgd", "SGD"}};
    f.choice({"name", "which optimizer"}, name, names);
    f.number({"lr", "learning rate"}, lr, {0, 10});
    f.number({.name = "momentum", .summary = "momentum", .only_with = {"sgd"}}, momentum,
             {.max = 1});
    f.choice({"schedule", "of the learning rate"}, schedule);
  }
};

struct TrainOptions {
  std::int64_t batch_size = 0;
  std::int64_t seed = 1;
  bool tf32 = false;
  std::string note;
  OptimizerOptions optimizer;

  void fields(Fields& f) {
    f.integer({.name = "batch_size", .summary = "samples", .required = true}, batch_size,
              {1, 4096});
    f.integer({"seed", "of all random numbers"}, seed, {});
    f.boolean({"tf32", "allow TF32"}, tf32);
    f.text({"note", "free text"}, note);
    f.object({"optimizer", "the update"}, [this](Fields& inner) { optimizer.fields(inner); });
  }
};

TrainOptions read(const std::string& json) {
  TrainOptions options;
  read_fields(Json::parse(json), "train", [&](Fields& f) { options.fields(f); });
  return options;
}

std::string refusal_of_fields(const std::string& json) {
  return message_of<ConfigError>([&] { read(json); });
}

TEST(DescribeFields, GivesTheCatalogsForm) {
  TrainOptions options;
  const Json fields = describe_fields([&](Fields& f) { options.fields(f); });
  EXPECT_EQ(fields, Json::parse(R"([
    {"name": "batch_size", "type": "integer", "summary": "samples", "required": true,
     "min": 1, "max": 4096},
    {"name": "seed", "type": "integer", "summary": "of all random numbers", "default": 1},
    {"name": "tf32", "type": "boolean", "summary": "allow TF32", "default": false},
    {"name": "note", "type": "text", "summary": "free text", "default": ""},
    {"name": "optimizer", "type": "object", "summary": "the update", "fields": [
      {"name": "name", "type": "choice", "summary": "which optimizer", "default": "adam",
       "choices": [{"name": "adam", "summary": "Adam"}, {"name": "sgd", "summary": "SGD"}]},
      {"name": "lr", "type": "number", "summary": "learning rate", "default": 0.001,
       "min": 0.0, "max": 10.0},
      {"name": "momentum", "type": "number", "summary": "momentum", "default": 0.0,
       "only_with": ["sgd"], "max": 1.0},
      {"name": "schedule", "type": "choice", "summary": "of the learning rate",
       "default": "constant",
       "choices": [{"name": "constant", "summary": ""}, {"name": "cosine", "summary": ""}]}]}])"));
}

TEST(ReadFields, FillsWhatIsGivenAndKeepsTheRest) {
  const TrainOptions options = read(
      R"({"batch_size": 64, "tf32": true, "note": "x",
          "optimizer": {"schedule": "cosine", "momentum": 0.9, "name": "sgd", "lr": 1}})");
  EXPECT_EQ(options.batch_size, 64);
  EXPECT_EQ(options.seed, 1);
  EXPECT_TRUE(options.tf32);
  EXPECT_EQ(options.note, "x");
  EXPECT_EQ(options.optimizer.name, "sgd");
  EXPECT_EQ(options.optimizer.lr, 1.0);
  EXPECT_EQ(options.optimizer.momentum, 0.9);
  EXPECT_EQ(options.optimizer.schedule, Schedule::cosine);
}

TEST(ReadFields, NamesThePathAndWhatIsAllowed) {
  EXPECT_EQ(refusal_of_fields("{}"), "train.batch_size must be given");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 0})"), "train.batch_size is 0; allowed: 1 to 4096");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 1.0})"),
            "train.batch_size is 1.0; allowed: an integer");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 18446744073709551615})"),
            "train.batch_size is 18446744073709551615; allowed: an integer");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": null})"),
            "train.batch_size is null; allowed: an integer");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 1, "tf32": 1})"),
            "train.tf32 is 1; allowed: true, false");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 1, "note": 1})"),
            "train.note is 1; allowed: a text");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 1, "optimizer": []})"),
            "train.optimizer must be an object");
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 1, "optimizer": {"lr": 11}})"),
            "train.optimizer.lr is 11; allowed: 0 to 10");
  EXPECT_EQ(
      refusal_of_fields(R"({"batch_size": 1, "optimizer": {"schedule": "cosin"}})"),
      "train.optimizer.schedule is \"cosin\"; did you mean 'cosine'? Allowed: constant, cosine");
}

TEST(ReadFields, RefusesKeysThatNobodyReads) {
  EXPECT_EQ(refusal_of_fields(R"({"batch_size": 1, "sed": 2})"),
            "train: unknown key 'sed'; did you mean 'seed'? Allowed: batch_size, seed, tf32, note, "
            "optimizer");
  EXPECT_TRUE(contains(refusal_of_fields(R"({"batch_size": 1, "optimizer": {"beta": 2}})"),
                       "train.optimizer: unknown key 'beta'"));
}

TEST(ReadFields, RefusesFieldsOfAnotherName) {
  const std::string message =
      refusal_of_fields(R"({"batch_size": 1, "optimizer": {"momentum": 0.5}})");
  EXPECT_EQ(
      message,
      "train.optimizer.momentum does not go with train.optimizer.name 'adam'; it goes with: sgd");
}

}  // namespace

}  // namespace headroom
