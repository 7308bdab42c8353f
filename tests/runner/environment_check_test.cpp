// SPDX-License-Identifier: Apache-2.0
#include "src/runner/environment_check.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "src/core/error.h"
#include "tests/runner/program.h"
#include "tests/support/launch.h"

namespace headroom {
namespace {

struct Variable {
  const char* name;
  const char* value;
};

TEST(EnvironmentCheck, takes_what_libraries_take) {
  for (const auto& [name, value] :
       {Variable{"OMP_NUM_THREADS", ""}, Variable{"OMP_NUM_THREADS", "8"},
        Variable{"OMP_NUM_THREADS", " 4 , 2\t"}, Variable{"OMP_NUM_THREADS", "08"},
        Variable{"CUDA_VISIBLE_DEVICES", ""}, Variable{"CUDA_VISIBLE_DEVICES", "-1"},
        Variable{"CUDA_VISIBLE_DEVICES", " none"}, Variable{"CUDA_VISIBLE_DEVICES", "NoDevFiles"},
        Variable{"CUDA_VISIBLE_DEVICES", "0,2"},
        Variable{"CUDA_VISIBLE_DEVICES", "GPU-8932f937,MIG-1/0"},
        Variable{"PYTORCH_ALLOC_CONF", "expandable_segments:True"},
        Variable{"PYTORCH_CUDA_ALLOC_CONF",
                 "max_split_size_mb: 6 4, roundup_power2_divisions:[256:1,512:2,>:8]"}}) {
    EXPECT_NO_THROW(check_environment({{name, value}}, true)) << name << "=" << value;
  }
}

TEST(EnvironmentCheck, refuses_garbage_and_names_the_variable) {
  for (const auto& [name, value] :
       {Variable{"OMP_NUM_THREADS", "four"}, Variable{"OMP_NUM_THREADS", "0"},
        Variable{"OMP_NUM_THREADS", "00"}, Variable{"OMP_NUM_THREADS", "1 6"},
        Variable{"CUDA_VISIBLE_DEVICES", "1 6"}, Variable{"CUDA_VISIBLE_DEVICES", "none,0"},
        Variable{"OMP_NUM_THREADS", "-2"}, Variable{"OMP_NUM_THREADS", "4,"},
        Variable{"OMP_NUM_THREADS", "99999999999"}, Variable{"CUDA_VISIBLE_DEVICES", "all"},
        Variable{"CUDA_VISIBLE_DEVICES", "0;1"}, Variable{"CUDA_VISIBLE_DEVICES", "0,,1"},
        Variable{"CUDA_VISIBLE_DEVICES", "-2"}, Variable{"PYTORCH_ALLOC_CONF", "garbage"},
        Variable{"PYTORCH_ALLOC_CONF", "max_split_size_mb:"}, Variable{"PYTORCH_ALLOC_CONF", ":64"},
        Variable{"PYTORCH_ALLOC_CONF", "a:1,"},
        Variable{"PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:[256:1"},
        Variable{"PYTORCH_CUDA_ALLOC_CONF", "a:[[1]]"}}) {
    try {
      check_environment({{name, value}}, true);
      ADD_FAILURE() << name << "=" << value << " was taken";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

/// What a run of one case says on that device of a LibTorch with CUDA.
Ended run_on(const std::string& device, const Variable& variable) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  return run_program({"run", suite, "--out", folder / "out", "--device", device}, [&] {
    setenv("TEST_CUDA", "1", 1);
    setenv(variable.name, variable.value, 1);
  });
}

TEST(EnvironmentCheck, is_of_gpus_where_they_are_used) {
  const Variable garbage{"CUDA_VISIBLE_DEVICES", "0;1"};
  EXPECT_EQ(run_on("cpu", garbage).code, 0);
  EXPECT_EQ(run_on("auto", garbage).code, 2);
  EXPECT_EQ(run_on("cuda", garbage).code, 2);
  EXPECT_EQ(run_on("auto", {"CUDA_VISIBLE_DEVICES", "NoDevFiles"}).code, 0);
}

TEST(EnvironmentCheck, comes_before_a_worker_is_asked_for_the_device) {
  const Ended ended = run_on("auto", {"OMP_NUM_THREADS", "1 6"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(ended.err.starts_with("headroom: the environment's OMP_NUM_THREADS is '1 6'; "))
      << ended.err;
}

TEST(EnvironmentCheck, is_made_by_agents_of_their_own) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  const Ended ended = run_program({"run", suite}, [&] {
    become_rank("torchrun", 1, 2, free_port());  // nobody is there
    setenv("OMP_NUM_THREADS", "many", 1);
  });
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(ended.err.starts_with("headroom: the environment's OMP_NUM_THREADS is 'many'; "))
      << ended.err;
}

TEST(EnvironmentCheck, comes_before_the_first_case) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  const Ended ended = run_program({"run", suite, "--out", folder / "out"},
                                  [] { setenv("OMP_NUM_THREADS", "many", 1); });
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_EQ(ended.err,
            "headroom: the environment's OMP_NUM_THREADS is 'many'; allowed: a number of threads, "
            "from 1, or several with commas\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(EnvironmentCheck, tells_the_names_of_the_gpus_that_are_seen) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of_gpus({}, 3), (Names{"0", "1", "2"}));
  const Variables visible = {{"CUDA_VISIBLE_DEVICES", "3, GPU-8932f937,7"}};
  EXPECT_EQ(names_of_gpus(visible, 3), (Names{"3", "GPU-8932f937", "7"}));
  EXPECT_EQ(names_of_gpus(visible, 2), (Names{"3", "GPU-8932f937"}));  // there is no GPU 7
  EXPECT_EQ(names_of_gpus({{"CUDA_VISIBLE_DEVICES", ""}}, 0), Names{});
}

}  // namespace
}  // namespace headroom
