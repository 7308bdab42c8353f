// SPDX-License-Identifier: Apache-2.0
#include <list>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/arguments.h"
#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/suite_runs.h"
#include "src/cli/summary.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/runner/environment_check.h"
#include "src/runner/gpu_lock.h"
#include "src/workers/agent.h"
#include "src/workers/agents.h"
#include "src/workers/launcher.h"
#include "src/workers/program_file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostRepeats = 99;  // folders are numbered by two digits

struct RunOptions {
  SuiteArguments cases;
  std::string device = "auto";
  bool list_cases = false;
  bool with_plan = false;
};

struct Device {
  std::string kind;           // cpu or cuda
  Json gpus = Json::array();  // that there are, where it is cuda

  std::string product() const { return gpus.empty() ? "" : gpus[0].at("name"); }
};

bool may_use_gpus(const Catalog& catalog, const RunOptions& options) {
  return options.device != "cpu" && catalog.cuda_built;
}

Device choose_device(const Catalog& catalog, const RunOptions& options) {
  const std::string& asked = options.device;
  if (asked == "cuda" && !catalog.cuda_built) {
    throw Unsupported("--device cuda: " + why_no_cuda());
  }
  if (!may_use_gpus(catalog, options)) return {"cpu"};
  const Json machine = ask_worker({{"request", "doctor"}});
  const Json& gpus = machine.at("gpus");
  if (!gpus.empty() || asked == "cuda") return {"cuda", gpus};
  // Hours of figures of the wrong device would be a bad way to learn of it.
  if (machine.contains("unusable_gpu")) {
    throw Unsupported("--device auto: " + machine["unusable_gpu"].get<std::string>() +
                      "; --device cpu measures on the CPU");
  }
  say("--device auto: there is no GPU, so the CPU is measured");
  return {"cpu"};
}

/// Of all GPUs that this process sees, for as long as the run goes on.
std::list<GpuLock> lock_gpus(const Device& device) {
  std::list<GpuLock> locks;
  for (const Json& gpu : device.gpus) {
    const std::string uuid = gpu.value("uuid", "");
    if (!uuid.empty()) locks.emplace_back(uuid);
  }
  return locks;
}

/// Those that are of the first one's product, so that rows of a suite compare: by their names in
/// CUDA_VISIBLE_DEVICES.
std::vector<std::string> gpus_of_first_product(const Device& device) {
  const std::vector<std::string> names = names_of_gpus(environment_variables(), device.gpus.size());
  std::vector<std::string> list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (device.gpus[i].at("name") == device.product()) list.push_back(names[i]);
  }
  return list;
}

int list_cases(const Selection& selection, bool json) {
  Json cases = Json::array();
  std::vector<std::vector<std::string>> lines;
  for (const Suite& suite : selection.suites) {
    for (const Case& listed : suite.cases) {
      if (!selection.selects(listed)) continue;
      cases.push_back(listed.to_json());
      const Json* model = listed.find("model.name");
      lines.push_back({suite.name, listed.name, model == nullptr ? "" : model->get<std::string>(),
                       listed.technique_names()});
    }
  }
  print(json ? json_text(cases) : format_table({"suite", "case", "model", "techniques"}, lines));
  return 0;
}

// `headroom run` that a launcher started several times: rank 0 is the runner, the others are its
// agents. `program`: what --version prints.

// Launchers start all ranks at about the same time.
constexpr std::chrono::seconds kMeetingTimeout{60};

/// Waits for the agents. Throws Unsupported where a port is taken or they do not come, or there is
/// no worker.
std::unique_ptr<Agents> meet_agents(const Launch& launch, const std::string& program) {
  const Hello here = hello_of(launch, program, ProgramFile(worker_path()).hash());
  return std::make_unique<Agents>(launch, here, kMeetingTimeout,
                                  [](const std::string& text) { say(text); });
}

/// Is an agent until the runner needs it no longer, and gives the exit code. Throws Unsupported
/// where the runner does not answer, or refuses it; ConfigError as check_environment() does.
int run_agent(const Launch& launch, const std::string& program, bool uses_gpus) {
  check_environment(environment_variables(), uses_gpus);
  ProgramFile worker(worker_path());
  Connection runner =
      call_runner(launch, hello_of(launch, program, worker.hash()), kMeetingTimeout);
  Interrupts interrupts;
  const std::string why = serve_runner(runner, launch, worker, interrupts);
  if (why.empty()) return 0;
  say("rank " + std::to_string(launch.rank) + ": " + why);
  return interrupts.count() > 0 ? kInterrupted : kFailed;
}

int run(const Catalog& catalog, const RunOptions& options) {
  const auto launch = read_launch(environment_variables());
  const bool is_agent = launch && launch->rank > 0;
  if (options.cases.repeat > 1 && options.cases.resume && options.cases.out.empty()) {
    throw ConfigError("--resume: of which repeats? --out says it");
  }
  if (options.list_cases && is_agent) return 0;  // rank 0 prints them
  if (options.list_cases)
    return list_cases(select_cases(catalog, options.cases), options.cases.json);
  const bool uses_gpus = may_use_gpus(catalog, options);
  if (is_agent) return run_agent(*launch, version(catalog), uses_gpus);
  // First of all, so that whatever is wrong here ends the others as well.
  const auto agents = launch ? meet_agents(*launch, version(catalog)) : nullptr;
  check_environment(environment_variables(), uses_gpus);
  SuiteRunOptions run;
  run.agents = agents.get();
  run.worker = worker_path();
  const Device device = choose_device(catalog, options);
  const std::list<GpuLock> locks = lock_gpus(device);
  run.device = device.kind;
  if (!agents) run.gpus = gpus_of_first_product(device);
  if (options.with_plan) run.dry_run = dry_run_of_product(catalog, device.product());
  return run_suites(catalog, options.cases, "out", [&](const Suite&) { return run; });
}

}  // namespace

void add_run(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("run", "Measure the cases of suite files");
  const auto options = std::make_shared<RunOptions>();
  options->cases.add_to(*command, "out");
  command->get_option("SUITE")->required();
  command
      ->add_option("--repeat", options->cases.repeat,
                   "How often to measure the suites, round by round, each into a folder of its own")
      ->check(CLI::Range(1, kMostRepeats))
      ->capture_default_str();
  command->add_option("--device", options->device, "Where to measure: auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  command->add_flag("--with-plan", options->with_plan,
                    "Plan each case as well, for this machine's GPU: the columns planned_*");
  command->add_flag("--list-cases", options->list_cases, "Print the cases, measure nothing");
  command->callback([&line, options] {
    line.action = [&line, options] { return run(line.catalog(), *options); };
  });
}

}  // namespace headroom
