// SPDX-License-Identifier: Apache-2.0
// nvidia-smi, for programs that call it: the GPUs that a plan plays, as the dry run's NVML has
// them. What is not known of them is "[N/A]", as NVIDIA's own says it.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Device = void*;

struct Memory {
  unsigned long long total, free, used;
};

/// A function of NVML's, which the dry run loads before every program.
template <class Function>
Function* nvml(const char* name) {
  static void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::puts("NVIDIA-SMI of headroom: it knows the GPUs of a plan alone, and this is none");
    std::exit(9);
  }
  return reinterpret_cast<Function*>(found);
}

Device device(unsigned index) {
  Device found = nullptr;
  nvml<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2")(index, &found);
  return found;
}

using Text = int(Device, char*, unsigned);

std::string text_of(const char* function, unsigned index) {
  char text[96] = "";
  nvml<Text>(function)(device(index), text, sizeof(text));
  return text;
}

std::string name(unsigned index) { return text_of("nvmlDeviceGetName", index); }
std::string uuid(unsigned index) { return text_of("nvmlDeviceGetUUID", index); }

Memory memory(unsigned index) {
  Memory found{};
  nvml<int(Device, Memory*)>("nvmlDeviceGetMemoryInfo")(device(index), &found);
  return found;
}

std::string mib(unsigned long long bytes) { return std::to_string(bytes >> 20); }

std::string value(const std::string& field, unsigned index, unsigned count) {
  if (field == "index") return std::to_string(index);
  if (field == "count") return std::to_string(count);
  if (field == "name" || field == "gpu_name") return name(index);
  if (field == "uuid" || field == "gpu_uuid") return uuid(index);
  if (field == "memory.total") return mib(memory(index).total);
  if (field == "memory.free") return mib(memory(index).free);
  if (field == "memory.used") return mib(memory(index).used);
  return "[N/A]";
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    parts.push_back(part);
  }
  return parts;
}

bool is_amount(const std::string& field) { return field.starts_with("memory."); }

void print_joined(const std::vector<std::string>& fields,
                  const std::function<std::string(const std::string&)>& text) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ", ") + text(field);
  std::puts(line.c_str());
}

/// `nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits`.
void print_table(const std::vector<std::string>& fields, std::string_view format, unsigned count) {
  const bool has_units = format.find("nounits") == std::string_view::npos;
  if (format.find("noheader") == std::string_view::npos) {
    print_joined(fields, [](const std::string& field) {
      return is_amount(field) ? field + " [MiB]" : field;
    });
  }
  for (unsigned index = 0; index < count; ++index) {
    print_joined(fields, [&](const std::string& field) {
      const std::string text = value(field, index, count);
      return is_amount(field) && has_units && text[0] != '[' ? text + " MiB" : text;
    });
  }
}

}  // namespace

int main(int count_of_words, char** words) {
  unsigned count = 0;
  nvml<int(unsigned*)>("nvmlDeviceGetCount_v2")(&count);
  std::string_view query;
  std::string_view format;
  for (int i = 1; i < count_of_words; ++i) {
    const std::string_view word(words[i]);
    constexpr std::string_view kQuery = "--query-gpu=";
    constexpr std::string_view kFormat = "--format=";
    if (word.starts_with(kQuery)) query = word.substr(kQuery.size());
    if (word.starts_with(kFormat)) format = word.substr(kFormat.size());
  }
  if (!query.empty()) {
    print_table(split(query), format, count);
    return 0;
  }
  for (unsigned index = 0; index < count; ++index) {
    std::printf("GPU %u: %s (UUID: %s)\n", index, name(index).c_str(), uuid(index).c_str());
  }
}
