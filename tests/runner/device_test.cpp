// SPDX-License-Identifier: Apache-2.0
// Where a device is not fit to be measured on, the run ends and says so, in place of figures or of
// one bad row after the other. The test worker plays the GPU.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "src/core/file.h"
#include "src/runner/gpu_lock.h"
#include "tests/runner/program.h"

namespace headroom {
namespace {

/// Of a LibTorch with CUDA, on a machine whose GPU is played with files of `folder`.
Ended run_with_gpu(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return run_program(arguments, [&] {
    setenv("TEST_CUDA", "1", 1);
    setenv("TEST_GPU", (folder / "gpu").c_str(), 1);
  });
}

TEST(Gpu, that_a_case_broke_ends_the_run) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"ok", "gpu_breaks", "long_record"}, "{silence_s: 20}"));
  const std::vector<std::string> call = {"run",      suite,  "--out",   folder / "out",
                                         "--device", "cuda", "--resume"};
  const Ended ended = run_with_gpu(folder, call);
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("gpu_breaks: behind it CUDA does not work any more: cuda:0: unspecified "
                           "launch failure; what is done is kept"),
            std::string::npos)
      << ended.err;
  Rows rows = read_rows(folder / "out");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows["ok"]["status"], "ok");
  EXPECT_EQ(rows["gpu_breaks"]["status"], "crashed");
  std::filesystem::remove(folder / "gpu.broken");  // somebody reset it
  EXPECT_EQ(run_with_gpu(folder, call).code, 1);
  rows = read_rows(folder / "out");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows["long_record"]["status"], "ok");
}

TEST(Gpu, is_asked_for_each_rank_and_no_other_is) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_text(2, one_case("a", "gpu_breaks")));
  const Ended ended =
      run_with_gpu(folder, {"run", suite, "--out", folder / "out", "--device", "cuda"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("cuda:1: unspecified launch failure"), std::string::npos) << ended.err;
}

TEST(Gpu, that_is_locked_for_a_moment_is_waited_for) {
  const std::string uuid = "GPU-test-moment-" + std::to_string(getpid());
  const std::string path = "/dev/shm/headroom-" + uuid;
  { const GpuLock makes_the_file(uuid); }
  FileDescriptor held(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock_within(held.get(), std::chrono::milliseconds(0))) GTEST_SKIP() << "no /dev/shm here";
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    held.reset();
  });
  EXPECT_NO_THROW(const GpuLock lock(uuid));
  holder.join();
  std::filesystem::remove(path);
}

TEST(Gpu, that_works_behind_a_case_that_went_wrong_goes_on) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"segv", "failed", "ok"}, "{silence_s: 20}"));
  const Ended ended =
      run_with_gpu(folder, {"run", suite, "--out", folder / "out", "--device", "cuda"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_EQ(read_rows(folder / "out").size(), 3U);
}

TEST(Gpu, is_measured_on_by_one_run_at_a_time) {
  const TemporaryFolder folder;
  const std::string uuid = "GPU-test-" + std::to_string(getpid());
  const auto start = [&](const std::string& name, const std::string& behaviour) {
    const std::string suite =
        folder.write(name + ".yaml", suite_of({behaviour}, "{silence_s: 60}"));
    return start_program({"run", suite, "--device", "cuda", "--out", folder / name}, [&] {
      setenv("TEST_CUDA", "1", 1);
      setenv("TEST_GPU_UUID", uuid.c_str(), 1);
    });
  };
  Program first = start("first", "hang");
  while (!std::filesystem::exists(folder / "first/log/hang.log")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const Ended second = start("second", "ok").wait();
  EXPECT_EQ(second.code, 4);
  EXPECT_NE(second.err.find("another run of headroom measures on the GPU " + uuid + " (process " +
                            std::to_string(first.pid()) + ")"),
            std::string::npos)
      << second.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "second"));
  first.send(SIGKILL);  // the lock goes with the run, however that ends
  first.wait();
  EXPECT_EQ(start("second", "ok").wait().code, 0);
  std::filesystem::remove("/dev/shm/headroom-" + uuid);
}

TEST(Gpu, that_can_not_be_used_is_no_reason_to_measure_the_cpu) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  const auto run = [&](const std::string& device) {
    return run_program({"run", suite, "--out", folder / "out", "--device", device}, [] {
      setenv("TEST_CUDA", "1", 1);
      setenv("TEST_UNUSABLE_GPU", "its driver is of 2014", 1);
    });
  };
  const Ended refused = run("auto");
  EXPECT_EQ(refused.code, 4);
  EXPECT_NE(refused.err.find("--device auto: its driver is of 2014; --device cpu measures on the "
                             "CPU"),
            std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  EXPECT_EQ(run("cpu").code, 0);
}

TEST(Gpu, that_is_not_there_is_said) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  const Ended ended = run_with_gpu(folder, {"run", suite, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.err.find("there is no GPU, so the CPU is measured"), std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace headroom
