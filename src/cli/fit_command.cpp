// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "src/cli/arguments.h"
#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/fit_suite.h"
#include "src/cli/fit_summary.h"
#include "src/cli/output.h"
#include "src/cli/program_arguments.h"
#include "src/cli/program_fit.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/core/yaml.h"
#include "src/gpus/gpu_figures.h"
#include "src/runner/environment_check.h"
#include "src/runner/fit_planner.h"
#include "src/runner/reference.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFitFolder = "out/fit";
constexpr const char* kImplementation = "train.optimizer.implementation";
constexpr std::int64_t kMaxSamples = 512;  // a larger micro-batch hardly makes a GPU busier

// What stands in for data of either kind: noise needs no files.
constexpr std::array kNoise = {"random_tokens", "random_images"};

struct FitOptions {
  std::string subject;
  OverrideArguments overrides;
  DryRunArguments dry_run;
  ProgramArguments program;
  std::string vary;  // of a program; empty: not given
  std::string out;
  bool json = false;
};

/// Whether it is a model, and not a suite file. Throws ConfigError where it is neither.
bool is_model(const Catalog& catalog, const std::string& name) {
  std::vector<std::string> models;
  for (const FieldChoice& model : catalog.find_case_field("model.name")->choices) {
    if (model.name == name) return true;
    models.push_back(model.name);
  }
  if (std::filesystem::exists(name)) return false;
  throw ConfigError("fit: " + name + " is neither a suite file nor a model; " +
                    allowed_names(name, models));
}

/// The model on the noise that it reads. The worker knows which one that is.
FitSuite on_noise(const Catalog& catalog, const FitOptions& options, FitPlanner& planner) {
  std::vector<Override> build_only = options.overrides.overrides();
  for (const char* none : {"train.steps=0", "train.warmup_steps=0"}) {
    build_only.push_back(parse_override(none));
  }
  std::string reasons;
  std::set<std::string> different;
  for (const char* dataset : kNoise) {
    std::string why;
    try {
      const auto suite = FitSuite::of_model(options.subject, dataset, build_only, catalog);
      why = planner.why_not_built(suite.plain_case());
    } catch (const ConfigError& error) {  // --set gives what does not go with that data set
      why = error.what();
    }
    if (why.empty()) {
      return FitSuite::of_model(options.subject, dataset, options.overrides.overrides(), catalog);
    }
    reasons += std::string("; on ") + dataset + ": " + why;
    different.insert(why);
  }
  // One that both data sets give is none of theirs.
  if (different.size() == 1)
    throw ConfigError("fit " + options.subject + ": " + *different.begin());
  throw ConfigError("fit " + options.subject + ": it can't be made" + reasons);
}

std::vector<FitStack> stacks_for(const Catalog& catalog, const FitOptions& options,
                                 const FitSuite& suite, const std::string& gpu) {
  const std::vector<Override> given = options.overrides.overrides();
  const bool is_set = std::any_of(given.begin(), given.end(), [](const Override& entry) {
    return entry.path == kImplementation;
  });
  const Case plain = suite.plain_case();
  const Json* implementation = plain.find(kImplementation);
  const bool has_bfloat16 = dry_run::find_gpu(gpu)->bfloat16_flops > 0;
  return fit_stacks(catalog, {.may_fuse = !is_set && *implementation != "fused",
                              .mixed_precision = has_bfloat16 ? "bfloat16" : "float16",
                              .ranks = plain.ranks()});
}

FitQuestion question_of(const FitSuite& suite) {
  const Case plain = suite.plain_case();
  FitQuestion question;
  question.batch_size = plain.find("train.batch_size")->get<std::int64_t>();
  question.max_samples = kMaxSamples;
  const Json* samples = plain.find("data.samples");
  if (samples != nullptr) {
    question.max_samples =
        std::min(question.max_samples, samples->get<std::int64_t>() / plain.ranks());
  }
  return question;
}

int nothing_fits(const FitSearch& search, const std::vector<FitStack>& stacks,
                 const FitOptions& options) {
  const auto nearest = search.nearest();
  if (!nearest) {
    say("fit " + options.subject + ": nothing could be planned; the lines above say why");
    return kFailed;
  }
  if (options.json) {
    print(json_text({{"subject", options.subject},
                     {"answer", nullptr},
                     {"nearest", stacks[nearest->stack].name},
                     {"batch_size", nearest->size.batch_size},
                     {"micro_batches", nearest->size.micro_batches},
                     {"missing_bytes", nearest->plan.missing_bytes}}));
  }
  say("fit " + options.subject + ": nothing fits. The nearest is " + stacks[nearest->stack].name +
      ", " + describe(nearest->size) + ": it " + describe(nearest->plan));
  return kFailed;
}

/// The suite file that the subject names; nothing: it names a model.
std::optional<FitSuite> read_suite(const Catalog& catalog, const FitOptions& options) {
  if (is_model(catalog, options.subject)) return std::nullopt;
  return FitSuite(parse_suite_file(read_yaml_file(options.subject), catalog),
                  options.overrides.overrides(), catalog);
}

std::filesystem::path file_to_write(const FitOptions& options, const std::string& name) {
  if (!options.out.empty()) return options.out;
  return std::filesystem::path(kFitFolder) / (name + ".yaml");
}

