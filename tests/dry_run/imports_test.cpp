// SPDX-License-Identifier: Apache-2.0
// What a program imports from CUDA's libraries and the dry run lacks fails by its name.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "src/dry_run/elf_object.h"

namespace headroom::dry_run {
namespace {

using Call = int (*)();

void* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

template <class Symbol>
Symbol symbol(void* library, const char* name) {
  return reinterpret_cast<Symbol>(dlsym(library, name));
}

/// As a library with device code does while it is loaded.
void register_device_code() {
  void* dry_run = load(HEADROOM_BUILD_DIR "/dry_run/libcuda.so.1");
  symbol<void** (*)(void*)>(dry_run, "__cudaRegisterFatBinary")(nullptr);
}

std::string message_of(Call call) {
  try {
    return "gives " + std::to_string(call());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(Imports, fail_by_their_names_where_the_dry_run_lacks_them) {
  void* program = load(PROGRAM_LIBRARY);
  const auto call = symbol<Call>(program, "call");
  const auto pointer = *symbol<const Call*>(program, "pointer");
  EXPECT_EQ(call(), 1);
  EXPECT_EQ(pointer(), 1);
  register_device_code();
  const std::string message = "headroom dry run: cusparseNobodyKnows is not modelled";
  for (const Call one : {call, *symbol<const Call*>(program, "pointer")}) {
    EXPECT_EQ(message_of(one).substr(0, message.size()), message);
  }
  EXPECT_EQ(symbol<Call>(program, "call_version")(), 2);
  EXPECT_EQ(symbol<Call>(program, "call_lapack")(), 3);
}

TEST(ElfObject, knows_what_it_exports_and_imports) {
  load(PROGRAM_LIBRARY);
  const auto has = [](const auto& list, auto&& is) { return std::ranges::any_of(list, is); };
  bool is_found = false;
  for (const ElfObject& object : loaded_objects()) {
    if (object.path() != PROGRAM_LIBRARY) continue;
    is_found = true;
    const auto exports = object.exports();
    const auto imports = object.imports();
    EXPECT_TRUE(has(exports, [](auto name) { return name == "call_lapack"; }));
    EXPECT_FALSE(has(exports, [](auto name) { return name == "lapack_"; }));
    EXPECT_TRUE(has(imports, [](const auto& import) { return import.name == "lapack_"; }));
    EXPECT_FALSE(has(imports, [](const auto& import) { return import.name == "call_lapack"; }));
  }
  EXPECT_TRUE(is_found);
}

}  // namespace
}  // namespace headroom::dry_run
