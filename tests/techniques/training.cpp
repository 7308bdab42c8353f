// SPDX-License-Identifier: Apache-2.0
#include "tests/techniques/training.h"

#include <ATen/ops/equal.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "models/data/loader.h"
#include "src/memory/host_memory.h"
#include "src/memory/saved_tensors.h"
#include "src/worker/case.h"
#include "src/worker/flops.h"
#include "src/worker/trainer.h"

namespace headroom {
namespace {

Json base(const Json& model, const Json& data) {
  return {{"name", "small"},
          {"model", model},
          {"data", data},
          {"train", {{"batch_size", 8}, {"optimizer", {{"name", "adam"}, {"lr", 1e-3}}}}},
          {"techniques", Json::array()}};
}

/// Listed last, so that it is outermost: reads the ledger between the verbs of a step.
class Probe final : public Technique {
 public:
  Probe(const Ledger& ledger, Trained& into) : ledger_(ledger), into_(into) {}

  void wrap_step(Step& step, const Recipe&) const override {
    step.backward = [this, inner = std::move(step.backward)](const at::Tensor& loss) {
      into_.saved_bytes = ledger_.current_bytes(Category::activations);
      inner(loss);
    };
    into_.idle_parameters = step.trained.size();
    step.gradient_ready = [this, arrived = std::set<std::size_t>(),
                           inner = std::move(step.gradient_ready)](std::size_t index) mutable {
      if (arrived.insert(index).second) --into_.idle_parameters;
      into_.most_gradient_bytes =
          std::max(into_.most_gradient_bytes, ledger_.current_bytes(Category::gradients));
      inner(index);
    };
  }
  std::string why_inactive(const Evidence&, const Recipe&) const override { return {}; }

 private:
  const Ledger& ledger_;
  Trained& into_;
};

std::int64_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.nbytes());
}

/// Whether activation_offload says that it moves such a tensor.
bool is_for_the_host(const at::Tensor& tensor) {
  const at::Tensor base = tensor.is_view() ? at::Tensor(tensor._base()) : tensor;
  const bool is_parameter = base.is_leaf() && base.requires_grad();
  return current_position().block != kNoBlock && !is_parameter && bytes_of(tensor) >= 16 * 1024;
}

/// What the worker adds to the trainer's evidence.
void complete_evidence(const WorkerCase& read, const Trainer& trainer, const Flops& flops,
                       Trained& into) {
  into.evidence = trainer.final_evidence();
  into.evidence.flops = flops.all;
  into.evidence.low_precision_flops = flops.low_precision;
  for (const auto& technique : read.techniques) {
    into.inactive += technique->why_inactive(into.evidence, read.recipe);
  }
}

double relative(double a, double b) {
  return a == b ? 0.0 : std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

}  // namespace

Json small_vit() {
  return base({{"name", "vit_ti_16"}, {"num_classes", 10}},
              {{"name", "digits"}, {"image_size", 32}});
}

Json mini_vit() {
  return base({{"name", "vit_mini"}, {"num_classes", 10}},
              {{"name", "digits"}, {"image_size", 64}});
}

Json small_bert() {
  return base({{"name", "bert_mini"}, {"num_classes", 5}},
              {{"name", "random_tokens"}, {"sequence_length", 16}, {"samples", 64}});
}

Json small_bigbird() {
  Json values = small_bert();
  values["model"]["name"] = "bigbird_mini";
  values["data"]["sequence_length"] = 96;
  return values;
}

Json small_gpt2() {
  Json values = small_bert();
  values["model"]["name"] = "gpt2_mini";
  // Each token is held against a vocabulary of 50,257: in 16 bits, on a CPU that emulates these,
  // that was most of what all these tests took.
  values["data"]["sequence_length"] = 4;
  return values;
}

Json mini_resnet() {
  Json values = mini_vit();
  values["model"]["name"] = "resnet_mini";
  return values;
}

Json steady_resnet() {
  Json values = mini_resnet();
  values["train"]["optimizer"]["lr"] = 1e-4;
  return values;
}

Json small_llama() {
  Json values = small_gpt2();
  values["model"] = {{"name", "llama_mini"}, {"layers", 2}, {"width", 64}, {"heads", 4}};
  return values;
}

