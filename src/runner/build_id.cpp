// SPDX-License-Identifier: Apache-2.0
#include "src/runner/build_id.h"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "src/core/file.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxBytesOfNotes = 4096;  // a build id and its kind take less than 100
constexpr std::size_t kAlignment = 4;

class ElfFile {
 public:
  explicit ElfFile(const std::string& path)
      : path_(path),
        file_(uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); })) {
    if (file_.get() < 0) throw_errno(path);
  }

  /// So many bytes from there on, or as many as there are.
  std::string read(std::size_t from, std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t filled = 0;
    ssize_t got = 1;
    while (filled < count && got > 0) {
      got = uninterrupted([&] {
        return pread(file_.get(), bytes.data() + filled, count - filled,
                     static_cast<off_t>(from + filled));
      });
      if (got < 0 && errno != EINVAL) throw_errno(path_);  // no file has such a place
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

 private:
  const std::string& path_;
  const FileDescriptor file_;
};

/// What stands at that place; zeros where there are not so many bytes.
template <class Struct>
Struct struct_at(std::string_view bytes, std::size_t place) {
  Struct found{};
  if (place <= bytes.size() && sizeof found <= bytes.size() - place) {
    std::memcpy(&found, bytes.data() + place, sizeof found);
  }
  return found;
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The build id among notes: each has a header, a name and a description.
std::string build_id_in(std::string_view notes) {
  while (notes.size() > sizeof(Elf64_Nhdr)) {
    const auto note = struct_at<Elf64_Nhdr>(notes, 0);
    notes.remove_prefix(sizeof note);
    const std::string_view name = notes.substr(0, note.n_namesz);
    notes.remove_prefix(std::min(notes.size(), aligned(note.n_namesz)));
    const std::string_view description = notes.substr(0, note.n_descsz);
    notes.remove_prefix(std::min(notes.size(), aligned(note.n_descsz)));
    const bool is_whole = description.size() == note.n_descsz;
    if (is_whole && note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      return std::string(description);
    }
  }
  return "";
}

}  // namespace

std::string build_id_of(const std::string& path) {
  const ElfFile file(path);
  const std::string start = file.read(0, sizeof(Elf64_Ehdr));
  const auto header = struct_at<Elf64_Ehdr>(start, 0);
  if (!start.starts_with(ELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64) return "";
  const std::string parts = file.read(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto part = struct_at<Elf64_Phdr>(parts, i * sizeof(Elf64_Phdr));
    if (part.p_type != PT_NOTE) continue;
    const std::string id =
        build_id_in(file.read(part.p_offset, std::min(part.p_filesz, kMaxBytesOfNotes)));
    if (!id.empty()) return id;
  }
  return "";
}

}  // namespace headroom
