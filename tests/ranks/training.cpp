// SPDX-License-Identifier: Apache-2.0
#include "tests/ranks/training.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <span>

#include "src/runner/attempt.h"
#include "src/suite/catalog.h"
#include "tests/support/temporary_folder.h"

namespace headroom {

Json small_vit(std::int64_t ranks, std::int64_t batch_size) {
  return {{"name", "small"},
          {"ranks", ranks},
          {"model", {{"name", "vit_ti_16"}, {"num_classes", 10}}},
          {"data", {{"name", "digits"}, {"image_size", 32}}},
          {"train",
           {{"batch_size", batch_size},
            {"optimizer", {{"name", "adamw"}, {"lr", 1e-3}, {"weight_decay", 0.01}}}}},
          {"techniques", Json::array()}};
}

Json mini_vit(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_vit(ranks, batch_size);
  values["model"]["name"] = "vit_mini";
  return values;
}

Json small_bert(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_vit(ranks, batch_size);
  values["model"] = {{"name", "bert_mini"}, {"num_classes", 2}};
  values["data"] = {{"name", "random_tokens"}, {"sequence_length", 16}};
  return values;
}

Json small_gpt2(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_bert(ranks, batch_size);
  values["model"]["name"] = "gpt2_mini";
  values["data"]["sequence_length"] = 4;  // each token is held against a vocabulary of 50,257
  return values;
}

Json mini_resnet(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_vit(ranks, batch_size);
  values["model"]["name"] = "resnet_mini";
  values["data"]["image_size"] = 64;
  return values;
}

Json small_llama(std::int64_t ranks, std::int64_t batch_size) {
  Json values = small_gpt2(ranks, batch_size);
  values["model"] = {{"name", "llama_mini"}, {"layers", 2}, {"width", 64}, {"heads", 4}};
  return values;
}

namespace {

/// A rank_trainer of one rank, which trains case after case: loading LibTorch takes longer than
/// most of these trainings.
class RankProcess {
 public:
  explicit RankProcess(int rank) : rank_(std::to_string(rank)) { start(); }
  ~RankProcess() { stop(); }
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  void ask(const std::string& request) {
    const std::string line = request + "\n";
    EXPECT_EQ(write(socket_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  /// Its word on the last request: `done`, or what went wrong.
  std::string answer() {
    std::string line;
    char byte = 0;
    while (read(socket_, &byte, 1) == 1 && byte != '\n') line += byte;
    if (byte == '\n') return line;
    stop();
    start();
    return "the process ended";
  }

 private:
  void start() {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    socket_ = ends[0];
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDIN_FILENO);
      execl(HEADROOM_BUILD_DIR "/rank_trainer", "rank_trainer", rank_.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
  }
  void stop() const {
    close(socket_);  // it ends at the end of its input
    waitpid(process_, nullptr, 0);
  }

  std::string rank_;
  int socket_ = -1;
  pid_t process_ = -1;
};

/// The process of each rank, begun when it is first asked for.
RankProcess& process_of(std::size_t rank) {
  static std::deque<RankProcess> processes;
  while (processes.size() <= rank) processes.emplace_back(static_cast<int>(processes.size()));
  return processes[rank];
}

/// Has all ranks train, each into the folder's file of its number. Their words on it.
std::vector<std::string> answers(const Json& values, int steps, const TemporaryFolder& folder) {
  const std::string file = folder.write("case.json", values.dump());
  const auto ranks = values.at("ranks").get<std::size_t>();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    process_of(rank).ask(file + " " + (folder / "store") + " " + (folder / std::to_string(rank)) +
                         " " + std::to_string(steps));
  }
  std::vector<std::string> answers;
  for (std::size_t rank = 0; rank < ranks; ++rank) answers.push_back(process_of(rank).answer());
  return answers;
}

}  // namespace

std::string refusal(const Json& values) {
  const std::vector<std::string> words = answers(values, 1, TemporaryFolder());
  for (const std::string& word : words) EXPECT_EQ(word, words.front());
  return words.front();
}

std::vector<RankSaw> train(const Json& values, int steps) {
  const TemporaryFolder folder;
  const std::vector<std::string> words = answers(values, steps, folder);
  std::vector<RankSaw> saw;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    EXPECT_EQ(words[rank], "done") << "rank " << rank;
    const std::string output = folder / std::to_string(rank);
    const std::string text = read_text(output);
    saw.push_back({Json::parse(text.empty() ? "{}" : text), read_text(output + ".weights")});
  }
  return saw;
}

const RankSaw& trained_once(const Json& values, int steps) {
  static std::map<std::string, RankSaw> done;
  const auto [entry, is_new] = done.try_emplace(values.dump() + std::to_string(steps));
  if (is_new) entry->second = train(values, steps).front();
  return entry->second;
}

std::int64_t number(const RankSaw& rank, const char* path) {
  return rank.seen.at(Json::json_pointer(path)).get<std::int64_t>();
}

std::set<std::string> partners_left_out(const std::string& technique,
                                        const std::vector<std::vector<Json>>& stacks) {
  const Catalog catalog = parse_catalog(read_text(HEADROOM_BUILD_DIR "/catalog.json"));
  EXPECT_NE(catalog.find_technique(technique), nullptr) << technique;
  std::set<std::string> left;
  for (const TechniqueInfo& other : catalog.techniques) {
    Case pair;
    pair.techniques = {{{"name", technique}}, {{"name", other.name}}};
    if (other.name != technique && !why_unsupported(pair, catalog)) left.insert(other.name);
  }
  for (const auto& stack : stacks) {
    std::set<std::string> names;
    for (const Json& one : stack) names.insert(one.at("name").get<std::string>());
    if (!names.contains(technique)) continue;
    for (const std::string& name : names) left.erase(name);
  }
  return left;
}

double weight_distance(const RankSaw& a, const RankSaw& b) {
  EXPECT_EQ(a.weights.size(), b.weights.size());
  const auto numbers = [](const std::string& bytes) {
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
  };
  const std::vector<double> first = numbers(a.weights);
  const std::vector<double> second = numbers(b.weights);
  double distance = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    distance = std::max(distance, std::abs(first[i] - second[i]));
    largest = std::max(largest, std::abs(first[i]));
  }
  EXPECT_GT(largest, 0.0);
  return distance / largest;
}

double loss_distance(const RankSaw& a, const RankSaw& b) {
  const Json& first = a.seen.at("losses");
  const Json& second = b.seen.at("losses");
  EXPECT_EQ(first.size(), second.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const double one = first[i].get<double>();
    distance = std::max(distance, std::abs(one - second[i].get<double>()) / std::abs(one));
  }
  return distance;
}

}  // namespace headroom
