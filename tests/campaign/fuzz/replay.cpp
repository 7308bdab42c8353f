// SPDX-License-Identifier: Apache-2.0
// Has a target take files, and mutations of them: fuzz_replay TARGET MUTATIONS SEED FOLDER...
// The same arguments give the same inputs; each has to be taken within seconds. Prints how many
// there were; without arguments the names of all targets.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/campaign/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

namespace {

using Random = std::mt19937;

std::size_t below(std::size_t end, Random& random) { return end == 0 ? 0 : random() % end; }

/// A part of the text, where it stands.
std::pair<std::size_t, std::size_t> part_of(const std::string& text, Random& random) {
  const std::size_t begin = below(text.size() + 1, random);
  return {begin, below(std::min<std::size_t>(text.size() - begin, 32) + 1, random)};
}

/// One small change: a byte, or a part that is dropped, doubled or taken from another input.
void mutate(std::string& text, const std::string& other, Random& random) {
  const auto [begin, size] = part_of(text, random);
  const auto [other_begin, other_size] = part_of(other, random);
  switch (random() % 5) {
    case 0:
      if (!text.empty()) text[below(text.size(), random)] = static_cast<char>(random());
      return;
    case 1:
      text.erase(begin, size);
      return;
    case 2:
      text.insert(begin, text.substr(begin, size));
      return;
    case 3:
      text.replace(begin, size, other.substr(other_begin, other_size));
      return;
    default:
      text.resize(begin);
  }
}

int number_of(const char* text) {
  const std::string_view view(text);
  int number = -1;
  std::from_chars(view.data(), view.data() + view.size(), number);
  return number;
}

void take(const headroom::FuzzTarget& target, const std::string& input) {
  constexpr unsigned kMaxSeconds = 20;
  alarm(kMaxSeconds);  // which ends the process
  target.take(input);
}

void replay(const headroom::FuzzTarget& target, int mutations, Random random,
            const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) take(target, input);
  for (int i = 0; i < mutations; ++i) {
    std::string input = inputs[below(inputs.size(), random)];
    const std::string& other = inputs[below(inputs.size(), random)];
    for (std::size_t changes = 1 + below(4, random); changes > 0; --changes) {
      mutate(input, other, random);
    }
    take(target, input);
  }
  std::printf("%zu inputs\n", inputs.size() + static_cast<std::size_t>(mutations));
}

/// The bytes of all files in a folder, by name.
void add_inputs(const std::string& folder, std::vector<std::string>& inputs) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  for (const auto& file : files) inputs.push_back(headroom::read_text(file));
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) {
    for (const headroom::FuzzTarget& target : headroom::kFuzzTargets) {
      std::printf("%s\n", std::string(target.name).c_str());
    }
    return 0;
  }
  if (count < 5) {
    std::fprintf(stderr, "fuzz_replay: TARGET MUTATIONS SEED FOLDER...\n");
    return 2;
  }
  std::vector<std::string> inputs;
  for (int i = 4; i < count; ++i) add_inputs(arguments[i], inputs);
  for (const headroom::FuzzTarget& target : headroom::kFuzzTargets) {
    if (target.name != arguments[1]) continue;
    const auto seed = static_cast<unsigned>(number_of(arguments[3]));
    replay(target, number_of(arguments[2]), Random(seed), inputs);
    return 0;
  }
  std::fprintf(stderr, "fuzz_replay: no target %s\n", arguments[1]);
  return 2;
}
