// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/elf_object.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace headroom::dry_run {
namespace {

/// The head of GNU's hash table. Behind it: a filter of words, buckets, and chains.
struct HashHead {
  std::uint32_t buckets;
  std::uint32_t first_symbol;  // those before it are imports
  std::uint32_t filter_words;
  std::uint32_t filter_shift;
};

/// The number of symbols that the table ends at: that behind the end of the last chain.
std::size_t end_of_symbols(const HashHead& head) {
  const auto* filter = reinterpret_cast<const ElfW(Addr)*>(&head + 1);
  const auto* bucket = reinterpret_cast<const std::uint32_t*>(filter + head.filter_words);
  const auto* chain = bucket + head.buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < head.buckets; ++i) last = std::max(last, bucket[i]);
  if (last < head.first_symbol) return head.first_symbol;  // it exports nothing
  while ((chain[last - head.first_symbol] & 1) == 0) ++last;
  return last + 1;
}

}  // namespace

ElfObject::ElfObject(const dl_phdr_info& info)
    : path_(info.dlpi_name), base_(info.dlpi_addr), segments_(info.dlpi_phdr, info.dlpi_phnum) {
  for (const auto& segment : segments_) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* begin = reinterpret_cast<const ElfW(Dyn)*>(base_ + segment.p_vaddr);
    const auto* end = begin;
    while (end->d_tag != DT_NULL) ++end;
    dynamic_ = {begin, end};
  }
}

std::vector<std::string_view> ElfObject::exports() const {
  std::vector<std::string_view> names;
  const auto* head = table<HashHead>(DT_GNU_HASH);
  const auto* symbols = table<ElfW(Sym)>(DT_SYMTAB);
  const auto* texts = table<char>(DT_STRTAB);
  if (head == nullptr || symbols == nullptr || texts == nullptr) return names;
  const std::size_t end = end_of_symbols(*head);
  for (std::size_t i = head->first_symbol; i < end; ++i) {
    names.emplace_back(texts + symbols[i].st_name);
  }
  return names;
}

std::vector<ElfObject::Import> ElfObject::imports() const {
  std::vector<Import> imports;
  const auto relocations = [&](ElfW(Sxword) begin, ElfW(Sxword) bytes) {
    return std::span(table<ElfW(Rela)>(begin), number(bytes) / sizeof(ElfW(Rela)));
  };
  add_imports(relocations(DT_JMPREL, DT_PLTRELSZ), imports);
  const auto others = relocations(DT_RELA, DT_RELASZ);
  // Those that name no symbol come first.
  add_imports(others.subspan(std::min(number(DT_RELACOUNT), others.size())), imports);
  return imports;
}

void ElfObject::add_imports(std::span<const ElfW(Rela)> relocations,
                            std::vector<Import>& imports) const {
  const auto* symbols = table<ElfW(Sym)>(DT_SYMTAB);
  const auto* texts = table<char>(DT_STRTAB);
  if (symbols == nullptr || texts == nullptr) return;
  for (const auto& relocation : relocations) {
    const auto& symbol = symbols[ELF64_R_SYM(relocation.r_info)];
    if (symbol.st_name == 0 || symbol.st_shndx != SHN_UNDEF) continue;
    imports.push_back(
        {texts + symbol.st_name, reinterpret_cast<void**>(base_ + relocation.r_offset)});
  }
}

void ElfObject::bind(const Import& import, void* function) const {
  if (!is_read_only(import.place)) {
    *import.place = function;
    return;
  }
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(import.place);
  void* page = reinterpret_cast<void*>(address / size * size);
  if (mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return;
  *import.place = function;
  mprotect(page, size, PROT_READ);
}

std::size_t ElfObject::number(ElfW(Sxword) tag) const {
  const auto found =
      std::ranges::find_if(dynamic_, [&](const auto& entry) { return entry.d_tag == tag; });
  return found == dynamic_.end() ? 0 : found->d_un.d_val;
}

/// glibc has made an address of what was an offset; elsewhere it still is one.
template <class Value>
const Value* ElfObject::table(ElfW(Sxword) tag) const {
  const std::size_t place = number(tag);
  return reinterpret_cast<const Value*>(place == 0 || place >= base_ ? place : base_ + place);
}

bool ElfObject::is_read_only(const void* place) const {
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  return std::ranges::any_of(segments_, [&](const auto& segment) {
    const ElfW(Addr) begin = base_ + segment.p_vaddr;
    return segment.p_type == PT_GNU_RELRO && address >= begin && address < begin + segment.p_memsz;
  });
}

std::vector<ElfObject> loaded_objects() {
  std::vector<ElfObject> objects;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    static_cast<std::vector<ElfObject>*>(data)->emplace_back(*info);
    return 0;
  };
  dl_iterate_phdr(visit, &objects);
  return objects;
}

}  // namespace headroom::dry_run
