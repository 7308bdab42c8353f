// SPDX-License-Identifier: Apache-2.0
#include "models/batch_norm.h"

#include <ATen/Context.h>
#include <ATen/ops/batch_norm.h>

#include <utility>

#include "src/core/error.h"

namespace headroom {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;  // the part of a batch's statistics in the running ones

thread_local bool statistics_stay = false;

}  // namespace

StatisticsStay::StatisticsStay() : before_(std::exchange(statistics_stay, true)) {}
StatisticsStay::~StatisticsStay() { statistics_stay = before_; }

BatchNorm::BatchNorm(ParameterFactory& parameters, const std::string& name, std::int64_t channels)
    : weight(parameters.constant(name + ".weight", {channels}, 1.0)),
      bias(parameters.constant(name + ".bias", {channels}, 0.0)),
      running_mean(parameters.buffer(name + ".running_mean", {channels}, 0.0)),
      running_var(parameters.buffer(name + ".running_var", {channels}, 1.0)),
      num_batches_tracked(parameters.counter(name + ".num_batches_tracked")) {}

at::Tensor BatchNorm::operator()(const at::Tensor& x, bool training) const {
  if (training && x.numel() == x.size(1)) {
    throw ConfigError(
        "batch normalisation needs more than one sample or pixel to train on; a micro-batch of one "
        "sample comes to one pixel: larger images or micro-batches have more");
  }
  const bool counts = training && !statistics_stay;
  if (counts) num_batches_tracked.add_(1);
  // With a momentum of 0 they stay. Left out instead, backward would be given fewer saved tensors.
  return at::batch_norm(x, weight, bias, running_mean, running_var, training,
                        counts ? kMomentum : 0.0, kEpsilon, at::globalContext().userEnabledCuDNN());
}

}  // namespace headroom
