// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/constant_pad_nd.h>
#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "src/memory/saved_tensors.h"
#include "techniques/large_activation.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

constexpr std::int64_t kNumbersOfABlock = 256;  // that share a scale
constexpr double kLargestCode = 255.0;

/// Numbers in 8 bits: of each 256 in a row the smallest, and the step from one code to the next, in
/// float32.
class Codes {
 public:
  explicit Codes(const at::Tensor& row) : count_(row.numel()), dtype_(row.scalar_type()) {
    at::Tensor numbers = row.to(at::kFloat);
    const std::int64_t missing = (kNumbersOfABlock - count_ % kNumbersOfABlock) % kNumbersOfABlock;
    if (missing > 0) numbers = at::constant_pad_nd(numbers, {0, missing});
    numbers = numbers.view({-1, kNumbersOfABlock});
    std::tie(smallest_, step_) = at::aminmax(numbers, /*dim=*/1, /*keepdim=*/true);
    step_.sub_(smallest_).div_(kLargestCode);
    const at::Tensor divisor = step_.masked_fill(step_ == 0.0, 1.0);
    codes_ = numbers.sub(smallest_).div_(divisor).round_().to(at::kByte);
  }

  at::Tensor row() const {
    const at::Tensor all = codes_.to(at::kFloat).mul_(step_).add_(smallest_);
    return all.view({-1}).narrow(0, 0, count_).to(dtype_);
  }

  std::vector<at::Tensor> tensors() const { return {codes_, smallest_, step_}; }

 private:
  std::int64_t count_;
  at::ScalarType dtype_;
  at::Tensor codes_;     // (blocks, 256) uint8
  at::Tensor smallest_;  // (blocks, 1)
  at::Tensor step_;      // (blocks, 1)
};

/// What one run of a block saved. Memory that several operators save, in whatever shape, is kept
/// once, as without us.
class CodesOfRun {
 public:
  explicit CodesOfRun(Evidence& evidence) : evidence_(evidence) {}

  /// row: (n), contiguous.
  std::shared_ptr<const Codes> of(const at::Tensor& row) {
    for (const Known& known : known_) {
      if (known.is(row)) return known.codes;
    }
    const auto codes = std::make_shared<const Codes>(row);
    evidence_.compressed_bytes += static_cast<std::int64_t>(row.nbytes());
    for (const at::Tensor& each : codes->tensors()) {
      note_saved(each);
      evidence_.bytes_of_codes += static_cast<std::int64_t>(each.nbytes());
    }
    known_.push_back({row.storage().getWeakStorageImpl(), row.storage_offset(), row.numel(),
                      row._version(), codes});
    return codes;
  }

 private:
  struct Known {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;  // gone: its memory may be another's
    std::int64_t offset;
    std::int64_t count;
    std::int64_t version;
    std::shared_ptr<const Codes> codes;

    bool is(const at::Tensor& row) const {
      return storage.lock().get() == row.storage().unsafeGetStorageImpl() &&
             offset == row.storage_offset() && count == row.numel() && version == row._version();
    }
  };

  Evidence& evidence_;
  std::vector<Known> known_;
};

/// A saved tensor, by the row of its numbers in the order of memory.
class Compressed {
 public:
  Compressed(const at::Tensor& tensor, CodesOfRun& run)
      : sizes_(tensor.sizes().vec()), strides_(tensor.strides().vec()) {
    at::Tensor row;
    if (tensor.is_non_overlapping_and_dense()) {
      row = tensor.detach().as_strided({tensor.numel()}, {1}, tensor.storage_offset());
    } else {
      const at::Tensor contiguous = tensor.detach().contiguous();
      strides_ = contiguous.strides().vec();
      row = contiguous.view({-1});
    }
    codes_ = run.of(row);
  }

  at::Tensor tensor() const { return codes_->row().as_strided(sizes_, strides_); }

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  std::shared_ptr<const Codes> codes_;
};

class Compression final : public SavedTensorHooks {
 public:
  Compression(std::span<const Parameter> parameters, Evidence& evidence)
      : parameters_(parameters), run_(evidence) {}

  std::unique_ptr<torch::autograd::SavedVariableHooks> make() override {
    return std::make_unique<Hooks>(*this);
  }

 private:
  class Hooks final : public torch::autograd::SavedVariableHooks {
   public:
    explicit Hooks(Compression& compression) : compression_(compression) {}

    void call_pack_hook(const at::Tensor& tensor) override {
      const at::NoGradGuard no_grad;
      if (tensor.is_floating_point() && is_large_activation(tensor, compression_.parameters_)) {
        compressed_.emplace(tensor, compression_.run_);
      } else {
        note_saved(tensor);
        kept_ = tensor.detach();
      }
    }

    at::Tensor call_unpack_hook() override {
      const at::NoGradGuard no_grad;
      return compressed_ ? compressed_->tensor() : kept_;
    }

   private:
    Compression& compression_;  // packing ends with it
    at::Tensor kept_;
    std::optional<Compressed> compressed_;
  };

  std::span<const Parameter> parameters_;
  CodesOfRun run_;
};

/// What blocks save for backward waits in 8 bits: each 256 numbers between their smallest and their
/// largest, rounded to the nearest of 256 steps. Forward computes with the numbers themselves.
/// Parameters, integers and tensors below 16 KiB are kept as they are.
class CompressedActivations final : public Technique {
 public:
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

void CompressedActivations::wrap_model(Step& step, const Recipe&) const {
  for (Block& block : step.model.blocks()) {
    block.run = [&step, inner = std::move(block.run)](const at::Tensor& x) {
      Compression compression(step.model.parameters(), step.evidence);
      const SavedTensorScope scope(compression);
      return inner(x);
    };
  }
}

std::string CompressedActivations::why_inactive(const Evidence& evidence, const Recipe&) const {
  return evidence.compressed_bytes > 0 ? "" : "no saved tensor was compressed";
}

}  // namespace

// Both keep what blocks save in their own way.
constexpr std::string_view kCompressedActivationsExcludes[] = {"activation_offload"};

extern constinit const TechniqueEntry kCompressedActivations{
    .name = "compressed_activations",
    .summary = "what blocks save for backward waits in 8 bits",
    .saves = "of saved tensors in fp32 the part 1 - 1/4 - 1/32, in 16 bits 1 - 1/2 - 1/64",
    .costs = "passes over them forward and backward; gradients of rounded activations",
    .source = "GACT, arXiv:2206.11357; Mesa, arXiv:2111.11124; ActNN, arXiv:2104.14129",
    .make = &make_technique<CompressedActivations>,
    .gradient_tolerance = 2e-2,
    .excludes = kCompressedActivationsExcludes,
    .fit_cost = {.numerics = 1},
    .changes = "gradients of activations in 8 bits",
};

}  // namespace headroom
