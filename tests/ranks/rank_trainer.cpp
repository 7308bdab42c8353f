// SPDX-License-Identifier: Apache-2.0
// One rank of trainings, for the tests: rank_trainer RANK. Its standard input is a socket: it reads
// lines of CASE.json STORE OUTPUT STEPS and answers each there with a line, `done` or what went
// wrong. (On standard output LibTorch 2.10 says to whom gloo is connected.) Writes OUTPUT, what it
// saw as JSON, and OUTPUT.weights, all weights in order, as bytes.
#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "models/data/loader.h"
#include "src/core/hidden_tiles.h"
#include "src/memory/device_memory.h"
#include "src/memory/host_memory.h"
#include "src/memory/saved_tensors.h"
#include "src/worker/case.h"
#include "src/worker/flops.h"
#include "src/worker/trainer.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Listed last, so that it is outermost: what is in memory when a block is about to run, what
/// forward has kept for backward, the gradients when one arrives, and the host's part before an
/// update.
class Resident final : public Technique {
 public:
  explicit Resident(const Ledger& ledger) : ledger_(ledger) {}

  void wrap_model(Step& step, const Recipe&) const override {
    for (Block& block : step.model.blocks()) {
      block.run = [this, inner = std::move(block.run)](const at::Tensor& x) {
        note();
        return inner(x);
      };
    }
  }
  void wrap_step(Step& step, const Recipe&) const override {
    step.backward = [this, inner = std::move(step.backward)](const at::Tensor& loss) {
      activations_ = std::max(activations_, ledger_.current_bytes(Category::activations));
      inner(loss);
    };
    step.parameter_ready = [this, inner = std::move(step.parameter_ready)](std::size_t index) {
      gradients_ = std::max(gradients_, ledger_.current_bytes(Category::gradients));
      inner(index);
    };
    step.update = [this, inner = std::move(step.update)] {
      on_host_ = std::max(on_host_, host_pool_bytes() - on_host_before_);
      inner();
    };
  }
  std::string why_inactive(const Evidence&, const Recipe&) const override { return {}; }

  std::int64_t activations() const { return activations_; }
  Json json() const {
    return {{"weights", weights_},
            {"communication", communication_},
            {"temporary", temporary_},
            {"gradients", gradients_},
            {"on_host", on_host_}};
  }

 private:
  void note() const {
    weights_ = std::max(weights_, ledger_.current_bytes(Category::weights));
    communication_ = std::max(communication_, ledger_.current_bytes(Category::communication));
    temporary_ = std::max(temporary_, ledger_.current_bytes(Category::temporary));
  }

  const Ledger& ledger_;
  mutable std::int64_t weights_ = 0;
  mutable std::int64_t communication_ = 0;
  mutable std::int64_t temporary_ = 0;
  mutable std::int64_t activations_ = 0;
  mutable std::int64_t gradients_ = 0;
  mutable std::int64_t on_host_ = 0;
  std::int64_t on_host_before_ = host_pool_bytes();
};

void write_weights(Trainer& trainer, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  trainer.with_weights([&] {
    for (const Parameter& parameter : trainer.model().parameters()) {
      const at::Tensor values = parameter.tensor.detach().contiguous();
      file.write(static_cast<const char*>(values.const_data_ptr()),
                 static_cast<std::streamsize>(values.nbytes()));
    }
  });
}

/// Of each buffer its sum, which tells one rank's from another's.
Json sums_of_buffers(const Model& model) {
  Json sums = Json::array();
  for (const Buffer& buffer : model.buffers()) {
    sums.push_back(buffer.tensor.sum().item<double>());
  }
  return sums;
}

Json categories(const PeakReport& peak) {
  Json result = Json::object();
  for (std::size_t i = 0; i < kCategories; ++i) {
    result[std::string(enum_names<Category>()[i])] = peak.by_category[i];
  }
  return result;
}

void run(const Json& values, std::int64_t rank, const std::string& store, const std::string& output,
         int steps) {
  at::set_num_threads(1);
  install_saved_tensor_hooks();
  WorkerCase read = read_case(values, at::kCPU);
  read.recipe.membership.rank = rank;
  read.recipe.membership.store = store;
  const Recipe& recipe = read.recipe;
  Ledger ledger;
  const auto memory = watch_memory(recipe.device, ledger);
  auto probe = std::make_unique<Resident>(ledger);
  const Resident& resident = *probe;
  read.techniques.push_back(std::move(probe));
  const SavedTensorObserver observer(
      [&ledger](const at::Tensor& tensor) { ledger.tag(tensor, Category::activations); });
  const auto data =
      find_data(recipe.data.name).make(recipe.data, recipe.model.num_classes, recipe.train.seed);
  Trainer trainer(recipe, read.techniques, ledger);
  const PeakMemory init = memory->take_peak();
  Loader loader(*data, recipe.data, recipe.train.batch_size, recipe.train.seed,
                recipe.batch_share());
  Json losses = Json::array();
  {
    const FlopCounter flops;
    for (int i = 0; i < steps; ++i) losses.push_back(trainer.step(loader.next()));
    trainer.evidence().low_precision_flops = flops.so_far().low_precision;
  }
  const PeakMemory peak = memory->take_peak();
  std::string inactive;
  for (const auto& technique : read.techniques) {
    inactive += technique->why_inactive(trainer.final_evidence(), recipe);
  }
  const Json seen{{"losses", losses},
                  {"gradient_norm", trainer.first_gradient_norm().value_or(0.0)},
                  {"inactive", inactive},
                  {"buffers", sums_of_buffers(trainer.model())},
                  {"init_peak_bytes", init.allocated_bytes},
                  {"peak_bytes", peak.allocated_bytes},
                  {"ledger_bytes", ledger.peak().bytes},
                  {"parts", categories(ledger.peak())},
                  {"parameters", trainer.model().parameter_count()},
                  {"resident", resident.json()},
                  {"activations", resident.activations()},
                  {"sent_bytes", trainer.sent_bytes()}};
  write_weights(trainer, output + ".weights");
  if (const std::string& folder = recipe.train.save_weights; !folder.empty()) {
    write_weight_parts(folder, {rank, recipe.membership.ranks}, trainer.own_weights());
  }
  std::ofstream(output) << seen.dump();
}

/// Of one line. Where nobody reads it any more, the next request is missing too.
void answer(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text += '\n';
  if (write(STDIN_FILENO, text.data(), text.size()) < 0) std::perror("rank_trainer");
}

}  // namespace
}  // namespace headroom

int main(int, char** arguments) {
  headroom::do_without_hidden_tiles();
  at::set_num_threads(1);
  headroom::install_saved_tensor_hooks();
  std::string file;
  std::string store;
  std::string output;
  int steps = 0;
  while (std::cin >> file >> store >> output >> steps) {
    try {
      const auto values = headroom::Json::parse(std::ifstream(file));
      headroom::run(values, std::stoll(arguments[1]), store, output, steps);
      headroom::answer("done");
    } catch (const std::exception& error) {
      headroom::answer(error.what());
    }
  }
  return 0;
}
