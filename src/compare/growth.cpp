// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "src/compare/changes.h"
#include "src/core/checked_sum.h"
#include "src/core/json.h"
#include "src/core/peak_entry.h"
#include "src/results/columns.h"
#include "src/results/holders.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// What makes tensors alike but for their block.
struct Kind {
  std::string category;
  std::string phase;
  std::string op;
  std::int64_t bytes = 0;

  friend auto operator<=>(const Kind&, const Kind&) = default;
  bool is_alike(const Kind& other) const {
    return category == other.category && phase == other.phase && bytes == other.bytes;
  }
};

using Block = std::optional<std::int64_t>;
using Counts = std::map<Kind, std::map<Block, std::int64_t>>;

/// The tensors that a record names; nothing where it names none, or more than there can be: no sum
/// of those that it gives overflows.
std::optional<std::vector<PeakEntry>> tensors_of(const CaseResult& result) {
  const Json& list = member(result.record, "peak_tensors");
  if (!list.is_array() || list.size() > kMaxPeakEntries) return std::nullopt;
  std::vector<PeakEntry> tensors;
  CheckedSum count;
  CheckedSum bytes;
  for (const Json& json : list) {
    const auto entry = PeakEntry::from_json(json);
    if (!entry) return std::nullopt;
    count.add(1, entry->count);
    bytes.add(entry->count, entry->bytes);
    tensors.push_back(*entry);
  }
  return count.overflows() || bytes.overflows() ? std::nullopt : std::optional(tensors);
}

/// Adds tensors, `sign` times.
void add_tensors(const std::vector<PeakEntry>& tensors, std::int64_t sign, Counts& counts) {
  for (const PeakEntry& entry : tensors) {
    const Kind kind{entry.category, entry.phase, entry.op, entry.bytes};
    counts[kind][entry.block] += sign * entry.count;
  }
}

/// Cancels what one count has more against what the other has fewer.
void cancel(std::int64_t& first, std::int64_t& second) {
  if ((first > 0) == (second > 0)) return;
  const std::int64_t both = std::min(std::abs(first), std::abs(second));
  const std::int64_t sign = first > 0 ? 1 : -1;
  first -= sign * both;
  second += sign * both;
}

/// Operators are not watched while steps are timed: a tensor of such a step names none. It is taken
/// for one that is alike and gone.
void cancel_nameless(Counts& counts) {
  for (auto& [nameless, of_blocks] : counts) {
    if (!nameless.op.empty()) continue;
    for (auto& [named, of_named] : counts) {
      if (named.op.empty() || !named.is_alike(nameless)) continue;
      for (auto& [block, count] : of_blocks) cancel(count, of_named[block]);
    }
  }
}

/// The growth of one kind. Blocks that grew by the same count are one entry.
void add_growth(const Kind& kind, const std::map<Block, std::int64_t>& counts,
                std::vector<Growth>& list) {
  std::map<std::int64_t, std::vector<std::int64_t>> blocks;
  const auto add = [&](std::int64_t count, std::vector<std::int64_t> where) {
    list.push_back({.category = kind.category,
                    .phase = kind.phase,
                    .blocks = std::move(where),
                    .op = kind.op,
                    .bytes = kind.bytes,
                    .count = count});
  };
  for (const auto& [block, count] : counts) {
    if (count == 0) continue;
    if (block) {
      blocks[count].push_back(*block);
    } else {
      add(count, {});
    }
  }
  for (auto& [count, where] : blocks) add(count, std::move(where));
}

/// "train.py: forward" of "train.py:12 forward": a change above a line moves it.
std::string without_number(const std::string& line) {
  std::string text = line;
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

/// What a line of a program holds more than in the old one. Each holder is taken for an old one of
/// its kind: at the same line, of the same bytes, or else at another line of the same function.
std::vector<Growth> growth_by_line(std::vector<Holder> old_holders,
                                   std::vector<Holder> new_holders) {
  std::vector<Growth> list;
  if (old_holders.empty() || new_holders.empty()) return list;
  const auto add = [&](const Holder& holder, std::int64_t more) {
    if (more == 0) return;
    list.push_back({.category = holder.kind,
                    .phase = "",
                    .blocks = {},
                    .op = "",
                    .bytes = std::abs(more),
                    .count = more > 0 ? 1 : -1,
                    .line = holder.line});
  };
  const auto pair_up = [&](const auto& are_alike) {
    std::erase_if(new_holders, [&](const Holder& holder) {
      const auto old = std::ranges::find_if(old_holders, [&](const Holder& other) {
        return holder.kind == other.kind && are_alike(holder, other);
      });
      if (old == old_holders.end()) return false;
      add(holder, holder.bytes - old->bytes);
      old_holders.erase(old);
      return true;
    });
  };
  pair_up([](const Holder& a, const Holder& b) { return a.line == b.line && a.bytes == b.bytes; });
  pair_up([](const Holder& a, const Holder& b) { return a.bytes == b.bytes; });
  pair_up([](const Holder& a, const Holder& b) { return a.line == b.line; });
  pair_up([](const Holder& a, const Holder& b) {
    return without_number(a.line) == without_number(b.line);
  });
  for (const Holder& holder : new_holders) add(holder, holder.bytes);
  for (const Holder& holder : old_holders) add(holder, -holder.bytes);
  return list;
}

void sort_by_bytes(std::vector<Growth>& list) {
  std::ranges::stable_sort(list, std::ranges::greater(),
                           [](const Growth& item) { return std::abs(item.total_bytes()); });
}

std::int64_t rounding_of(const CaseResult& result) {
  return std::max<std::int64_t>(integer_in(result.row, column::peak_rounding_bytes).value_or(0), 0);
}

}  // namespace

std::int64_t Growth::total_bytes() const {
  const auto places = static_cast<std::int64_t>(std::max<std::size_t>(blocks.size(), 1));
  return bytes * count * places;
}

std::vector<Growth> growth(const CaseResult& old_result, const CaseResult& new_result) {
  const auto old_tensors = tensors_of(old_result);
  const auto new_tensors = tensors_of(new_result);
  std::vector<Growth> list;
  if (!old_tensors || !new_tensors) {
    list = growth_by_line(holders_of(old_result), holders_of(new_result));
    sort_by_bytes(list);
    return list;
  }
  Counts counts;
  add_tensors(*old_tensors, -1, counts);
  add_tensors(*new_tensors, 1, counts);
  cancel_nameless(counts);
  for (const auto& [kind, of_blocks] : counts) add_growth(kind, of_blocks, list);
  const std::int64_t rounding = rounding_of(new_result) - rounding_of(old_result);
  if (rounding != 0) {
    list.push_back({.category = "rounding",
                    .phase = "",
                    .blocks = {},
                    .op = "",
                    .bytes = rounding,
                    .count = 1});
  }
  sort_by_bytes(list);
  return list;
}

}  // namespace headroom
