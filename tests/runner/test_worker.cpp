// SPDX-License-Identifier: Apache-2.0
// A worker that measures nothing: it speaks the real protocol and behaves as the case's model says
// (tests/runner/test_catalog.json). Its numbers depend on the case alone.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/runner/test_gpus.h"
#include "tests/runner/test_records.h"

namespace {

using namespace headroom;

std::string nonce;
std::string case_name;
bool has_techniques = false;

/// Which rank this is, and where the ranks meet; no path: it is alone.
struct {
  int rank = 0;
  int ranks = 1;
  std::string store;
} group;

void send_text(const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = write(3, text.data() + sent, text.size() - sent);
    if (count < 0) _exit(9);
    sent += static_cast<std::size_t>(count);
  }
}

void send(Json message) {
  message["nonce"] = nonce;
  send_text(message.dump() + "\n");
}

void send_progress(const char* phase, int step = 0) {
  send({{"event", "progress"}, {"phase", phase}, {"step", step}, {"steps", 3}});
}

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

std::string path_of(int rank, const std::string& what) {
  return group.store + "." + std::to_string(rank) + "." + what;
}

/// Each rank holds a lock for as long as it lives: others see at once that it is gone, as they see
/// a connection that is closed.
void join_group() {
  const std::string path = path_of(group.rank, "alive");
  const std::string before = path + ".new";
  flock(open(before.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), LOCK_EX);
  rename(before.c_str(), path.c_str());
}

