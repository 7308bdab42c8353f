// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <link.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::dry_run {

/// A library or program as it lies in memory, by its dynamic section (System V ABI, "Dynamic
/// Linking"; GNU's hash table of symbols). Valid until it is unloaded.
class ElfObject {
 public:
  /// The address of what an object calls by that name.
  struct Import {
    std::string_view name;
    void** place;
  };

  explicit ElfObject(const dl_phdr_info& info);

  /// Of its file; empty: it is the program itself.
  const std::string& path() const { return path_; }

  std::vector<std::string_view> exports() const;
  std::vector<Import> imports() const;

  /// Changes what is called at that place, which may be read-only by now.
  void bind(const Import& import, void* function) const;

 private:
  std::size_t number(ElfW(Sxword) tag) const;
  template <class Value>
  const Value* table(ElfW(Sxword) tag) const;
  void add_imports(std::span<const ElfW(Rela)> relocations, std::vector<Import>& imports) const;
  bool is_read_only(const void* place) const;

  std::string path_;
  ElfW(Addr) base_;
  std::span<const ElfW(Phdr)> segments_;
  std::span<const ElfW(Dyn)> dynamic_;
};

/// All that this process has loaded so far.
std::vector<ElfObject> loaded_objects();

}  // namespace headroom::dry_run
