// SPDX-License-Identifier: Apache-2.0
#include <torch/version.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/error.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

constexpr std::int64_t kFirstBucketBytes = 1024 * 1024;  // PyTorch's: the first one goes early

struct ReducerOptions {
  std::int64_t bucket_bytes;
  bool gradient_as_bucket_view;
  bool find_unused_parameters;
};

/// All parameters in one bucket: after the first backward LibTorch makes its own, in the order in
/// which gradients arrive. It makes none where it looks for unused parameters.
std::vector<std::size_t> bucket_limits(const ReducerOptions& options) {
  if (!options.find_unused_parameters) return {std::numeric_limits<std::size_t>::max()};
  return {static_cast<std::size_t>(kFirstBucketBytes),
          static_cast<std::size_t>(options.bucket_bytes)};
}

std::shared_ptr<c10d::Reducer> make_reducer(const Step& step, const ReducerOptions& options) {
  auto [buckets, limits] =
      c10d::compute_bucket_assignment_by_size(step.trained, bucket_limits(options));
  std::reverse(buckets.begin(), buckets.end());
  return std::make_shared<c10d::Reducer>(
      step.trained, std::move(buckets), step.group->of_libtorch(),
      std::vector<bool>(step.trained.size(), false), options.bucket_bytes,
      options.find_unused_parameters, options.gradient_as_bucket_view,
      /*param_names=*/std::unordered_map<std::size_t, std::string>{}, kFirstBucketBytes,
      /*skip_all_reduce_unused_params=*/false,
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 11
      /*use_python_reducer=*/false);
#else
      /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
#endif
}

/// Books the buckets, which LibTorch allocates where it likes, and what they will send.
void note_buckets(const c10d::Reducer& reducer, Step& step) {
  for (c10d::GradBucket& bucket : reducer.get_grad_buckets(/*return_zero_tensors=*/false)) {
    step.ledger.tag(bucket.getBuffer(), Category::communication);
    step.group->count_all_reduce(static_cast<std::int64_t>(bucket.getBuffer().nbytes()));
    ++step.evidence.reductions;
  }
}

/// The Reducer would wait for those that are missing, and say so in the next step alone.
void check_gradients(const Step& step) {
  for (std::size_t i = 0; i < step.trained.size(); ++i) {
    if (step.trained[i].grad().defined()) continue;
    throw ConfigError("ddp: " + step.model.parameters()[i].name +
                      " has no gradient, for which all others would wait; "
                      "find_unused_parameters: true has ddp look for such parameters");
  }
}

/// Each rank has the whole model and a batch of its own; gradients are averaged over ranks, bucket
/// by bucket, while backward goes on. With accumulation, the last micro-batch alone communicates.
/// By LibTorch's c10d::Reducer, which torch.nn.parallel.DistributedDataParallel drives likewise.
class Ddp final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override { recipe.joins_ranks = true; }
  void wrap_step(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t bucket_mib_ = 25;
  bool gradient_as_bucket_view_ = false;
  bool find_unused_parameters_ = false;
};

void Ddp::fields(Fields& f) {
  f.integer({"bucket_mib", "MiB of gradients that are reduced at once"}, bucket_mib_, {1, 65536});
  f.boolean({"gradient_as_bucket_view", "gradients lie in the buckets, and not beside them"},
            gradient_as_bucket_view_);
  f.boolean({"find_unused_parameters",
             "some parameters have no gradient, and the rest is not to wait for them"},
            find_unused_parameters_);
}

void Ddp::wrap_step(Step& step, const Recipe& recipe) const {
  const auto reducer = make_reducer(step, {.bucket_bytes = bucket_mib_ * 1024 * 1024,
                                           .gradient_as_bucket_view = gradient_as_bucket_view_,
                                           .find_unused_parameters = find_unused_parameters_});
  step.parameter_ready = [](std::size_t) {};  // its gradient is this rank's alone
  step.forward = [this, reducer, &step, &recipe,
                  inner = std::move(step.forward)](const Batch& batch) {
    if (!step.last_micro_batch) return inner(batch);
    reducer->prepare_for_forward();
    // Ranks agree on buckets by numbers on the device, which a plan has not.
    if (recipe.computes) reducer->rebuild_buckets();
    note_buckets(*reducer, step);
    at::Tensor loss = inner(batch);
    reducer->prepare_for_backward(find_unused_parameters_ ? std::vector{loss}
                                                          : std::vector<at::Tensor>{});
    return loss;
  };
  step.backward = [this, &step, inner = std::move(step.backward)](const at::Tensor& loss) {
    with_peers([&] { inner(loss); });
    if (!step.last_micro_batch) return;
    if (!find_unused_parameters_) check_gradients(step);
    for (std::size_t i = 0; i < step.trained.size(); ++i) step.gradient_ready(i);
  };
}

std::string Ddp::why_inactive(const Evidence& evidence, const Recipe&) const {
  return evidence.reductions > 0 ? "" : "no gradient was reduced";
}

}  // namespace

// A parameter's gradient is there before it is that of all ranks.
constexpr std::string_view kDdpExcludes[] = {"optimizer_in_backward"};

extern constinit const TechniqueEntry kDdp{
    .name = "ddp",
    .summary = "every rank has the whole model; gradients are averaged while backward runs",
    .saves = "nothing; what sharding is compared with",
    .costs = "8P (1 - 1/N) bytes between ranks; 4P for buckets, unless gradients are views of them",
    .source = "Li et al. 2020, arXiv:2006.15704; torch's DistributedDataParallel",
    .make = &make_technique<Ddp>,
    .excludes = kDdpExcludes,
    .joins_ranks = true,
};

}  // namespace headroom
