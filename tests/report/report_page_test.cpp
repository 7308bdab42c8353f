// SPDX-License-Identifier: Apache-2.0
#include "src/report/report_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/report/sample_results.h"
#include "tests/support/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const std::string kHostile =
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x01\x1b[31m\u202E\u200F]]>"
    "<!-- --></title></style>https://example.org/url(http://example.org)";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

bool has(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// The file loads nothing, runs nothing, and hides nothing.
void expect_self_contained(const std::string& html) {
  EXPECT_FALSE(std::regex_search(html, std::regex("<(script|img|link|iframe|object|base)\\b")));
  // A quotation mark that is text is an entity, so these are attributes.
  EXPECT_FALSE(std::regex_search(html, std::regex("\\son[a-z]+=\"")));
  EXPECT_FALSE(std::regex_search(html, std::regex("\\ssrc=\"|\\shref=\"[^#]")));
  const std::size_t style = html.find("<style>");
  const std::string rules = html.substr(style, html.find("</style>") - style);
  EXPECT_FALSE(std::regex_search(rules, std::regex("url\\([^#]|@import|https?:")));
  for (const char c : html) {
    EXPECT_FALSE((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f);
  }
}

/// What tidy, which knows HTML 5, has to say; the part of SVG that it does not know is left out.
void expect_valid(const std::string& html) {
  const TemporaryFolder folder;
  const std::string file = folder.write("report.html", html);
  const Ended ended = Program("/usr/bin/env", {"tidy", "-quiet", "-errors",
                                               "--warn-proprietary-attributes", "no", file})
                          .wait();
  if (ended.code == 127) GTEST_SKIP() << "ci/bootstrap tests did not install tidy";
  EXPECT_EQ(ended.code, 0) << ended.err.substr(0, 2000);
}

void expect_sound(const std::string& html) {
  expect_self_contained(html);
  expect_valid(html);
}

TEST(ReportPage, shows_memory_time_and_their_shares) {
  const std::string html = html_report({sample_results(
      "s", "measured", {sample_case("plain", "", 100), sample_case("half", "sgd", 50, 80)})});
  expect_sound(html);
  for (const char* part :
       {"<b>2</b> cases", "<b>2</b> ok", "measured on cuda", "title=\"104857600 bytes\">100.00 MiB",
        "<td class=\"number\">50.0</td>", "<td class=\"number\">80.0</td>", "50.00 MiB, 50 %",
        "100.00 MiB in forward, block 1", "Memory against time",
        "./headroom run out/s/suite.yaml --only &#39;^half$&#39; --device cuda", "lang=\"en\"",
        "<title>headroom: s</title>"}) {
    EXPECT_TRUE(has(html, part)) << part;
  }
}

TEST(ReportPage, shows_what_holds_the_peak_of_the_process_whose_figures_stand_in_the_row) {
  const auto process = [](double mib, const char* line) {
    const auto bytes = static_cast<std::int64_t>(mib * 1024 * 1024);
    const nlohmann::ordered_json holder{
        {"kind", "parameters"}, {"bytes", bytes}, {"blocks", 1234567}, {"line", line}};
    return nlohmann::ordered_json{{"peak_allocated_bytes", bytes}, {"holders", {holder}}};
  };
  CaseResult one = sample_case("mine", "", 100);
  one.record["processes"] = {process(70, "small.py:1 f"), process(100, "large.py:2 g")};
  const std::string html = html_report({sample_results("s", "planned", {one})});
  expect_sound(html);
  EXPECT_TRUE(has(html, "What holds the peak, by line"));
  EXPECT_TRUE(has(html, "large.py:2 g"));
  EXPECT_TRUE(has(html, "1234567"));
  EXPECT_FALSE(has(html, "small.py:1 f"));
  one.record["processes"] = {nullptr, 1, {{"peak_allocated_bytes", "x"}, {"holders", 1}}};
  const std::string none = html_report({sample_results("s", "planned", {one})});
  EXPECT_FALSE(has(none, "What holds the peak, by line"));
}

TEST(ReportPage, shows_hostile_names_as_text) {
  CaseResult one = sample_case(kHostile, kHostile, 100);
  for (auto& [column, value] : one.row.items()) {
    const bool is_free = column != "status" && column != "kind";
    if (value.is_string() && is_free) value = kHostile;
  }
  one.record["step_memory"][2][0] = kHostile;
  one.record["processes"] = {
      {{"peak_allocated_bytes", one.row["run_peak_allocated_bytes"]},
       {"holders",
        {{{"kind", kHostile}, {"bytes", 1}, {"blocks", 1}, {"line", kHostile}}, kHostile}}},
      kHostile};
  one.rank_records = {{{"status", kHostile}, {"columns", one.row}}, nullptr};
  Results results = sample_results(
      kHostile, "measured",
      {one, sample_failure(kHostile + "2", "crashed", kHostile), sample_case("other", "", 90)});
  results.header["device"] = results.header["libtorch"] = kHostile;
  results.journal = kHostile + "/journal.jsonl";
  results.not_done = {kHostile};
  const std::string html = html_report({results, results});
  expect_sound(html);
  EXPECT_TRUE(has(html, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_TRUE(has(html, "\\u{1}\\u{1b}[31m\\u{202e}\\u{200f}"));
  EXPECT_FALSE(has(html, "\u202E"));
}

TEST(ReportPage, stays_whole_with_very_long_names_and_names_in_any_script) {
  const std::string html = html_report(
      {sample_results(std::string(500, 's'), "measured",
                      {sample_case(std::string(10'000, 'n'), "sgd", 1),
                       sample_case("\u05d0\u05d1", "", 1), sample_case("\xff\xfe", "", 1)})});
  expect_sound(html);
  EXPECT_TRUE(has(html, "<bdi>\u05d0\u05d1</bdi>"));
  EXPECT_TRUE(has(html, "<bdi>\\xff\\xfe</bdi>"));
}

TEST(ReportPage, tells_why_cases_have_no_figures_and_which_are_not_done) {
  Results results = sample_results("s", "measured",
                                   {sample_failure("a", "out_of_memory", "no room left"),
                                    sample_failure("b", "crashed", "signal 11")});
  results.not_done = {"c"};
  const std::string html = html_report({results});
  expect_sound(html);
  for (const char* part :
       {"<b>3</b> cases", "<b>0</b> ok", "<b>1</b> out of memory", "<b>1</b> failed",
        "<b>1</b> not done", "<b>out_of_memory</b> no room left", "<b>crashed</b> signal 11",
        "<b>not done</b>"}) {
    EXPECT_TRUE(has(html, part)) << part;
  }
  EXPECT_FALSE(has(html, "What the peak is made of"));
  EXPECT_FALSE(has(html, "0 bytes")) << "what was not measured is no 0";
}

TEST(ReportPage, names_the_cases_whose_products_are_emulated) {
  const auto page_of = [](const std::string& products) {
    Row row = {{"status", "ok"}, {"precision", "mixed_bfloat16"}};
    if (!products.empty()) row["cpu_bfloat16"] = products;
    const nlohmann::ordered_json header = {
        {"suite", "s"}, {"kind", "measured"}, {"device", "cpu"}, {"libtorch", "2"}};
    return html_report({{"out/journal.jsonl", header, {{.name = "a", .row = row}}, {}}});
  };
  const std::string emulation = "times of an emulation";
  EXPECT_NE(page_of("emulated").find(emulation), std::string::npos);
  EXPECT_EQ(page_of("native").find(emulation), std::string::npos);
  EXPECT_EQ(page_of("").find(emulation), std::string::npos);  // as journals of before have it
}

TEST(ReportPage, of_nothing_is_a_page) {
  expect_sound(html_report({}));
  expect_sound(html_report({sample_results("s", "planned", {})}));
}

TEST(ReportPage, never_puts_a_plan_and_a_measurement_into_one_figure) {
  const CaseResult one = sample_case("a", "", 100);
  const CaseResult other = sample_case("b", "sgd", 50);
  const std::string html =
      html_report({sample_results("s", "measured", {one, other}),
                   sample_results("s", "planned", {sample_plan(one), sample_plan(other)})});
  expect_sound(html);
  const std::size_t second = html.find("<section id=\"results-2\"");
  ASSERT_NE(second, std::string::npos);
  const std::string measured = html.substr(0, second);
  const std::string planned = html.substr(second);
  EXPECT_EQ(count(measured, "<svg class=\"bars\""), 1U);
  EXPECT_EQ(count(planned, "<svg class=\"bars\""), 1U);
  EXPECT_TRUE(has(measured, "measured on cuda"));
  EXPECT_TRUE(has(planned, "planned for a100-40gb"));
  // A plan's speed is an estimate, with an interval for each case.
  EXPECT_EQ(count(measured, "<svg class=\"tradeoff\""), 1U);
  EXPECT_EQ(count(planned, "<svg class=\"tradeoff\""), 1U);
  EXPECT_EQ(count(measured, "<line class=\"interval\""), 0U);
  EXPECT_EQ(count(planned, "<line class=\"interval\""), 2U);
  // Beside the measured figures stand the planned ones of the other folder, by name.
  EXPECT_TRUE(has(measured, "off the plan"));
}

TEST(ReportPage, shows_how_far_a_plan_s_reserved_memory_hangs_on_the_host) {
  const auto page_of = [](std::int64_t lower, std::int64_t upper) {
    CaseResult one = sample_plan(sample_case("a", "", 100));
    one.row["run_peak_reserved_bytes"] = 2 << 20;
    one.row["run_peak_reserved_lower_bytes"] = lower;
    one.row["run_peak_reserved_upper_bytes"] = upper;
    return html_report({sample_results("s", "planned", {one})});
  };
  EXPECT_TRUE(has(page_of(1 << 20, 3 << 20), "<small>1.00 MiB to 3.00 MiB</small>"));
  EXPECT_FALSE(has(page_of(2 << 20, 2 << 20), "<small>2.00 MiB to"));
}

TEST(ReportPage, shows_every_rank_and_sums_none) {
  CaseResult one = sample_case("a", "ddp", 30);
  one.row["ranks"] = 2;
  one.row["peak_rank"] = 1;
  for (const int mib : {20, 30}) {
    one.rank_records.push_back(
        {{"status", "ok"}, {"columns", {{"run_peak_allocated_bytes", mib << 20}}}});
  }
  const std::string html = html_report({sample_results("s", "measured", {one})});
  expect_sound(html);
  EXPECT_TRUE(has(html,
                  "<th scope=\"row\">rank 0</th><td class=\"number\" title=\"20971520 bytes\""
                  ">20.00 MiB</td><td class=\"number\">66.7</td>"));
  EXPECT_EQ(count(html, ", the peak rank"), 1U);
  EXPECT_FALSE(has(html, "50.00 MiB"));
  EXPECT_FALSE(has(html, "25.00 MiB"));
}

TEST(ReportPage, holds_a_thousand_rows) {
  std::vector<CaseResult> cases;
  for (int i = 0; i < 1'000; ++i) {
    CaseResult one =
        sample_case("case_" + std::to_string(i), i == 0 ? "" : "sgd", 100 + i % 90, 100 + i % 70);
    const Json place = {"forward", 1, 1 << 20};
    for (int k = 0; k < 1'000; ++k) one.record["step_memory"].push_back(place);
    cases.push_back(std::move(one));
  }
  const std::string html = html_report({sample_results("s", "measured", std::move(cases))});
  expect_sound(html);
  EXPECT_EQ(count(html, "<svg class=\"course\""), 1'000U);
  EXPECT_LT(html.size(), 10U << 20);
}

}  // namespace
}  // namespace headroom
