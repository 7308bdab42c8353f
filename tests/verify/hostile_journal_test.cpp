// SPDX-License-Identifier: Apache-2.0
// Journals whose checksums are right and whose values are not: whoever reads results ends as
// always, or refuses them.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>

#include "src/compare/comparison.h"
#include "src/compare/night.h"
#include "src/core/error.h"
#include "src/report/export.h"
#include "src/report/report_page.h"
#include "src/runner/merge.h"
#include "tests/verify/good_results.h"

namespace headroom {
namespace {

using Pointer = Json::json_pointer;

/// Good results with all that a comparison, a page and an export read.
GoodResults full_results() {
  GoodResults results = good_results("cuda");
  for (std::size_t i = 0; i < results.cases.size(); ++i) {
    results.work(i)["train"]["held_out_samples"] = 100;
    results.cases[i]["gate"] = {{"time_percent", 3.0}, {"reserved_bytes", 20}};
    results.cases[i]["environment"] = {{"cores", 2}, {"variables", {{"OMP_NUM_THREADS", "2"}}}};
  }
  results.set(0, "run_peak_reserved_bytes", 2000);
  results.set(0, "held_out_accuracy", 0.9);
  results.set(0, "peak_block", 0);
  results.row(0)["planned_run_peak_allocated_bytes"] = 1000;
  results.record(0)["step_memory"] = {{"forward", 0, 900}, {"update", nullptr, 1000}};
  return results;
}

/// The same with another peak, so that a comparison explains it.
GoodResults grown_results() {
  GoodResults results = full_results();
  results.set(0, "run_peak_allocated_bytes", 1200);
  results.set(0, "peak_rounding_bytes", 20);
  results.record(0)["peak_tensors"][0][0] = 3;
  return results;
}

/// The places of all values in a value; of a list's items the first stands for all.
void add_places(const Json& value, const Pointer& place, std::vector<Pointer>& places) {
  places.push_back(place);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) add_places(member, place / key, places);
  } else if (value.is_array() && !value.empty()) {
    add_places(value[0], place / 0, places);
  }
}

