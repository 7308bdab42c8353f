// SPDX-License-Identifier: Apache-2.0
#include "src/core/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "src/core/error.h"
#include "src/core/file.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

/// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create(kInputName, MFD_CLOEXEC)) {
    write_all(file_.get(), bytes, kInputName);
  }
  void resize(std::int64_t bytes) const { require(ftruncate(file_.get(), bytes) == 0, "resized"); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileDescriptor file_;
};

/// An input that begins with { is a header and data, and gets the length before it.
std::string with_length(std::string_view input) {
  if (!input.starts_with('{')) return std::string(input);
  const std::size_t end = input.rfind('}');
  const std::uint64_t length = end == std::string_view::npos ? input.size() : end + 1;
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes.append(input);
}

void check_cover(const SafetensorsHeader& header, std::int64_t file_bytes) {
  std::int64_t covered = header.tensors.empty() ? file_bytes : header.tensors.front().begin;
  for (const SafetensorsEntry& tensor : header.tensors) {
    require(tensor.begin == covered && tensor.end >= covered, "tensors lie behind one another");
    covered = tensor.end;
  }
  require(covered == file_bytes, "tensors cover the file");
}

}  // namespace

void fuzz_safetensors(std::string_view input) {
  const std::string bytes = with_length(input);
  const MemoryFile file(bytes);
  SafetensorsHeader header;
  if (!is_accepted([&] { header = read_safetensors_header(file.path()); }, file.path())) return;
  check_cover(header, std::ssize(bytes));
  std::vector<SafetensorsEntry> tensors = header.tensors;
  const MemoryFile written(write_safetensors_header(tensors, header.metadata));
  const std::int64_t data_bytes = tensors.empty() ? 0 : tensors.back().end - tensors.front().begin;
  if (!tensors.empty()) written.resize(tensors.front().begin + data_bytes);
  const SafetensorsHeader again = read_safetensors_header(written.path());
  require(again.tensors == tensors && again.metadata == header.metadata,
          "a header reads back as it was");
}

}  // namespace headroom
