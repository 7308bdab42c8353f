// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/timeline.h"

#include <algorithm>

#include "src/dry_run/settings.h"

namespace headroom::dry_run {
namespace {

template <class Map, class Key>
auto* find_in(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// Who asks. A thread that asks on and on and queues nothing in between waits in fact: each of its
/// questions comes twice as late as the one before. It waits for itself alone, since a thread that
/// looks on (NCCL's watchdog does, as often as real time lets it) must not change what others see.
struct Asker {
  bool queues_work = false;
  int questions = 0;  // since it last queued work
  std::optional<std::int64_t> looks_at_ns{};
};
thread_local Asker asker;
constexpr int kMaxDoublings = 40;  // 18 minutes

bool break_graph(Capture* capture) {
  if (capture != nullptr) capture->is_broken = true;
  return capture != nullptr;
}

constexpr std::uintptr_t kDefaultStreams = 3;  // null, cudaStreamLegacy and cudaStreamPerThread

}  // namespace

/// Default streams have the same handles on each device; made ones lie far above these.
cudaStream_t Timeline::key(cudaStream_t handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number >= kDefaultStreams) return handle;
  const auto device = static_cast<std::uintptr_t>(current_device());
  return reinterpret_cast<cudaStream_t>(number + device * kDefaultStreams);
}

cudaStream_t Timeline::make_stream(int priority) {
  const std::lock_guard lock(mutex_);
  const auto handle = reinterpret_cast<cudaStream_t>(next_handle_ += 16);
  streams_[handle].priority = priority;
  return handle;
}

void Timeline::drop_stream(cudaStream_t handle) {
  const std::lock_guard lock(mutex_);
  streams_.erase(key(handle));
}

int Timeline::priority(cudaStream_t handle) const {
  const std::lock_guard lock(mutex_);
  const Stream* found = find_in(streams_, key(handle));
  return found == nullptr ? 0 : found->priority;
}

/// Before the host queues work or waits.
std::unique_lock<std::mutex> Timeline::lock_after_python() {
  const Moment python = pace_.python_ns();
  std::unique_lock lock(mutex_);
  for (std::size_t host = 0; host < kHosts; ++host) host_now_[host] += python[host];
  return lock;
}

bool Timeline::run(cudaStream_t handle, const Work& work) {
  const auto lock = lock_after_python();
  Stream& on = stream(handle);
  if (on.capture != nullptr) {
    on.capture->work += work;
    ++on.capture->nodes;
    return false;
  }
  asker = {.queues_work = true, .questions = 0};
  wait_for_place(on);
  ++on.queued;
  Moment launch = pace_.launch_ns(work);
  launch[static_cast<std::size_t>(Host::played)] = std::max<std::int64_t>(host_ns_, 0);
  for (std::size_t host = 0; host < kHosts; ++host) host_now_[host] += launch[host];
  const Moment begin = later(on.free_at, host_now_);
  const LimitedClock full(power_);
  Clocks& clocks = clocks_.try_emplace(on.device, Clocks{full, full, full}).first->second;
  for (std::size_t host = 0; host < kHosts; ++host) {
    const Work lasting = clocks[host].run(work, begin[host]);
    on.free_at[host] = begin[host] + lasting.all_ns();
    if (host == static_cast<std::size_t>(Host::usual)) done_[on.device] += lasting;
  }
  on.ends.push_back(on.free_at);
  // The slowest host there can be: it asks for nothing before the device is done with the last.
  const bool waits_for_it = launches_wait_ && work.launches > 0;
  if (host_ns_ == Settings::kSlowHost || waits_for_it) catch_up(on.free_at);
  return true;
}

cudaEvent_t Timeline::make_event() {
  const std::lock_guard lock(mutex_);
  const auto handle = reinterpret_cast<cudaEvent_t>(next_handle_ += 16);
  events_[handle] = {};
  return handle;
}

void Timeline::drop_event(cudaEvent_t handle) {
  const std::lock_guard lock(mutex_);
  events_.erase(handle);
}

void Timeline::record(cudaEvent_t handle, cudaStream_t on) {
  const std::lock_guard lock(mutex_);
  const Stream& from = stream(on);
  events_[handle] = {from.free_at, key(on), from.queued, from.capture};
}

void Timeline::wait(cudaStream_t handle, cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  const Event* found = find_in(events_, event);
  if (found == nullptr) return;
  Stream& waiting = stream(handle);
  if (found->capture != nullptr) waiting.capture = found->capture;
  waiting.free_at = later(waiting.free_at, found->over_at);
}

Moment Timeline::free_at(cudaStream_t handle) const {
  const std::lock_guard lock(mutex_);
  const Stream* found = find_in(streams_, key(handle));
  return found == nullptr ? Moment{} : found->free_at;
}

void Timeline::wait(cudaStream_t handle, const Moment& moment) {
  const std::lock_guard lock(mutex_);
  Stream& waiting = stream(handle);
  if (waiting.capture != nullptr) return;
  waiting.free_at = later(waiting.free_at, moment);
  if (host_ns_ == Settings::kSlowHost || launches_wait_) catch_up(waiting.free_at);
}

bool Timeline::is_over(cudaEvent_t handle, bool looks_on) {
  const std::lock_guard lock(mutex_);
  const Event* event = find_in(events_, handle);
  if (event == nullptr || event->over_at == Moment{}) return true;
  const Stream& on = streams_[event->stream];
  if (asker.queues_work && event->queued > on.waited) ++undecided_[on.device];
  return is_over_for_asker(by(Host::played, event->over_at), looks_on);
}

bool Timeline::is_idle(cudaStream_t handle) {
  const std::lock_guard lock(mutex_);
  const Stream& asked = stream(handle);
  if (asker.queues_work && asked.queued > asked.waited) ++undecided_[asked.device];
  return is_over_for_asker(by(Host::played, asked.free_at), /*looks_on=*/false);
}

void Timeline::look_on(std::optional<std::int64_t> at_ns) { asker.looks_at_ns = at_ns; }

void Timeline::synchronize(cudaEvent_t handle) {
  const auto lock = lock_after_python();
  const Event* event = find_in(events_, handle);
  if (event == nullptr) return;
  catch_up(event->over_at);
  Stream& on = streams_[event->stream];
  on.waited = std::max(on.waited, event->queued);
}

void Timeline::synchronize(cudaStream_t handle) {
  const auto lock = lock_after_python();
  Stream& on = stream(handle);
  catch_up(on.free_at);
  on.waited = on.queued;
}

void Timeline::synchronize_device(int device) {
  const auto lock = lock_after_python();
  for (auto& [handle, each] : streams_) {
    if (each.device != device) continue;
    catch_up(each.free_at);
    each.waited = each.queued;
  }
}

void Timeline::keep_host_busy(const Moment& ns) {
  const std::lock_guard lock(mutex_);
  if (host_ns_ == 0) return;
  for (std::size_t host = 0; host < kHosts; ++host) host_now_[host] += ns[host];
}

Moment Timeline::host_now() const {
  const std::lock_guard lock(mutex_);
  return host_now_;
}

void Timeline::wait_on_host(const Moment& moment) {
  const auto lock = lock_after_python();
  catch_up(moment);
}

std::int64_t Timeline::elapsed_ns(cudaEvent_t from, cudaEvent_t to) const {
  const std::lock_guard lock(mutex_);
  const Event* first = find_in(events_, from);
  const Event* last = find_in(events_, to);
  if (first == nullptr || last == nullptr) return 0;
  return by(Host::played, last->over_at) - by(Host::played, first->over_at);
}

void Timeline::begin_capture(cudaStream_t handle) {
  const std::lock_guard lock(mutex_);
  stream(handle).capture = new Capture{++captures_};
}

Capture* Timeline::end_capture(cudaStream_t handle) {
  const std::lock_guard lock(mutex_);
  Capture* capture = stream(handle).capture;
  for (auto& [other, each] : streams_) {
    if (each.capture == capture) each.capture = nullptr;
  }
  for (auto& [other, each] : events_) {
    if (each.capture == capture) each.capture = nullptr;
  }
  return capture;
}

const Capture* Timeline::capture_of(cudaStream_t handle) const {
  const std::lock_guard lock(mutex_);
  const Stream* found = find_in(streams_, key(handle));
  return found == nullptr ? nullptr : found->capture;
}

bool Timeline::breaks_capture(cudaStream_t handle) {
  const std::lock_guard lock(mutex_);
  const Stream* found = find_in(streams_, key(handle));
  return found != nullptr && break_graph(found->capture);
}

bool Timeline::breaks_capture(cudaEvent_t handle) {
  const std::lock_guard lock(mutex_);
  const Event* found = find_in(events_, handle);
  return found != nullptr && break_graph(found->capture);
}

bool Timeline::breaks_capture_of_device(int device) {
  const std::lock_guard lock(mutex_);
  bool breaks = false;
  for (auto& [handle, each] : streams_)
    breaks |= each.device == device && break_graph(each.capture);
  return breaks;
}

Moment Timeline::now(int device) const {
  const std::lock_guard lock(mutex_);
  Moment now = host_now_;
  for (const auto& [handle, each] : streams_) {
    if (each.device == device) now = later(now, each.free_at);
  }
  return now;
}

std::int64_t Timeline::host_now_ns() const {
  const std::lock_guard lock(mutex_);
  return by(Host::played, host_now_);
}

Work Timeline::done(int device) const {
  const std::lock_guard lock(mutex_);
  const Work* found = find_in(done_, device);
  return found == nullptr ? Work{} : *found;
}

std::int64_t Timeline::undecided_questions(int device) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t* found = find_in(undecided_, device);
  return found == nullptr ? 0 : *found;
}

void Timeline::wait_for_place(Stream& stream) {
  if (static_cast<std::int64_t>(stream.ends.size()) < launch_queue_) return;
  catch_up(stream.ends.front());
  stream.ends.pop_front();
  stream.waited = std::max(stream.waited, stream.queued - launch_queue_ + 1);
}

bool Timeline::is_over_for_asker(std::int64_t ns, bool looks_on) const {
  if (asker.looks_at_ns) return ns <= *asker.looks_at_ns;
  const std::int64_t now = by(Host::played, host_now_);
  if (ns <= now) return true;
  if (looks_on) return false;
  const int doublings = std::min(asker.questions++, kMaxDoublings);
  return ns <= now + (std::int64_t{1} << doublings) - 1;  // the first comes at once
}

void Timeline::catch_up(const Moment& moment) { host_now_ = later(host_now_, moment); }

}  // namespace headroom::dry_run