/// Calls what may refuse the results, and nothing else.
void expect_an_end(const std::string& what, const std::function<void()>& call) {
  try {
    call();
  } catch (const ResultsError&) {
  } catch (const ConfigError&) {
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

/// All that reads results, given a folder of them and good ones.
class Readers {
 public:
  explicit Readers(const std::string& folder)
      : folder_(folder), grown_(read_all_results(folder + "/grown")) {}

  void read(const std::string& what) {
    const std::string hostile = folder_ + "/hostile";
    expect_an_end(what + ", verify", [&] { verify(hostile); });
    expect_an_end(what + ", read", [&] {
      const std::vector<Results> all = read_all_results(hostile);
      compare_in_turns(what, all);
      expect_an_end(what + ", report", [&] { html_report(all); });
      for (const ExportFormat& format : export_formats()) {
        expect_an_end(what + ", export " + format.name, [&] { format.write(all); });
      }
      expect_an_end(what + ", merge", [&] { merge(all); });
      expect_an_end(what + ", gate",
                    [&] { judge_night({.old_results = all, .new_results = all}, history_); });
    });
  }

 private:
  void merge(const std::vector<Results>& all) const {
    const std::string out = folder_ + "/merged";
    std::filesystem::remove_all(out);
    std::vector<const Results*> parts;
    for (const Results& one : all) parts.push_back(&one);
    merge_results(catalog_of_good_results(), parts, out);
  }

  void compare_in_turns(const std::string& what, const std::vector<Results>& all) const {
    for (const auto& [old_results, new_results] :
         {std::pair(&all, &all), std::pair(&grown_, &all), std::pair(&all, &grown_)}) {
      expect_an_end(what + ", compare", [&] {
        const Comparison comparison = compare(*old_results, *new_results);
        for (const ComparisonFormat& format : kComparisonFormats) format.write(comparison);
      });
    }
  }

  std::string folder_;
  std::vector<Results> grown_;
  History history_{folder_ + "/history.db"};
};

/// Puts values of every kind at each place of a part of the journal, drops each member, and has all
/// of that read.
void expect_no_fault(Json& part, const GoodResults& results) {
  const TemporaryFolder folder;
  grown_results().write(folder, "grown");
  results.write(folder, "hostile");
  Readers readers(folder.path());
  const auto read = [&](const std::string& what) {
    folder.write("hostile/journal.jsonl", results.journal());
    readers.read(what);
  };
  std::vector<Pointer> places;
  add_places(part, Pointer(), places);
  for (const Pointer& place : places) {
    const Json before = part;
    for (const Json& value : {Json(), Json(true), Json("2"), Json(INT64_MIN), Json(1e308),
                              Json(5e-324), Json::array(), Json::object()}) {
      part[place] = value;
      read(place.to_string() + " = " + value.dump());
      part = before;
    }
    if (place.empty() || !part[place.parent_pointer()].is_object()) continue;
    part[place.parent_pointer()].erase(place.back());
    read("no " + place.to_string());
    part = before;
  }
}

TEST(HostileJournal, is_read_or_refused_whatever_its_header_holds) {
  GoodResults results = full_results();
  expect_no_fault(results.header, results);
}

TEST(HostileJournal, is_read_or_refused_whatever_a_row_holds) {
  GoodResults results = full_results();
  expect_no_fault(results.row(0), results);
}

TEST(HostileJournal, is_read_or_refused_whatever_a_record_holds) {
  GoodResults results = full_results();
  expect_no_fault(results.record(0), results);
}

TEST(HostileJournal, is_read_or_refused_whatever_stands_beside_the_row) {
  GoodResults results = full_results();
  for (const char* part : {"case", "gate", "environment"}) {
    expect_no_fault(results.cases[0][part], results);
  }
  expect_no_fault(results.cases[2]["rank_records"], results);
}

TEST(HostileJournal, of_figures_that_are_absurd_in_old_and_new_is_read) {
  const TemporaryFolder folder;
  for (const Json& value : {Json(0), Json(INT64_MIN), Json(INT64_MAX), Json(5e-324)}) {
    GoodResults results = full_results();
    for (const char* column : {"step_time_median_ns", "step_time_min_ns", "samples_per_second",
                               "run_peak_allocated_bytes", "peak_rounding_bytes"}) {
      for (std::size_t i = 0; i < 3; ++i) results.set(i, column, value);
    }
    results.work(0)["train"]["held_out_samples"] = -1;
    results.record(0)["peak_tensors"] = {{INT64_MAX, 2, "weights"}, {INT64_MAX, 3, "weights"}};
    grown_results().write(folder, "grown");
    results.write(folder, "hostile");
    Readers(folder.path()).read(value.dump());
  }
}

TEST(HostileJournal, names_the_line_and_what_is_wrong) {
  const TemporaryFolder folder;
  const auto why = [&](const std::function<void(GoodResults&)>& spoil) -> std::string {
    GoodResults results = good_results();
    spoil(results);
    const std::string path = results.write(folder) + "/journal.jsonl";
    try {
      read_results(folder / "results");
    } catch (const ResultsError& error) {
      const std::string what = error.what();
      return what.starts_with(path) ? what.substr(path.size()) : what;
    }
    return "";
  };
  EXPECT_EQ(why([](GoodResults& r) { r.header["cases"]["plain"] = Json::object(); }), "");
  const std::string no_case =
      ":1:1: the case plain is no object with a list of techniques, each with a name";
  EXPECT_EQ(why([](GoodResults& r) { r.header["cases"]["plain"] = 7; }), no_case);
  EXPECT_EQ(why([](GoodResults& r) { r.work(0)["techniques"] = "ddp"; }), no_case);
  EXPECT_EQ(why([](GoodResults& r) { r.work(0)["techniques"] = {{{"name", 7}}}; }), no_case);
  EXPECT_EQ(why([](GoodResults& r) { r.row(1)["ranks"] = Json::array(); }),
            ":3:1: the row's ranks is of the kind array; allowed: a text or a number");
  EXPECT_EQ(why([](GoodResults& r) { r.record(2) = 7; }), ":4:1: this is no record of a case");
  EXPECT_EQ(why([](GoodResults& r) { r.cases[2]["rank_records"][0] = 7; }),
            ":4:1: this is no record of a case");
  EXPECT_EQ(why([](GoodResults& r) {
              for (int i = 0; i < 1000; ++i) r.row(0)["x" + std::to_string(i)] = i;
            }).find(":2:1: the row has 10"),
            0U);
}

}  // namespace
}  // namespace headroom
