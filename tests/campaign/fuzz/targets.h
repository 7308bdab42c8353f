// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What is fuzzed. A target takes any bytes, has the project read them, and asserts what must hold
// of whatever was read: where it does not, or anything else goes wrong, it ends the process.
namespace headroom {

void fuzz_agent(std::string_view input);
void fuzz_csv(std::string_view input);
void fuzz_frames(std::string_view input);
void fuzz_journal(std::string_view input);
void fuzz_journal_file(std::string_view input);
void fuzz_json(std::string_view input);
void fuzz_launcher(std::string_view input);
void fuzz_messages(std::string_view input);
void fuzz_reports(std::string_view input);
void fuzz_results(std::string_view input);
void fuzz_safetensors(std::string_view input);
void fuzz_store(std::string_view input);
void fuzz_suite(std::string_view input);
void fuzz_text(std::string_view input);
void fuzz_verify(std::string_view input);
void fuzz_yaml(std::string_view input);

struct FuzzTarget {
  std::string_view name;  // also of its folder in tests/corpus/fuzz
  void (*take)(std::string_view input);
};

inline constexpr FuzzTarget kFuzzTargets[] = {
    {"agent", &fuzz_agent},
    {"csv", &fuzz_csv},
    {"frames", &fuzz_frames},
    {"journal", &fuzz_journal},
    {"journal_file", &fuzz_journal_file},
    {"json", &fuzz_json},
    {"launcher", &fuzz_launcher},
    {"messages", &fuzz_messages},
    {"reports", &fuzz_reports},
    {"results", &fuzz_results},
    {"safetensors", &fuzz_safetensors},
    {"store", &fuzz_store},
    {"suite", &fuzz_suite},
    {"text", &fuzz_text},
    {"verify", &fuzz_verify},
    {"yaml", &fuzz_yaml},
};

}  // namespace headroom
