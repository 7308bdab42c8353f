// SPDX-License-Identifier: Apache-2.0
// Plans whose worker ran without a dry run: the test worker over no library.
#include "src/runner/case_plan.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "src/core/error.h"
#include "tests/core/messages.h"
#include "tests/runner/test_request.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::optional<CasePlan> plan_without_dry_run(const WorkerRequest& request) {
  const Catalog catalog =
      parse_catalog(read_text(HEADROOM_SOURCE_DIR "/tests/runner/test_catalog.json"));
  Interrupts interrupts;
  return plan_case(request, {.libraries = "/no/such/folder", .gpu = "h200"}, catalog, interrupts,
                   [](const WorkerProgress&) {});
}

std::optional<CasePlan> plan_without_dry_run(const std::string& behaviour) {
  return plan_without_dry_run(test_request(behaviour));
}

TEST(CasePlan, has_failed_where_its_dry_run_left_no_report) {
  for (const char* behaviour : {"ok", "out_of_memory"}) {
    const auto plan = plan_without_dry_run(behaviour);
    EXPECT_EQ(plan->outcome.verdict.status, Status::failed);
    EXPECT_EQ(plan->outcome.verdict.reason.find("its dry run left no report"), 0u);
    EXPECT_FALSE(plan->figures.fits);
  }
  const auto crashed = plan_without_dry_run("segv");  // no wonder then
  EXPECT_EQ(crashed->outcome.verdict.status, Status::crashed);
}

TEST(CasePlan, has_failed_where_the_run_that_says_what_is_missing_left_no_report) {
  const auto plan = plan_without_dry_run("dry_misses");
  EXPECT_EQ(plan->outcome.verdict.status, Status::failed);
  EXPECT_EQ(plan->outcome.verdict.reason, "its dry run left no report");
  EXPECT_FALSE(plan->figures.fits);
  EXPECT_FALSE(plan->figures.missing_bytes);
}

// One of the two alone would be a bound that is too narrow.
TEST(CasePlan, has_no_bounds_where_the_run_of_one_crashed) {
  const auto plan = plan_without_dry_run("dry_bound_crashes");
  EXPECT_EQ(plan->outcome.verdict.status, Status::ok) << plan->outcome.verdict.reason;
  EXPECT_EQ(plan->outcome.record.at("columns").at("run_peak_reserved_bytes"), 8'000'000);
  EXPECT_EQ(plan->figures.run_peak_reserved_lower_bytes, std::nullopt);
  EXPECT_EQ(plan->figures.run_peak_reserved_upper_bytes, std::nullopt);
}

TEST(CasePlan, has_bounds_by_the_copies_of_convolutions) {
  const auto plan = plan_without_dry_run("dry_convolves");
  EXPECT_EQ(plan->outcome.record.at("columns").at("run_peak_reserved_bytes"), 18'000'000);
  EXPECT_EQ(plan->figures.run_peak_reserved_lower_bytes, 17'000'000);
  EXPECT_EQ(plan->figures.run_peak_reserved_upper_bytes, 19'000'000);
}

TEST(CasePlan, keeps_the_snapshot_of_the_estimated_run) {
  const TemporaryFolder folder;
  WorkerRequest request = test_request("dry_bound_crashes");
  request.body["snapshot"] = folder / "a.pickle";
  plan_without_dry_run(request);
  EXPECT_EQ(read_text(folder / "a.pickle"), "estimated");
}

TEST(CasePlan, of_a_worker_that_tells_no_reserved_peak_has_no_bounds_of_it) {
  const auto plan = plan_without_dry_run("dry");
  EXPECT_EQ(plan->outcome.verdict.status, Status::ok) << plan->outcome.verdict.reason;
  EXPECT_EQ(plan->figures.fits, true);
  EXPECT_EQ(plan->figures.run_peak_reserved_lower_bytes, std::nullopt);
  EXPECT_EQ(plan->figures.run_peak_reserved_upper_bytes, std::nullopt);
}

// A worker that can't write its report ends; "no_record" does so too.
TEST(CasePlan, is_none_where_there_is_no_room_for_a_report) {
  const TemporaryFolder disk;
  if (mount("tmpfs", disk.path().c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  std::ofstream(disk / "full") << std::string(16 * 1024, 'x');
  setenv("TMPDIR", disk.path().c_str(), 1);
  for (const char* behaviour : {"ok", "no_record"}) {
    const std::string message =
        message_of<std::system_error>([&] { plan_without_dry_run(behaviour); });
    EXPECT_TRUE(contains(message, "No space left on device")) << message;
  }
  unsetenv("TMPDIR");
  umount(disk.path().c_str());
}

TEST(StepTimeLowerBound, is_none_where_the_record_counts_nothing_that_makes_a_time) {
  const auto bound = [](const Json& flops) {
    const Json columns = {{"flops_per_step", flops}, {"precision", 7}};
    return step_time_lower_bound_ns({{"columns", columns}}, "h200", false);
  };
  EXPECT_GT(bound(1e15), 0);
  for (const Json& flops : {Json("many"), Json(), Json(1e300), Json(-1e300), Json::array()}) {
    EXPECT_EQ(bound(flops).value_or(0), 0) << flops;
  }
  EXPECT_EQ(step_time_lower_bound_ns({{"columns", 7}}, "h200", false), std::nullopt);
}

// Data sheets: an H100 computes 66.9e12 floating-point operations a second in fp32, its link to the
// host moves 64 GB a second each way, NVLink 450 GB a second.
TEST(StepTimeLowerBound, is_the_longest_of_what_a_step_computes_copies_and_sends) {
  const auto seconds = [](double flops, double copied, double sent) {
    const Json columns = {{"flops_per_step", flops},
                          {"host_link_bytes_per_step", copied},
                          {"collective_bytes_per_step", sent}};
    return *step_time_lower_bound_ns({{"columns", columns}}, "h100", false) * 1e-9;
  };
  EXPECT_NEAR(seconds(66.9e12, 1, 1), 1, 0.01);
  EXPECT_NEAR(seconds(1, 2 * 64e9, 1), 1, 0.03);  // half of it each way, at the same time
  EXPECT_NEAR(seconds(1, 1, 450e9), 1, 0.01);
  EXPECT_NEAR(seconds(66.9e12, 3 * 2 * 64e9, 2 * 450e9), 3, 0.1);
}

}  // namespace
}  // namespace headroom
