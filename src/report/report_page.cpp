// SPDX-License-Identifier: Apache-2.0
#include "src/report/report_page.h"

#include <fmt/format.h>

#include <filesystem>

#include "src/report/sections.h"
#include "src/results/journal.h"

namespace headroom {

extern const std::string_view kReportStyle;  // report.css, embedded by the build

namespace {

/// How the cases of some results ended.
struct Counts {
  std::size_t cases = 0;
  std::size_t ok = 0;
  std::size_t out_of_memory = 0;
  std::size_t unsupported = 0;
  std::size_t failed = 0;
  std::size_t not_done = 0;

  void add(const Results& results) {
    cases += results.cases.size() + results.not_done.size();
    not_done += results.not_done.size();
    for (const CaseResult& result : results.cases) {
      const Status status = status_of(result.row);
      ok += status == Status::ok;
      out_of_memory += status == Status::out_of_memory;
      unsupported += status == Status::unsupported;
      failed += is_failure(status);
    }
  }
};

Html count_item(const char* what, std::size_t count) {
  return element("li", element("b", std::to_string(count)) + " " + what);
}

Html counts_html(const Counts& counts) {
  return element("ul", {{"class", "counts"}},
                 count_item("cases", counts.cases) + count_item("ok", counts.ok) +
                     count_item("out of memory", counts.out_of_memory) +
                     count_item("unsupported", counts.unsupported) +
                     count_item("failed", counts.failed) + count_item("not done", counts.not_done));
}

std::string text_of(const Results& results, const char* key) {
  return results.header[key].get<std::string>();
}

/// "planned for a100-40gb", "measured on cpu", "measured on cuda, memory only".
std::string kind_text(const Results& results) {
  const std::string kind = text_of(results, "kind");
  return kind + (kind == "planned" ? " for " : " on ") + text_of(results, "device") +
         (is_memory_only(results.header) ? ", memory only" : "");
}

std::string anchor_of(std::size_t index) { return fmt::format("results-{}", index + 1); }

Html contents(const std::vector<Results>& all) {
  if (all.size() < 2) return {};
  Html items;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Html name = name_html(all[i].suite());
    items += element("li",
                     element("a", {{"href", "#" + anchor_of(i)}}, name) + ", " + kind_text(all[i]));
  }
  return element("nav", {{"aria-label", "Results"}}, element("ol", items));
}

Html section(const std::vector<Results>& all, std::size_t index) {
  const Results& results = all[index];
  const std::vector<CaseGroup> groups = group_cases(results.cases);
  const std::string folder = std::filesystem::path(results.journal).parent_path();
  Html content = element("h2", name_html(results.suite()) + " " +
                                   element("span", {{"class", "kind"}}, kind_text(results)));
  content += element("p", {{"class", "note"}},
                     "LibTorch " + text_of(results, "libtorch") + ", results in " +
                         element("code", name_html(folder)));
  content += stack_section(results, groups);
  content += peak_section(groups);
  content += holders_section(groups);
  content += figure_sources_section(results, all);
  content += run_time_section(results);
  content += timeline_section(groups);
  content += tradeoff_section(groups);
  content += ranks_section(results);
  content += missing_section(results);
  content += environment_section(results);
  content += commands_section(results, groups);
  return element("section", {{"id", anchor_of(index)}}, content);
}

/// A pattern of report.css: a square of that size in the category's colour, and what lies on it.
Html pattern(const std::string& id, const std::string& size, const Html& mark) {
  return element(
      "pattern",
      {{"id", id}, {"width", size}, {"height", size}, {"patternUnits", "userSpaceOnUse"}},
      empty_element("rect", {{"width", size}, {"height", size}}) + mark);
}

Html path(const std::string& steps) { return empty_element("path", {{"d", steps}}); }

/// Four of the categories have one, so that colour is not all.
Html patterns() {
  return element(
      "svg", {{"class", "patterns"}, {"width", "0"}, {"height", "0"}, {"aria-hidden", "true"}},
      element("defs",
              pattern("gradients", "6", path("M-1,1L1,-1M0,6L6,0M5,7L7,5")) +
                  pattern("state", "6", path("M-1,5L1,7M0,0L6,6M5,-1L7,1")) +
                  pattern("communication", "4", path("M2,0V4")) +
                  pattern("temporary", "5",
                          empty_element("circle", {{"cx", "2.5"}, {"cy", "2.5"}, {"r", "0.9"}}))));
}

Html head(const std::string& title) {
  return element(
      "head",
      empty_element("meta", {{"charset", "utf-8"}}) +
          empty_element("meta", {{"http-equiv", "Content-Security-Policy"},
                                 {"content", "default-src 'none'; style-src 'unsafe-inline'"}}) +
          empty_element(
              "meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
          empty_element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
          element("title", title) + element("style", Html::trusted(kReportStyle)));
}

}  // namespace

std::string html_report(const std::vector<Results>& all) {
  Counts counts;
  for (const Results& results : all) counts.add(results);
  const std::string title = all.size() == 1 ? "headroom: " + all[0].suite() : "headroom";
  Html content =
      element("header", element("h1", "headroom report") + counts_html(counts) + contents(all));
  for (std::size_t i = 0; i < all.size(); ++i) content += section(all, i);
  content += element("footer", element("p",
                                       "Made by headroom report. Amounts are in binary units "
                                       "(1 GiB is 1,073,741,824 bytes); a pointer over a "
                                       "figure shows it to the last digit. What was not "
                                       "measured is empty."));
  const Html body = element("body", patterns() + element("main", content));
  return "<!DOCTYPE html>\n" + element("html", {{"lang", "en"}}, head(title) + body).markup() +
         "\n";
}

}  // namespace headroom
