// SPDX-License-Identifier: Apache-2.0
#include "techniques/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "models/batch_norm.h"
#include "src/memory/saved_tensors.h"
#include "techniques/mixed_precision.h"
#include "techniques/random_state.h"

namespace headroom {
namespace {

namespace ag = torch::autograd;

/// A function to run again, and the state of the thread when it ran first.
struct Recorded {
  std::shared_ptr<const BlockFunction> function;
  RecomputeOptions options;
  AutocastState autocast;
  at::Tensor random_state;  // undefined where it does not matter

  static Recorded now(std::shared_ptr<const BlockFunction> function,
                      const RecomputeOptions& options) {
    Recorded recorded{
        std::move(function), options, AutocastState::of_this_thread(options.device.type()), {}};
    if (options.random_state) recorded.random_state = get_random_state(options.device);
    return recorded;
  }

  at::Tensor run_again(const at::Tensor& x) const {
    *options.count += options.blocks;
    const at::AutoGradMode grad(true);
    const AutocastScope scope(autocast);
    const StatisticsStay statistics;
    if (!random_state.defined()) return (*function)(x);
    const RandomStateScope random(options.device, random_state);
    return (*function)(x);
  }
};

/// Ends a recomputation that has made all that backward wants.
struct EnoughRecomputed {};

/// One forward call: its input, and in backward what the second run saved, by position.
class Frame final : public SavedTensorHooks, public std::enable_shared_from_this<Frame> {
 public:
  // The input is saved before this frame's hooks are in place: outer hooks are to see it.
  Frame(Recorded recorded, const at::Tensor& x)
      : recorded_(std::move(recorded)), input_(x, /*is_output=*/false) {}

  std::unique_ptr<ag::SavedVariableHooks> make() override {
    return std::make_unique<Forgotten>(shared_from_this());
  }

 private:
  /// Stands for a tensor of the first run: remembers its position, not the tensor.
  class Forgotten final : public ag::SavedVariableHooks {
   public:
    explicit Forgotten(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}
    void call_pack_hook(const at::Tensor&) override { position_ = frame_->saved_++; }
    at::Tensor call_unpack_hook() override { return frame_->take(position_); }

   private:
    std::shared_ptr<Frame> frame_;
    std::size_t position_ = 0;
  };

  /// Catches what the second run saves.
  class Again final : public SavedTensorHooks {
   public:
    explicit Again(Frame& frame) : frame_(frame) {}
    std::unique_ptr<ag::SavedVariableHooks> make() override {
      return std::make_unique<Hooks>(frame_);
    }

   private:
    class Hooks final : public ag::SavedVariableHooks {
     public:
      explicit Hooks(Frame& frame) : frame_(frame) {}
      void call_pack_hook(const at::Tensor& tensor) override {
        note_saved(tensor);
        kept_ = tensor.detach();
        frame_.again_.push_back(kept_);
        if (frame_.again_.size() == frame_.saved_) throw EnoughRecomputed();
      }
      at::Tensor call_unpack_hook() override { return kept_; }  // a frame inside this one asks

     private:
      Frame& frame_;
      at::Tensor kept_;
    };
    Frame& frame_;
  };

  at::Tensor take(std::size_t position) {
    if (again_.empty()) recompute();
    at::Tensor tensor = std::exchange(again_[position], at::Tensor());
    if (++taken_ == saved_) {
      again_.clear();
      taken_ = 0;
    }
    return tensor;
  }

  void recompute() {
    const at::Tensor saved_input = input_.unpack();
    const at::Tensor x = saved_input.detach().requires_grad_(saved_input.requires_grad());
    Again again(*this);
    try {
      const SavedTensorScope scope(again);
      recorded_.run_again(x);
    } catch (const EnoughRecomputed&) {
    }
    TORCH_CHECK(again_.size() == saved_, "a block saved ", saved_, " tensors at first and ",
                again_.size(), " when it ran again: it is not deterministic");
  }

  Recorded recorded_;
  ag::SavedVariable input_;
  std::size_t saved_ = 0;
  std::size_t taken_ = 0;
  std::vector<at::Tensor> again_;
};

/// The re-entrant form: one node in the graph, whose backward builds and runs a graph of its own.
struct Reentrant : ag::Function<Reentrant> {
  static at::Tensor forward(ag::AutogradContext* context, const at::Tensor& x,
                            const std::shared_ptr<const Recorded>& recorded) {
    context->save_for_backward({x});
    context->saved_data["recorded"] =
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(recorded));
    const at::NoGradGuard no_grad;
    return (*recorded->function)(x);
  }

  static ag::variable_list backward(ag::AutogradContext* context, ag::variable_list gradients) {
    const auto holder = context->saved_data["recorded"].toCapsule();
    const auto& recorded = *static_cast<Holder&>(*holder).recorded;
    const at::Tensor x = context->get_saved_variables()[0].detach().requires_grad_();
    const at::Tensor y = recorded.run_again(x);
    ag::backward({y}, {gradients[0]});
    return {x.grad(), at::Tensor()};
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<const Recorded> r) : recorded(std::move(r)) {}
    std::shared_ptr<const Recorded> recorded;
  };
};

}  // namespace

BlockFunction recompute_in_backward(BlockFunction inner, const RecomputeOptions& options) {
  const auto function = std::make_shared<const BlockFunction>(std::move(inner));
  return [function, options](const at::Tensor& x) {
    if (!at::GradMode::is_enabled()) return (*function)(x);
    if (options.reentrant) {
      // A node of the graph comes of an input with a gradient: where all before is frozen, of a
      // leaf.
      return Reentrant::apply(x.requires_grad() ? x : x.detach().requires_grad_(),
                              std::make_shared<const Recorded>(Recorded::now(function, options)));
    }
    const auto frame = std::make_shared<Frame>(Recorded::now(function, options), x);
    const SavedTensorScope scope(*frame);
    return (*function)(x);
  };
}

}  // namespace headroom
