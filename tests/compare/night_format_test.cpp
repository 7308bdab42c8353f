// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/compare/night.h"

namespace headroom {
namespace {

std::string written(const std::string& format, const Night& night) {
  const auto found = std::ranges::find(night_formats(), format, &NightFormat::name);
  return found == night_formats().end() ? "" : found->write(night);
}

TEST(Night, has_forms_for_people_and_for_programs) {
  Night night{
      .comparison = {.machine_differences = {}, .cases = {}, .varied = {"driver was 1"}},
      .cases = {
          {.suite = "s", .name = "a", .machine = "m"},
          {.suite = "s",
           .name = "b,c",
           .machine = "m",
           .light = Light::yellow,
           .reason = "100 %\nslow"},
          {.suite = "t", .name = "d", .machine = "m", .light = Light::red, .reason = "<worse>"}}};
  EXPECT_EQ(written("github", night),
            "::warning title=s%3a b%2cc::yellow: 100 %25%0aslow\n"
            "::error title=t%3a d::red: <worse>\n");
  EXPECT_NE(written("markdown", night).find("## red\n"), std::string::npos);
  EXPECT_NE(written("markdown", night).find("| t | d | red | \\<worse\\> |"), std::string::npos);
  EXPECT_NE(written("table", night).find("What is tried:\n  driver was 1\n"), std::string::npos);
  const auto json = nlohmann::json::parse(written("json", night));
  EXPECT_EQ(json.at("light"), "red");
  EXPECT_EQ(json.at("cases").at(1).at("light"), "yellow");
  EXPECT_EQ(json.at("comparison").at("varied").at(0), "driver was 1");
  const std::string junit = written("junit", night);
  EXPECT_NE(junit.find("<skipped"), std::string::npos);
  EXPECT_NE(junit.find("&lt;worse&gt;"), std::string::npos);
}

}  // namespace
}  // namespace headroom