bool is_gone(int rank) {
  const int file = open(path_of(rank, "alive").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;  // it has not come yet
  const bool gone = flock(file, LOCK_SH | LOCK_NB) == 0;
  close(file);
  return gone;
}

/// Waits for all ranks, as a collective does. False: one is gone.
bool meet(int step) {
  const std::string here = "step" + std::to_string(step);
  close(open(path_of(group.rank, here).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  for (int rank = 0; rank < group.ranks; ++rank) {
    while (!exists(path_of(rank, here))) {
      if (is_gone(rank) && !exists(path_of(rank, here))) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return true;
}

void send_record(const Json& record) { send({{"event", "record"}, {"record", record}}); }

/// Answers with what a child can see of its surroundings, in the reason.
Json surroundings(Json record) {
  std::string seen;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory's own descriptor
    const std::string target = std::filesystem::read_symlink(entry.path(), gone);
    if (target.find("/proc/") == std::string::npos) seen += entry.path().filename().string() + " ";
  }
  struct sigaction pipe_action;
  sigaction(SIGPIPE, nullptr, &pipe_action);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  seen +=
      pipe_action.sa_handler == SIG_DFL && sigismember(&mask, SIGINT) == 0 ? "plain" : "changed";
  seen += getpgrp() == getpid() ? " leader" : " member";
  record["status"] = "unsupported";
  record["reason"] = seen;
  return record;
}

/// Answers with what a rank is told of its group, in the reason.
Json group_as_told(Json record) {
  struct stat folder {};
  stat(std::filesystem::path(group.store).parent_path().c_str(), &folder);
  const char* threads = std::getenv("OMP_NUM_THREADS");
  record["status"] = "unsupported";
  record["reason"] =
      "rank " + std::to_string(group.rank) + " of " + std::to_string(group.ranks) + ", threads " +
      (threads == nullptr ? "as there are" : threads) + ", store " +
      (group.store.empty()                                             ? "none"
       : group.store.front() == '/' && (folder.st_mode & 0777) == 0700 ? "in a private folder"
                                                                       : "in a wrong place");
  return record;
}

/// Also where a sanitizer has put its own handler.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void leave_grandchild() {
  if (fork() != 0) return;
  setsid();
  prctl(PR_SET_PDEATHSIG, 0);
  std::signal(SIGTERM, SIG_IGN);
  if (fork() == 0) prctl(PR_SET_NAME, "left_behind_two");
  prctl(PR_SET_NAME, "left_behind");
  sleep_for_ever();
}

void eat_memory() {
  std::vector<std::vector<char>> eaten;
  for (;;) eaten.emplace_back(16 * 1024 * 1024, 'x');
}

/// Three steps of all ranks together. Where one is lost: says so, or waits for ever.
void work_together(const Json& record, bool waits_for_lost) {
  for (int step = 1; step <= 3; ++step) {
    send_progress("timing", step);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (meet(step)) continue;
    if (waits_for_lost) sleep_for_ever();
    Json lost = with(with(record, "status", "failed"), "reason", "a collective failed");
    return send_record(with(lost, "peer_lost", true));
  }
  send_record(record);
}

const std::map<std::string, std::function<void(const Json&)>>& behaviours() {
  static const std::map<std::string, std::function<void(const Json&)>> table = {
      {"ok", send_record},
      {"mixes_samples", send_record},
      {"long_record", [](const Json& r) { send_record(as_long_as_can_be(r)); }},
      {"segv", [](const Json&) { crash(); }},
      {"abort", [](const Json&) { std::abort(); }},
      {"exit_3", [](const Json&) { _exit(3); }},
      {"hang", [](const Json&) { sleep_for_ever(); }},
      {"hang_ignoring_term",
       [](const Json&) {
         std::signal(SIGTERM, SIG_IGN);
         sleep_for_ever();
       }},
      {"stop", [](const Json&) { raise(SIGSTOP); }},
      {"chatter",
       [](const Json&) {
         for (int step = 0;; ++step) send_progress("warm_up", step);
       }},
      {"spew_output",
       [](const Json& record) {
         const std::string megabyte(1024 * 1024, 'x');
         for (int i = 0; i < 256; ++i) std::cout << megabyte;
         send_record(record);
       }},
      {"spew_messages",
       [](const Json&) {
         for (;;) send_text(std::string(65536, 'x'));
       }},
      {"flood_messages",
       [](const Json& record) {
         send_record(record);
         for (;;) send_progress("memory");
       }},
      {"no_record", [](const Json&) {}},
      {"wrong_nonce",
       [](const Json& record) {
         nonce = "0123456789abcdef";
         send_record(record);
       }},
      {"two_records",
       [](const Json& record) {
         send_record(record);
         send_record(record);
       }},
      {"broken_json", [](const Json&) { send_text("{\"nonce\": \"" + nonce + "\", \"event\n"); }},
      {"unknown_column", [](const Json& r) { send_record(with_column(r, "luck", 7)); }},
      {"wrong_type", [](const Json& r) { send_record(with_column(r, "parameters", "many")); }},
      {"negative_peak",
       [](const Json& r) { send_record(with_column(r, "run_peak_allocated_bytes", -1)); }},
      {"zero_time", [](const Json& r) { send_record(with_column(r, "step_time_median_ns", 0)); }},
      {"zero_step",
       [](const Json& r) {
         send_record(with(r, "step_time_ns", Json::array({1, 0, 3})));
       }},
      {"peaks_in_wrong_order",
       [](const Json& r) { send_record(with_column(r, "init_peak_allocated_bytes", 1LL << 40)); }},
      {"peak_above_memory",
       [](const Json& r) { send_record(with(r, "device_memory_bytes", 1'000'000)); }},
      {"unknown_status", [](const Json& r) { send_record(with(r, "status", "splendid")); }},
      {"nan_loss",
       [](const Json& r) {
         const double nan = std::numeric_limits<double>::quiet_NaN();
         send_record(with_column(with(r, "loss", {nan}), "first_loss", nan));
       }},
      {"out_of_memory", [](const Json& r) { send_record(out_of_memory(r)); }},
      {"unsupported", [](const Json& r) { send_record(with(r, "status", "unsupported")); }},
      {"inactive", [](const Json& r) { send_record(with(r, "status", "inactive")); }},
      {"failed", [](const Json& r) { send_record(with(r, "status", "failed")); }},
      {"grandchild",
       [](const Json& record) {
         leave_grandchild();
         send_record(record);
       }},
      {"late_crash",
       [](const Json& record) {
         send_record(record);
         crash();
       }},
      {"out_of_memory_then_crash",
       [](const Json& r) {
         send_record(out_of_memory(r));
         crash();
       }},
      {"gpu_breaks",
       [](const Json&) {
         close(open(path_of_broken_gpu().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
         crash();
       }},
      {"meets_another",
       [](const Json& record) {
         meet_another_case(case_name);
         send_record(record);
       }},
      {"waits_for_go",
       [](const Json& record) {
         wait_for_go();
         send_record(record);
       }},
      {"plain_is_slow",
       [](const Json& record) {
         if (!has_techniques) std::this_thread::sleep_for(std::chrono::milliseconds(500));
         send_record(record);
       }},
      {"dry",
       [](const Json& record) {
         leave_report(0);
         send_record(record);
       }},
      {"dry_misses",
       [](const Json& record) {
         if (is_overcommitted()) return send_record(record);
         leave_report(0);
         send_record(out_of_memory(record));
       }},
      {"dry_bound_crashes",
       [](const Json& record) {
         if (is_with_slow_host()) crash();
         leave_report(1);
         send_record(
             with_column(record, "run_peak_reserved_bytes", is_bound() ? 9'000'000 : 8'000'000));
       }},
      {"dry_convolves",
       [](const Json& record) {
         leave_report(0, 1'000'000);
         const int reserved = copying() == "none"      ? 18'000'000
                              : copying() == "forward" ? 17'000'000
                                                       : 19'000'000;
         send_record(with_column(record, "run_peak_reserved_bytes", reserved));
       }},
      {"late_hang",
       [](const Json& record) {
         send_record(record);
         std::cout << "answered" << std::endl;
         sleep_for_ever();
       }},
      {"killed", [](const Json&) { raise(SIGKILL); }},
      {"eat_memory", [](const Json&) { eat_memory(); }},
      {"look_around", [](const Json& record) { send_record(surroundings(record)); }},
      {"tell_group", [](const Json& record) { send_record(group_as_told(record)); }},
      {"together", [](const Json& record) { work_together(record, false); }},
      {"together_hang", [](const Json& record) { work_together(record, true); }},
  };
  return table;
}

/// A file. In place of the port that ranks of several machines are told, one that a test names, and
/// that is the case's alone.
std::string store_of(const Json& request) {
  const Json store = request.value("store", Json(""));
  if (store.is_string()) return store;
  return std::getenv("TEST_STORE") + request["case"]["name"].get<std::string>();
}

/// What this rank is to do: as the model says, or, where that is for one rank alone, as the others.
std::string behaviour_of(const Json& model) {
  const int only_rank = model.value("on_rank", -1);
  const bool is_other = only_rank >= 0 && only_rank != group.rank;
  return model.at(is_other ? "others" : "name");
}

void measure(const Json& request) {
  const Json& request_case = request["case"];
  group = {request.value("rank", 0), request.value("ranks", 1), store_of(request)};
  case_name = request_case["name"];
  has_techniques = !request_case["techniques"].empty();
  if (!group.store.empty()) join_group();
  if (request.contains("snapshot")) {
    std::ofstream(request["snapshot"].get<std::string>()) << (is_bound() ? "bound" : "estimated");
  }
  send_progress("start");
  send_progress("warm_up", 2);
  std::cout << "this is " << request_case["name"] << " in rank " << group.rank << std::endl;
  if (std::getenv("TEST_GPUS") != nullptr) {
    std::cout << "sees GPUs " << visible_gpus() << std::endl;
  }
  const Json record = record_of(request_case, group.rank);
  if (!hold_gpu(group.rank, group.ranks)) {
    return send_record(with(with(record, "status", "failed"), "reason", "its GPU is held"));
  }
  std::this_thread::sleep_for(
      std::chrono::milliseconds(request_case["train"]["work_ms"].get<int>()));
  behaviours().at(behaviour_of(request_case["model"]))(record);
}

Json answer(const Json& request) {
  if (request["request"] == "doctor") {
    const char* unusable = std::getenv("TEST_UNUSABLE_GPU");
    Json machine = {{"gpus", list_gpus()}};
    if (unusable != nullptr) machine["unusable_gpu"] = unusable;
    return machine;
  }
  if (request["request"] == "inspect") {
    return {{"parameters", {{{"name", "head.weight"}, {"shape", {10, 4}}, {"bytes", 160}}}},
            {"parameter_bytes", 160},
            {"asked", request}};
  }
  return {{"asked", request}};
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json request = Json::parse(text);
  nonce = request["nonce"];
  if (request["request"] == "measure") {
    measure(request);
  } else if (request["request"] == "probe") {
    std::cout << "probes GPUs " << visible_gpus() << std::endl;
    send_record(probe_gpus(request["gpus"]));
  } else {
    send_record({{"status", "ok"}, {"reason", ""}, {"result", answer(request)}});
  }
}