/// FILE.log; where the user names a link, a pipe or a device, in the default folder.
std::filesystem::path log_beside(const std::filesystem::path& file) {
  const auto there = std::filesystem::symlink_status(file);
  const bool is_file = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
  const std::string name = file.filename().string() + ".log";
  return is_file ? file.parent_path() / name : kFitFolder / std::filesystem::path(name);
}

/// Throws ConfigError where an option was given that is not for what is to fit.
void check_options(const FitOptions& given, bool is_program) {
  if (is_program) {
    refuse_options("", {{"--set", !given.overrides.set.empty()}, {"--out", !given.out.empty()}},
                   " is for a suite or a model");
  } else {
    refuse_options("",
                   {{"--vary", !given.vary.empty()},
                    {"--rank", !given.program.rank.empty()},
                    {"--steps", !given.program.steps.empty()},
                    {"--for", !given.program.seconds.empty()}},
                   " is for a program, behind --");
  }
}

ProgramFit program_fit(const CommandLine& line, const FitOptions& options,
                       const std::string& ranks) {
  ProgramFit fit;
  fit.words = line.program;
  fit.json = options.json;
  fit.dry_run = make_dry_run(line.catalog(), options.dry_run);
  fit.played = options.program.played(ranks);
  options.program.set(fit.dry_run, fit.played, ranks);
  return fit;
}

int fit_program(const CommandLine& line, const FitOptions& options) {
  std::optional<Variation> variation;
  if (!options.vary.empty()) variation = read_variation(options.vary);
  const std::string& ranks = options.overrides.ranks;
  if (ranks.find("..") != std::string::npos) {
    if (variation) throw ConfigError("fit: either --vary or a range of --ranks");
    const auto with_ranks = [&](std::int64_t count) {
      return program_fit(line, options, std::to_string(count));
    };
    return fit_ranks(with_ranks, read_rank_range(ranks));
  }
  if (!variation && !(options.dry_run.gpu.empty() && options.dry_run.memory.empty())) {
    throw ConfigError(
        "fit: --vary says what of the program is to be varied; plan says whether it fits a GPU");
  }
  const ProgramFit fit = program_fit(line, options, ranks);
  return variation ? fit_largest(fit, *variation) : fit_gpus(fit);
}

int fit(const Catalog& catalog, const FitOptions& options) {
  check_environment(environment_variables(), false);
  std::optional<FitSuite> suite = read_suite(catalog, options);
  const DryRun dry_run = make_dry_run(catalog, options.dry_run, suite ? suite->gpu() : "");
  const auto file = file_to_write(options, suite ? suite->name() : options.subject);
  FitPlanner planner(catalog, dry_run, worker_path(), log_beside(file),
                     [](const std::string& text) { say(text); });
  if (!suite) suite.emplace(on_noise(catalog, options, planner));

  FitReport report;
  report.subject = suite->name();
  report.gpu = dry_run.gpu;
  const Case plain = suite->plain_case();
  report.ranks = plain.ranks();
  const ModelInfo* model = model_of(catalog, plain);
  report.mixes_samples = model != nullptr && model->mixes_samples;
  report.file = file.string();
  report.stacks = stacks_for(catalog, options, *suite, dry_run.gpu);
  const MakeFitCase make_case = [&](const FitStack& stack, FitSize size, bool is_short) {
    return suite->make_case(stack, size, is_short);
  };
  FitSearch search(
      report.stacks, question_of(*suite),
      [&](const FitStack& stack, FitSize size) { return planner.plan(make_case, stack, size); },
      [&](const FitStack& stack, FitSize size) { return planner.verify(make_case, stack, size); });
  const auto answer = search.find();
  if (!answer) return nothing_fits(search, report.stacks, options);
  report.answer = *answer;
  report.trials = search.compare(*answer);
  report.memory_bytes = planner.memory_bytes();
  const FitStack& stack = report.stacks[answer->stack];
  // A suite can only name a GPU of the table.
  const std::string gpu = dry_run::added_gpu(dry_run.gpu) == nullptr ? dry_run.gpu : "";
  write_output(report.file, fit_comment(report) + suite->write(stack, answer->size, gpu));
  print(options.json ? json_text(fit_to_json(report)) : format_fit(report));
  return 0;
}

}  // namespace

void add_fit(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "fit",
      "The cheapest techniques, and the largest micro-batch, that fit a memory; of a CUDA program "
      "of PyTorch (fit -- PROGRAM ...) the GPUs that it fits, the largest value of --vary, or the "
      "fewest of --ranks FIRST..LAST");
  const auto options = std::make_shared<FitOptions>();
  command->add_option("SUITE|MODEL", options->subject,
                      "A suite file, of which the first case counts, or a model");
  options->overrides.add_to(*command);
  options->dry_run.add_to(*command);
  options->program.add_to(*command);
  command->add_option("--vary", options->vary,
                      "Of a program: NAME=FIRST..LAST, numbers that stand for {NAME} in its words "
                      "and are its variable NAME");
  command->add_option(
      "-o,--out", options->out,
      std::string("The suite file to write; default: ") + kFitFolder + "/NAME.yaml");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] {
      const bool is_program = !line.program.empty();
      if (is_program == !options->subject.empty()) {
        throw ConfigError("fit: give a suite file or a model, or, behind --, a program");
      }
      check_options(*options, is_program);
      if (is_program) return fit_program(line, *options);
      try {
        return fit(line.catalog(), *options);
      } catch (const PlanInterrupted& interrupted) {
        throw NoAnswer(kInterrupted, interrupted.what());
      }
    };
  });
}

}  // namespace headroom
