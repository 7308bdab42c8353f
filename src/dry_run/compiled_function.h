// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/live_blocks.h"
#include "src/dry_run/work.h"
#include "src/ptx/accesses.h"
#include "src/ptx/slice.h"

namespace headroom::dry_run {

/// A kernel that was compiled while the program runs, as Triton's are. Safe to call from any
/// thread.
class CompiledFunction {
 public:
  /// `ptx`: what it was compiled from; empty: that is not known.
  CompiledFunction(std::string name, std::shared_ptr<const std::string> ptx);

  const std::string& name() const { return name_; }

  /// What a launch executes. Nothing: that is not known. Numbers that it goes by, as the blocks of
  /// a mask, are those that are known.
  std::optional<ptx::Count> count(const ptx::Launch& launch, const LiveBlocks& blocks,
                                  const KnownBytes& known);

  /// What a launch goes through: each tensor that it loads from or stores to once, one that it
  /// changes twice, and again what it loads in several loops. Nothing: that is not known.
  std::optional<Parts> parts(const ptx::Launch& launch, const LiveBlocks& blocks) const;

  /// Runs a launch where all that it loads is known and what it stores is small: a mask's blocks,
  /// places in a batch. Then `known` has what it wrote. False: that is not known. `executed`: by
  /// count().
  bool run(const ptx::Launch& launch, const std::optional<ptx::Count>& executed,
           const LiveBlocks& blocks, KnownBytes& known);

 private:
  /// Of PyTorch's allocator, which a parameter points to.
  struct Tensor {
    const void* begin;
    std::size_t size;
    int loads;  // how often it is gone through
    bool is_stored;
  };
  std::vector<Tensor> tensors(const ptx::Launch& launch, const LiveBlocks& blocks) const;
  std::string key_of(const ptx::Launch& launch, const LiveBlocks& blocks) const;
  bool is_followed(const std::vector<Tensor>& tensors, const KnownBytes& known) const;

  struct Written {
    std::vector<ptx::Range> ranges;
    bool is_known = false;
  };
  const Written& run_locked(const ptx::Launch& launch, std::string key,
                            std::vector<ptx::Range> ranges);

  std::string name_;
  std::shared_ptr<const std::string> ptx_;
  bool is_read_ = false;  // the PTX, of which these two are: all of it takes more memory
  ptx::Accesses accesses_;
  std::int64_t spilled_of_thread_ = 0;  // bytes
  ptx::Slice slice_;
  std::mutex mutex_;
  std::optional<ptx::Kernel> kernel_;                        // where one was run
  std::map<std::string, std::optional<ptx::Count>> counts_;  // by what launches were given
  std::string last_key_;  // of the last run, as programs that time a kernel repeat it
  Written last_written_;
};

}  // namespace headroom::dry_run
