// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/known_bytes.h"

// What kernels do that read or write by an index: element by element, one is taken to another
// place.
namespace headroom::dry_run {

/// Places in bytes from where the tensors begin.
struct Move {
  std::size_t to;
  std::optional<std::size_t> from;  // nothing: which one it is is not known
};

/// How what is taken joins what stands there.
enum class Joining { put, add, multiply, smallest, largest };

/// By the name of the functor in a mangled name, as "9ReduceAddE"; nothing: it names none.
std::optional<Joining> joining_named(std::string_view name);

struct Moves {
  const char* to;
  std::size_t reach;  // bytes that may be written
  const char* from;
  std::size_t from_reach;
  std::size_t width;  // bytes of an element
  std::vector<Move> list{};
  Trust trust{};  // of the indices
  Joining joining = Joining::put;
  c10::ScalarType type = c10::ScalarType::Undefined;  // where they are joined
  const void* number = nullptr;  // the host's, that is taken, rather than what stands in `from`
  const void* factor = nullptr;  // by which what is taken is multiplied first, of the type
};

/// Whether so many elements are worth a look.
inline bool are_few(std::size_t count, std::size_t width) {
  return count <= KnownBytes::max_bytes(width) / width;
}

/// Brings what is known up to date. Of what is joined, the type is one that is followed.
void run_moves(const Moves& moves, KnownBytes& known);

}  // namespace headroom::dry_run
