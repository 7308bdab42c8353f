// SPDX-License-Identifier: Apache-2.0
// The library stands in for all that LibTorch and the worker import from CUDA's libraries.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <string>

namespace headroom {
namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) text += buffer.data();
  return text;
}

/// The functions of CUDA's libraries that a program or library imports.
std::set<std::string> imports(const std::string& file) {
  const std::string text = output_of("nm --dynamic --undefined-only '" + file + "'");
  // Of what begins with cu: not cupti, cufile and nvrtc, which work without a device.
  const std::regex name(R"( U ((?:__cuda|cuda|cublas|cudnn|cusparse|cusolver|cufft|nccl)\w+))");
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    names.insert((*i)[1]);
  }
  return names;
}

TEST(Symbols, AllThatLibTorchAndTheWorkerImportAreThere) {
  const std::string path = HEADROOM_BUILD_DIR "/dry_run/libcuda.so.1";
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const std::string lib = LIBTORCH_ROOT "/lib/";
  std::size_t count = 0;
  for (const std::string& file :
       {lib + "libtorch_cuda.so", lib + "libc10_cuda.so", lib + "libtorch_cuda_linalg.so",
        std::string(HEADROOM_BUILD_DIR "/headroom-worker")}) {
    for (const std::string& name : imports(file)) {
      EXPECT_NE(dlsym(library, name.c_str()), nullptr) << file << " imports " << name;
      ++count;
    }
  }
  EXPECT_GT(count, 500u);
}

}  // namespace
}  // namespace headroom
