// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

// GPUs that the test worker plays: files whose paths begin with TEST_GPU.
namespace headroom {

using Json = nlohmann::ordered_json;

inline std::string path_of_gpu(const std::string& what) {
  return std::getenv("TEST_GPU") + ("." + what);
}

inline bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// Where the file is there, GPUs work for nobody.
inline std::string path_of_broken_gpu() { return path_of_gpu("broken"); }

/// As CUDA sees them.
inline std::string visible_gpus() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "all" : visible;
}

/// The parts of a text, or of none, between commas.
inline std::vector<std::string> split(const char* text) {
  std::vector<std::string> parts;
  std::istringstream stream(text == nullptr ? "" : text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// Those of a machine: the one of TEST_GPU_UUID, and those that TEST_GPUS names by their products.
inline Json list_gpus() {
  Json gpus = Json::array();
  const char* uuid = std::getenv("TEST_GPU_UUID");
  if (uuid != nullptr) gpus.push_back({{"name", "a GPU"}, {"uuid", uuid}});
  for (const std::string& name : split(std::getenv("TEST_GPUS"))) {
    gpus.push_back({{"name", name}, {"uuid", ""}});
  }
  return gpus;
}

/// Where each rank sees a GPU of its own: holds it until this process ends. False: another process
/// does.
inline bool hold_gpu(int rank, int ranks) {
  const std::vector<std::string> seen = split(visible_gpus().c_str());
  if (std::getenv("TEST_GPUS") == nullptr || static_cast<int>(seen.size()) != ranks) return true;
  const std::string path = path_of_gpu("held." + seen[static_cast<std::size_t>(rank)]);
  return flock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), LOCK_EX | LOCK_NB) == 0;
}

/// Leaves a file for this case, and waits until another case has left one too.
inline void meet_another_case(const std::string& name) {
  const std::filesystem::path mine = path_of_gpu("met." + name);
  std::ofstream(mine).put('x');
  const auto is_of_another = [&](const std::filesystem::path& file) {
    return file != mine && file.string().find(".met.") != std::string::npos;
  };
  for (;;) {
    const std::filesystem::directory_iterator list(mine.parent_path());
    if (std::any_of(begin(list), end(list), is_of_another)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline void wait_for_go() {
  while (!exists(path_of_gpu("go"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What a probe of so many GPUs answers: the last one is the one that may be broken.
inline Json probe_gpus(int gpus) {
  if (!exists(path_of_broken_gpu())) return {{"status", "ok"}, {"reason", ""}};
  const std::string name = "cuda:" + std::to_string(gpus - 1);
  return {{"status", "failed"}, {"reason", name + ": unspecified launch failure"}};
}

}  // namespace headroom