Trained train(const Json& values, int steps, std::unique_ptr<Technique> innermost,
              at::Device device) {
  Trained result;
  const std::int64_t pool_before = host_pool_bytes();
  WorkerCase read = read_case(values, device);
  const Recipe& recipe = read.recipe;
  Ledger ledger;
  const auto memory = watch_memory(recipe.device, ledger);
  const SavedTensorObserver observer([&ledger, &result](const at::Tensor& tensor) {
    ledger.tag(tensor, Category::activations);
    if (is_for_the_host(tensor)) result.kept_in_blocks_bytes += bytes_of(tensor);
  });
  if (innermost) read.techniques.insert(read.techniques.begin(), std::move(innermost));
  read.techniques.push_back(std::make_unique<Probe>(ledger, result));
  const auto data =
      find_data(recipe.data.name).make(recipe.data, recipe.model.num_classes, recipe.train.seed);
  Trainer trainer(recipe, read.techniques, ledger);
  result.init_peak_bytes = memory->take_peak().allocated_bytes;

  Loader loader(*data, recipe.data, recipe.train.batch_size, recipe.train.seed);
  const FlopCounter flops;
  for (int i = 0; i < steps; ++i) {
    const Batch batch = loader.next();
    result.losses.push_back(i == 1 ? trainer.counted_step(batch) : trainer.step(batch));
  }
  result.steps_peak_bytes = memory->take_peak().allocated_bytes;
  result.ledger_peak_bytes = ledger.peak().bytes;
  result.gradient_norm = trainer.first_gradient_norm().value_or(0.0);
  result.weight_bytes = ledger.current_bytes(Category::weights);
  result.state_bytes = ledger.current_bytes(Category::optimizer_state);
  result.host_pool_bytes = host_pool_bytes() - pool_before;
  complete_evidence(read, trainer, flops.so_far(), result);
  // Outside of the CPU allocator: what outlives this training is not to count in a later one.
  const auto keep = [](const at::Tensor& t) { return host_buffer_like(t).copy_(t.detach()); };
  trainer.with_weights([&] {
    for (const Parameter& p : trainer.model().parameters())
      result.weights.push_back(keep(p.tensor));
  });
  for (const Buffer& b : trainer.model().buffers()) result.buffers.push_back(keep(b.tensor));
  return result;
}

const Trained& trained_once(const Json& values, int steps) {
  static std::map<std::string, Trained> done;
  const auto [entry, is_new] = done.try_emplace(values.dump() + std::to_string(steps));
  if (is_new) entry->second = train(values, steps);
  return entry->second;
}

double weight_distance(const Trained& a, const Trained& b) {
  double distance = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    const at::Tensor left = a.weights[i].to(at::kDouble);
    const at::Tensor right = b.weights[i].to(at::kDouble);
    distance = std::max(distance, left.sub(right).abs().max().item<double>());
    largest = std::max(largest, right.abs().max().item<double>());
  }
  return distance / largest;
}

double loss_distance(const Trained& a, const Trained& b) {
  double distance = 0.0;
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    distance = std::max(distance, relative(a.losses[i], b.losses[i]));
  }
  return distance;
}

double gradient_distance(const Trained& a, const Trained& b) {
  return relative(a.gradient_norm, b.gradient_norm);
}

double buffer_distance(const Trained& a, const Trained& b) {
  double distance = 0.0;
  for (std::size_t i = 0; i < a.buffers.size(); ++i) {
    const at::Tensor left = a.buffers[i].to(at::kDouble);
    const at::Tensor right = b.buffers[i].to(at::kDouble);
    const double largest = right.abs().max().item<double>();
    if (!left.equal(right)) {
      distance = std::max(distance, left.sub(right).abs().max().item<double>() / largest);
    }
  }
  return distance;
}

bool same_bits(const Trained& a, const Trained& b) {
  const auto equal = [](const at::Tensor& x, const at::Tensor& y) {
    return x.scalar_type() == y.scalar_type() && at::equal(x, y);
  };
  const auto all_equal = [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return a.losses == b.losses && a.gradient_norm == b.gradient_norm &&
         all_equal(a.weights, b.weights) && all_equal(a.buffers, b.buffers);
}

}  // namespace headroom
