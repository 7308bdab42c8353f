// SPDX-License-Identifier: Apache-2.0
#include "src/cli/process_table.h"

#include <gtest/gtest.h>

#include "tests/core/messages.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const std::string kUntimed =
    "no step is timed: that takes two steps of an optimizer of torch.optim (docs/time.md)\n";

Json process(int number, int driver_peak) {
  return {{"process", number},
          {"device", 0},
          {"gpu", "h200"},
          {"fits", true},
          {"ended_by_itself", true},
          {"total_bytes", 1000},
          {"driver_peak_bytes", driver_peak},
          {"peak_pinned_bytes", 0},
          {"values_read", 0},
          {"reserved_depends_on_host", false},
          {"reserved_depends_on_layouts", false},
          {"reserved_depends_on_engines", false}};
}

Json with(Json json, const Json& more) {
  json.update(more);
  return json;
}

TEST(ProcessTable, of_one_process_names_neither_it_nor_its_device) {
  const Json grown = with(process(7, 500), {{"launches", 200}, {"launches_when_grown", 59}});
  EXPECT_EQ(format_processes({grown}),
            "gpu   fits  allocated   reserved     driver          of   pinned  last grew\n"
            "h200  yes   not known  not known  500 bytes  1000 bytes  0 bytes       29 %\n" +
                kUntimed);
}

TEST(ProcessTable, of_several_names_ranks_devices_and_the_largest) {
  const std::string table =
      format_processes({with(process(7, 500), {{"rank", 0}, {"device", 2}}),
                        with(process(8, 600), {{"rank", 1}, {"device", 3}}), process(9, 100)});
  EXPECT_EQ(table,
            "rank  process  device  gpu   fits  allocated   reserved     driver          of   "
            "pinned  last grew\n"
            "   0        7       2  h200  yes   not known  not known  500 bytes  1000 bytes  "
            "0 bytes\n"
            "   1        8       3  h200  yes   not known  not known  600 bytes  1000 bytes  "
            "0 bytes\n"
            "            9       0  h200  yes   not known  not known  100 bytes  1000 bytes  "
            "0 bytes\n"
            "the largest is rank 1 on GPU 3\n"
            "rank 0 on GPU 2, rank 1 on GPU 3, process 9 on GPU 0: " +
                kUntimed);
}

TEST(ProcessTable, says_which_stages_of_a_pipeline_were_not_planned) {
  const auto stage = [](int number) {
    return with(process(7, 500), {{"stage", number}, {"stages", 4}});
  };
  EXPECT_TRUE(contains(format_processes({stage(0)}),
                       "of a pipeline of 4 stages this is 0; others may take more: --rank all"));
  EXPECT_TRUE(contains(format_processes({stage(0), stage(3), stage(3)}),
                       "of a pipeline of 4 stages this is 0, 3;"));
  EXPECT_FALSE(
      contains(format_processes({stage(0), stage(1), stage(2), stage(3), stage(3)}), "pipeline"));
}

TEST(ProcessTable, says_what_is_known_of_the_bounds_of_reserved) {
  const Json depends = with(process(7, 500), {{"reserved_depends_on_host", true}});
  EXPECT_TRUE(contains(format_processes({depends}), "its bounds are not known\n"));
  const auto bounded = [&](int lower, int upper) {
    return with(depends,
                {{"peak_reserved_lower_bytes", lower}, {"peak_reserved_upper_bytes", upper}});
  };
  EXPECT_TRUE(contains(format_processes({bounded(300, 400)}),
                       "reserved is from 300 bytes to 400 bytes, by how far the host runs ahead"));
  EXPECT_FALSE(contains(format_processes({bounded(400, 400)}), "reserved is"));
  const Json both = with(bounded(300, 400), {{"reserved_depends_on_layouts", true}});
  EXPECT_TRUE(contains(format_processes({both}), "ahead of the GPU, and which convolutions"));
  const Json all = with(both, {{"reserved_depends_on_engines", true}});
  EXPECT_TRUE(contains(format_processes({all}), "channels last, and which of cuDNN's engines"));
}

TEST(ProcessTable, says_why_no_step_is_timed_where_one_could_be) {
  const Json timed{{"step_time_estimate_ns", 2'000'000},
                   {"step_time_estimate_lower_ns", 1'000'000},
                   {"step_time_estimate_upper_ns", 3'000'000}};
  for (const Json& other : {timed, Json{{"fits", false}}, Json{{"ended_by_itself", false}}}) {
    EXPECT_FALSE(contains(format_processes({with(process(7, 500), other)}), kUntimed)) << other;
  }
}

TEST(ProcessTable, says_that_a_program_fits_closely) {
  EXPECT_TRUE(contains(format_processes({with(process(7, 500), {{"fits_closely", true}})}),
                       "it fits closely: "));
  EXPECT_FALSE(contains(format_processes({process(7, 500)}), "closely"));
}

TEST(ProcessTable, says_what_is_missing_where_something_is) {
  const auto table = [](int missing) {
    return format_processes({with(process(7, 500), {{"fits", false},
                                                    {"without_end", {{"driver_peak_bytes", 900}}},
                                                    {"missing_bytes", missing}})});
  };
  EXPECT_TRUE(contains(table(200), "it takes 900 bytes: 200 bytes are missing\n"));
  EXPECT_TRUE(contains(table(0), "it takes 900 bytes\n"));
}

TEST(ProcessTable, says_what_it_does_not_know_exactly) {
  const Json more{{"nccl_bytes", 300}, {"estimated", "cuFFT"}};
  const std::string table = format_processes({with(process(7, 500), more)});
  EXPECT_TRUE(contains(table,
                       "of the driver's figure NCCL's own buffers are 300 bytes, by the links of "
                       "such GPUs\n"));
  EXPECT_TRUE(contains(table, "are estimated: cuFFT\n"));
}

TEST(ProcessTable, says_that_attention_is_compiled_again_and_again) {
  const auto compiled = [](int kernels) {
    return format_processes({with(process(7, 500), {{"attention_kernels", kernels}})});
  };
  EXPECT_TRUE(contains(compiled(20), "cuDNN compiled 20 kernels of attention, two for each shape"));
  EXPECT_FALSE(contains(compiled(2), "compiled"));
}

TEST(ProcessTable, says_the_same_of_several_in_one_line) {
  const Json cut = {{"ended_by_itself", false}};
  const std::string table = format_processes(
      {with(process(7, 5), cut), process(8, 5), with(with(process(9, 5), cut), {{"rank", 2}})});
  EXPECT_NE(table.find("each takes as much\n"
                       "process 7 on GPU 0, rank 2 on GPU 0: a process was ended by a signal"),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace headroom
