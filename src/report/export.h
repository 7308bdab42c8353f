// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/results/results.h"

// Results in the formats of other tools. Several results of one suite are repeats; all but JUnit's
// throw ResultsError where they are none (src/report/repeats.h). No case is left out: of one that
// has no figures its end is told, as far as the format can.
namespace headroom {

/// JSON as Google Benchmark writes it, which its tools/compare.py reads. Step times are real_time;
/// as that tool compares times only, bytes stand in entries of their own, `.../COLUMN`, in the
/// field of the time. A case that is not ok is an aggregate with no time, which the tool skips.
std::string google_benchmark_export(const std::vector<Results>& all);

/// JSON for github-action-benchmark's tool customSmallerIsBetter. How many cases of a suite are not
/// ok is an entry of its own, and names them.
std::string github_action_export(const std::vector<Results>& all);

/// Bencher Metric Format, JSON: a figure's median, and its extremes where there are repeats. How
/// many cases of a suite are not ok is a measure of the suite.
std::string bencher_export(const std::vector<Results>& all);

/// JUnit's XML: one test for each repeat of a case. It fails as the case did; out_of_memory is a
/// result and passes; unsupported and not done are skipped.
std::string junit_export(const std::vector<Results>& all);

/// A table for each suite, in GitHub's Markdown; of repeats the medians.
std::string markdown_export(const std::vector<Results>& all);

/// JSON Lines: an object for each case of each results folder, with its row's columns, and beside
/// them its "work", its "environment", and what its worker told: "step_time_ns" and "loss" of each
/// step, "peak_tensors" and "step_memory" as lists of objects, "rank_records" of several ranks.
std::string jsonl_export(const std::vector<Results>& all);

struct ExportFormat {
  const char* name;
  const char* summary;
  std::string (*write)(const std::vector<Results>& all);
};

/// All formats.
std::span<const ExportFormat> export_formats();

}  // namespace headroom
