// SPDX-License-Identifier: Apache-2.0
// Compiled with the strings of before C++11, as PyTorch was up to 2.6.
#include <string>

namespace {

std::string old_text() { return "a text that is too long to stand in a string itself"; }

}  // namespace

extern "C" void* old_text_function() { return reinterpret_cast<void*>(&old_text); }
