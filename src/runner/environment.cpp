// SPDX-License-Identifier: Apache-2.0
#include "src/runner/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "src/core/checksum.h"
#include "src/workers/this_process.h"

namespace headroom {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system;  // ARM's cpuinfo has no names
  return uname(&system) == 0 ? system.machine : "";
}

std::string kernel() {
  utsname system;
  return uname(&system) == 0 ? system.release : "";
}

std::vector<std::string> relevant_variables() {
  constexpr std::array<std::string_view, 6> kPrefixes = {"OMP_",  "MKL_",    "PYTORCH_",
                                                         "CUDA_", "CUBLAS_", "NCCL_"};
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const auto is_prefix = [&](std::string_view prefix) { return variable.starts_with(prefix); };
    if (std::any_of(kPrefixes.begin(), kPrefixes.end(), is_prefix))
      variables.emplace_back(variable);
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

}  // namespace

nlohmann::ordered_json environment(const Catalog& catalog) {
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
  for (const std::string& variable : relevant_variables()) {
    const std::size_t sign = variable.find('=');
    variables[variable.substr(0, sign)] = variable.substr(sign + 1);
  }
  const nlohmann::ordered_json here = {{"cpu", cpu_model()},
                                       {"cores", usable_cores()},
                                       {"kernel", kernel()},
                                       {"libtorch", catalog.libtorch},
                                       {"variables", std::move(variables)}};
  // Whatever bytes a variable holds, it must come out.
  return nlohmann::ordered_json::parse(
      here.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::ordered_json provenance_columns(const Catalog& catalog,
                                          const nlohmann::ordered_json& here) {
  return {{"commit", catalog.commit},
          {"cpu", here["cpu"]},
          {"environment_hash", fingerprint(here.dump())}};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts;
  gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace headroom
