// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "models/table.h"
#include "src/core/error.h"
#include "src/memory/device_graph.h"
#include "src/memory/streams.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Forward and backward of one micro-batch as a graph. All micro-batches are copied to where the
/// recorded one lay, and all gradients arise where its gradients arose.
class RecordedMicroBatch {
 public:
  RecordedMicroBatch(Step& step, at::Device device)
      : step_(step), run_(std::move(step.run_micro_batch)), side_(device) {
    side_.follow_current();
    scope_ = std::make_unique<SideStream::Scope>(side_);
  }

  at::Tensor run(const Batch& micro_batch) {
    // The last one finds gradients to add to, where there are several.
    if (!graph_ && !(step_.is_counted && step_.last_micro_batch)) return run_(micro_batch);
    if (!graph_) {
      record(micro_batch);
    } else {
      bring_back_gradients();
      copy(micro_batch);
    }
    graph_->launch();
    ++step_.evidence.graph_launches;
    return loss_.clone();  // the next launch overwrites it
  }

 private:
  void record(const Batch& micro_batch) {
    batch_ = micro_batch;
    graph_ = std::make_unique<DeviceGraph>();
    graph_->record([this] { loss_ = run_(batch_); });
    for (const at::Tensor& trained : step_.trained) gradients_.push_back(trained.grad());
  }

  void copy(const Batch& micro_batch) {
    batch_.inputs.copy_(micro_batch.inputs);
    if (batch_.attention_mask.defined()) batch_.attention_mask.copy_(micro_batch.attention_mask);
    if (batch_.labels.defined()) batch_.labels.copy_(micro_batch.labels);
  }

  /// The graph makes new gradients where it is the step's only micro-batch, and else adds to those
  /// there are.
  void bring_back_gradients() {
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      at::Tensor(step_.trained[i]).mutable_grad() = gradients_[i];
      if (step_.first_micro_batch && !step_.last_micro_batch && gradients_[i].defined()) {
        gradients_[i].zero_();
      }
    }
  }

  Step& step_;
  std::function<at::Tensor(const Batch&)> run_;
  SideStream side_;  // CUDA records no default stream, so all steps run on this one
  std::unique_ptr<SideStream::Scope> scope_;
  std::unique_ptr<DeviceGraph> graph_;
  Batch batch_;
  at::Tensor loss_;
  std::vector<at::Tensor> gradients_;  // by what is trained; undefined where it gets none
};

/// Forward and backward of the last micro-batch before steps are timed are recorded, and launched
/// as one piece from then on. The update stays outside: its hyperparameters are the host's numbers,
/// which a graph would keep as they were.
class CudaGraphs final : public Technique {
 public:
  void check_recipe(const Recipe& recipe) const override;
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

void CudaGraphs::check_recipe(const Recipe& recipe) const {
  if (!recipe.device.is_cuda()) throw Unsupported("cuda_graphs needs a CUDA device");
  if (recipe.train.batch_size % recipe.micro_batches != 0) {
    throw Unsupported("cuda_graphs: micro-batches of one size are needed; " +
                      std::to_string(recipe.train.batch_size) + " samples make none in " +
                      std::to_string(recipe.micro_batches) + " micro-batches");
  }
  if (find_model(recipe.model.name).draws_on_host) {
    throw Unsupported("cuda_graphs: " + recipe.model.name +
                      " draws numbers on the host in each forward, which a graph can't repeat");
  }
  if (recipe.restores_random_state) {
    throw Unsupported(
        "cuda_graphs: the random state of dropout can't be restored while a graph is recorded; "
        "set model.dropout to 0");
  }
}

void CudaGraphs::wrap_step(Step& step, const Recipe& recipe) const {
  step.run_micro_batch = [recorded = std::make_shared<RecordedMicroBatch>(step, recipe.device)](
                             const Batch& batch) { return recorded->run(batch); };
}

std::string CudaGraphs::why_inactive(const Evidence& evidence, const Recipe&) const {
  return evidence.graph_launches > 0 ? "" : "no graph was launched; train.steps must be at least 1";
}

}  // namespace

constexpr std::string_view kCudaGraphsExcludes[] = {"activation_offload",
                                                    "optimizer_in_backward",
                                                    "ddp",
                                                    "zero_1",
                                                    "zero_2",
                                                    "fsdp",
                                                    "tensor_parallel",
                                                    "cpu_offload",
                                                    "layer_streaming"};

extern constinit const TechniqueEntry kCudaGraphs{
    .name = "cuda_graphs",
    .summary = "forward and backward are recorded once and launched as one piece",
    .saves = "no memory: the host's time to launch kernels one by one",
    .costs =
        "what forward and backward allocate stays reserved for them alone, and the allocator does "
        "not count it between launches",
    .source = "torch.cuda.graph; CUDA Programming Guide, CUDA graphs",
    .make = &make_technique<CudaGraphs>,
    .excludes = kCudaGraphsExcludes,
};

}  // namespace headroom
