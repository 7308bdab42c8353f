// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "src/dry_run/current_device.h"
#include "src/dry_run/host_pace.h"
#include "src/dry_run/limited_clock.h"
#include "src/dry_run/moment.h"
#include "src/dry_run/work.h"

namespace headroom::dry_run {

/// A graph that is being captured, or was: what its launch will take.
struct Capture {
  unsigned long long id = 0;
  Work work{};  // of all
  std::int64_t nodes = 0;
  bool is_broken = false;  // the host asked for a result, and a graph has none yet
};

/// When things happen on the devices of this process. No time passes really: work that is queued on
/// a stream starts when the stream is free and the host has asked for it, and lasts as long as it
/// is said to; the host takes a fixed time for each piece of work it queues, and catches up where
/// it waits, be it for a place in a stream's queue. That decides which events are over when the
/// program asks, by which PyTorch's allocator decides which blocks it may use again. The clocks of
/// a usual host, whose time depends on what it queues (HostPace), and of a slow one run beside, and
/// decide nothing but how long steps take. Safe to call from any thread. Times in nanoseconds since
/// the start.
///
/// As in CUDA, a stream is any handle that was made here, on the device that was current then, or
/// one of the default streams, of which each device has its own: a null handle is that of the
/// current device. The default stream does not wait for others (PyTorch makes all of its streams
/// non-blocking). There is one host, and so one host's time, for all devices.
class Timeline {
 public:
  /// The first two and the last: see Settings. `power`: of each device.
  Timeline(std::int64_t host_ns, std::int64_t launch_queue, const HostPace& pace,
           const Power& power = {}, bool launches_wait = false)
      : host_ns_(host_ns),
        launch_queue_(launch_queue),
        pace_(pace),
        power_(power),
        launches_wait_(launches_wait) {}

  cudaStream_t make_stream(int priority);
  void drop_stream(cudaStream_t stream);
  int priority(cudaStream_t stream) const;

  /// Queues work on the stream. False: it went into the graph that the stream captures, so that
  /// nothing runs.
  bool run(cudaStream_t stream, const Work& work);

  cudaEvent_t make_event();
  void drop_event(cudaEvent_t event);
  void record(cudaEvent_t event, cudaStream_t stream);
  /// What is queued on `stream` from now on starts after the event.
  void wait(cudaStream_t stream, cudaEvent_t event);
  /// When the stream is done with all that was queued on it so far.
  Moment free_at(cudaStream_t stream) const;
  /// The last work that was queued on `stream` ends no earlier.
  void wait(cudaStream_t stream, const Moment& moment);
  /// Whether it is over by the host's clock. An event that was never recorded is. A thread that
  /// asks until it is over gets on: time passes for it, unless it only looks on.
  bool is_over(cudaEvent_t event, bool looks_on = false);
  bool is_idle(cudaStream_t stream);
  /// From now on this thread asks what was over at that time of the host's, and waits for nothing.
  /// None: what is over now, and it waits by asking.
  static void look_on(std::optional<std::int64_t> at_ns);
  /// The host waits.
  void synchronize(cudaEvent_t event);
  void synchronize(cudaStream_t stream);
  void synchronize_device(int device = current_device());
  /// Each host, or all, computes for so long, unless it takes no time for anything.
  void keep_host_busy(const Moment& ns);
  void keep_host_busy(std::int64_t ns) { keep_host_busy({ns, ns, ns}); }
  Moment host_now() const;
  /// The host waits.
  void wait_on_host(const Moment& moment);
  /// From the end of one event to that of another.
  std::int64_t elapsed_ns(cudaEvent_t from, cudaEvent_t to) const;

  /// Work on the stream goes into a graph from here to end_capture(), and so does work on streams
  /// that wait for it.
  void begin_capture(cudaStream_t stream);
  /// Null where the stream captures nothing. The caller owns it.
  Capture* end_capture(cudaStream_t stream);
  const Capture* capture_of(cudaStream_t stream) const;
  /// Before the host asks for the state of it: whether it is being captured. Its graph is broken
  /// then.
  bool breaks_capture(cudaStream_t stream);
  bool breaks_capture(cudaEvent_t event);
  bool breaks_capture_of_device(int device = current_device());

  /// When a device is done with all that was queued so far, and the host with queueing it.
  Moment now(int device = current_device()) const;
  /// That of the host that is played.
  std::int64_t now_ns(int device = current_device()) const { return by(Host::played, now(device)); }
  /// Its time. Behind a wait it is that of what was waited for.
  std::int64_t host_now_ns() const;
  /// What ran on a device so far, graphs among it, by the usual host's clock.
  Work done(int device = current_device()) const;
  /// How often the program asked for the state of an event that no wait of its own decides, so that
  /// a faster or slower host may get another answer: of events on this device.
  std::int64_t undecided_questions(int device = current_device()) const;

 private:
  struct Stream {
    int device = current_device();
    int priority = 0;
    Moment free_at{};
    std::int64_t queued = 0;    // pieces of work so far
    std::int64_t waited = 0;    // how many of them the host has waited for
    std::deque<Moment> ends{};  // of the last ones, as many as the queue holds
    Capture* capture = nullptr;
  };
  struct Event {
    Moment over_at{};
    cudaStream_t stream = nullptr;
    std::int64_t queued = 0;  // on that stream, when it was recorded
    Capture* capture = nullptr;
  };

  using Clocks = std::array<LimitedClock, kHosts>;

  static cudaStream_t key(cudaStream_t handle);
  Stream& stream(cudaStream_t handle) { return streams_[key(handle)]; }
  std::unique_lock<std::mutex> lock_after_python();
  void wait_for_place(Stream& stream);
  bool is_over_for_asker(std::int64_t ns, bool looks_on) const;
  void catch_up(const Moment& moment);

  const std::int64_t host_ns_;
  const std::int64_t launch_queue_;
  const HostPace pace_;
  const Power power_;
  const bool launches_wait_;
  mutable std::mutex mutex_;
  std::map<cudaStream_t, Stream> streams_;  // by key()
  std::map<cudaEvent_t, Event> events_;
  std::uintptr_t next_handle_ = 0x1000;
  unsigned long long captures_ = 0;
  Moment host_now_{};
  std::map<int, std::int64_t> undecided_;  // by device
  std::map<int, Work> done_;               // likewise
  std::map<int, Clocks> clocks_;           // likewise
};

}  // namespace headroom::dry_run
