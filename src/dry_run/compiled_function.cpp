// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_function.h"

#include <algorithm>
#include <functional>

#include "src/dry_run/small_launch.h"
#include "src/ptx/branches.h"
#include "src/ptx/spills.h"

namespace headroom::dry_run {
namespace {

constexpr std::size_t kMostCounts = 4096;
constexpr std::size_t kMostBytes = KnownBytes::kMaxBytesOfNumbers;  // of a tensor
constexpr double kMostIssued = 1 << 27;  // by all warps of a launch that is run: seconds

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Two ranges that hold the same have the same.
void append(std::string& key, const ptx::Range& range) {
  append(key, range.begin);
  append(key, range.bytes.size());
  append(key, std::hash<std::string_view>()(
                  {reinterpret_cast<const char*>(range.bytes.data()), range.bytes.size()}));
  append(key, std::hash<std::vector<bool>>()(range.is_known));
}

/// A tensor as a kernel finds it, and what of it is known.
ptx::Range range_of(const void* tensor, std::size_t size, const KnownBytes& known, Trust& trust) {
  ptx::Range range;
  range.begin = reinterpret_cast<std::uintptr_t>(tensor);
  PartlyKnown found = known.find_partly(tensor, size, &trust);
  range.is_known.assign(size, found.has_any());
  for (std::size_t i = 0; i < found.gaps.size(); ++i) range.is_known[i] = !found.gaps[i];
  range.bytes = std::move(found.bytes);
  range.bytes.resize(size);
  return range;
}

void put(const ptx::Range& range, KnownBytes& known, Trust trust) {
  const auto* begin = reinterpret_cast<const void*>(range.begin);
  PartlyKnown written{range.bytes, {}};
  if (std::ranges::count(range.is_known, false) > 0) {
    written.gaps = range.is_known;
    written.gaps.flip();
  }
  known.set_partly(begin, written, range.bytes.size(), trust);
}

}  // namespace

CompiledFunction::CompiledFunction(std::string name, std::shared_ptr<const std::string> ptx)
    : name_(std::move(name)), ptx_(std::move(ptx)) {
  auto kernel = ptx::parse(*ptx_, name_);
  if (!kernel) return;
  is_read_ = true;
  accesses_ = ptx::accesses(*kernel);
  spilled_of_thread_ = ptx::count_spills(*kernel);
  ptx::straighten(*kernel);
  slice_ = ptx::slice(*kernel);
}

std::vector<CompiledFunction::Tensor> CompiledFunction::tensors(const ptx::Launch& launch,
                                                                const LiveBlocks& blocks) const {
  std::vector<Tensor> found;
  for (std::size_t i = 0; i < slice_.kernel.parameter_bytes.size(); ++i) {
    if (slice_.kernel.parameter_bytes[i] != sizeof(void*)) continue;
    const void* begin = pointer(launch.arguments, i);
    const auto size = static_cast<std::size_t>(blocks.behind(begin));
    if (size > 0) found.push_back({begin, size, accesses_.loads[i], accesses_.stores[i]});
  }
  return found;
}

std::optional<Parts> CompiledFunction::parts(const ptx::Launch& launch,
                                             const LiveBlocks& blocks) const {
  if (!is_read_ || launch.arguments == nullptr) return std::nullopt;
  Parts parts{.bytes = 0, .spilled_of_thread = spilled_of_thread_};
  for (const Tensor& tensor : tensors(launch, blocks)) {
    const auto size = static_cast<std::int64_t>(tensor.size);
    parts.bytes += size * ((tensor.loads > 0 ? 1 : 0) + (tensor.is_stored ? 1 : 0));
    parts.again_bytes += size * std::max(0, tensor.loads - 1);
  }
  return parts;
}

/// Of its sizes and of all arguments but tensors.
std::string CompiledFunction::key_of(const ptx::Launch& launch, const LiveBlocks& blocks) const {
  std::string key;
  append(key, launch.grid);
  append(key, launch.block);
  for (std::size_t i = 0; i < slice_.kernel.parameter_bytes.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(slice_.kernel.parameter_bytes[i]);
    const bool may_point = bytes == sizeof(void*);
    if (may_point && blocks.behind(pointer(launch.arguments, i)) > 0) continue;
    key.append(static_cast<const char*>(launch.arguments[i]), bytes);
  }
  return key;
}

std::optional<ptx::Count> CompiledFunction::count(const ptx::Launch& launch,
                                                  const LiveBlocks& blocks,
                                                  const KnownBytes& known) {
  if (!is_read_ || launch.arguments == nullptr) return std::nullopt;
  ptx::Memory memory;
  std::string key = key_of(launch, blocks);
  for (const Tensor& tensor : tensors(launch, blocks)) {
    if (!slice_.has_loads || tensor.loads == 0 || tensor.size > kMostBytes) continue;
    Trust trust;
    memory.ranges.push_back(range_of(tensor.begin, tensor.size, known, trust));
    append(key, memory.ranges.back());
  }
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(key);
  if (found != counts_.end()) return found->second;
  if (counts_.size() == kMostCounts) counts_.clear();
  return counts_[key] = ptx::count(slice_, launch, memory);
}

bool CompiledFunction::is_followed(const std::vector<Tensor>& tensors,
                                   const KnownBytes& known) const {
  return std::ranges::any_of(tensors, &Tensor::is_stored) &&
         std::ranges::all_of(tensors, [&](const Tensor& tensor) {
           return tensor.size <= kMostBytes &&
                  (tensor.loads == 0 || known.has_any(tensor.begin, tensor.size));
         });
}

bool CompiledFunction::run(const ptx::Launch& launch, const std::optional<ptx::Count>& executed,
                           const LiveBlocks& blocks, KnownBytes& known) {
  if (!is_read_ || launch.arguments == nullptr) return false;
  if (executed && executed->issued > kMostIssued) return false;
  const std::vector<Tensor> all = tensors(launch, blocks);
  if (!is_followed(all, known)) return false;
  std::vector<ptx::Range> ranges;
  std::string key = key_of(launch, blocks);
  Trust trust;
  for (const Tensor& tensor : all) {
    Trust unread;
    ranges.push_back(range_of(tensor.begin, tensor.size, known, tensor.loads > 0 ? trust : unread));
    append(key, ranges.back());
  }
  const std::lock_guard lock(mutex_);
  const Written& written = run_locked(launch, std::move(key), std::move(ranges));
  for (const ptx::Range& range : written.ranges) put(range, known, trust);
  return written.is_known;
}

const CompiledFunction::Written& CompiledFunction::run_locked(const ptx::Launch& launch,
                                                              std::string key,
                                                              std::vector<ptx::Range> ranges) {
  if (key == last_key_) return last_written_;
  ptx::Memory memory;
  memory.ranges = std::move(ranges);
  last_key_ = std::move(key);
  last_written_ = {};
  if (!kernel_) {
    kernel_ = ptx::parse(*ptx_, name_);
    ptx::straighten(*kernel_);
  }
  last_written_.is_known =
      ptx::run(*kernel_, launch, memory, static_cast<std::int64_t>(kMostIssued));
  for (ptx::Range& range : memory.ranges) {
    if (last_written_.is_known && range.is_written) last_written_.ranges.push_back(range);
  }
  return last_written_;
}

}  // namespace headroom::dry_run
