// SPDX-License-Identifier: Apache-2.0
// The clock that decides which events are over.
#include "src/dry_run/timeline.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "src/dry_run/settings.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kHostNs = 10;
constexpr std::int64_t kLaunchQueue = 1'000'000;  // never full here
constexpr std::int64_t kUsualNs = 25'000;

constexpr Moment pace(const Work&) { return {0, kUsualNs, kSlowLaunchNs}; }
constexpr HostPace kPace{&pace, [] { return Moment{}; }};

Work lasting(std::int64_t ns) { return {.ns = {ns}}; }

/// The event behind work of `ns`, which is queued now.
cudaEvent_t run(Timeline& timeline, cudaStream_t stream, std::int64_t ns) {
  const cudaEvent_t event = timeline.make_event();
  timeline.run(stream, lasting(ns));
  timeline.record(event, stream);
  return event;
}

TEST(Timeline, WorkOnAStreamFollowsTheWorkBefore) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaStream_t stream = timeline.make_stream(0);
  const cudaEvent_t first = run(timeline, stream, 1000);
  const cudaEvent_t second = run(timeline, stream, 500);
  EXPECT_EQ(timeline.elapsed_ns(first, second), 500);
  EXPECT_EQ(timeline.now_ns(), kHostNs + 1500);  // the host's second launch fell into the first
}

TEST(Timeline, TheDeviceWaitsForASlowerHost) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaEvent_t event = timeline.make_event();
  for (int i = 0; i < 5; ++i) timeline.run(nullptr, lasting(1));
  timeline.record(event, nullptr);
  EXPECT_EQ(timeline.now_ns(), 5 * kHostNs + 1);
  EXPECT_FALSE(timeline.is_over(event));
  timeline.synchronize(event);
  EXPECT_TRUE(timeline.is_over(event));
}

TEST(Timeline, AGpuThatWaitsForItsHostKeepsItsClock) {
  const Power power{
      .limit_watts = 100, .idle_watts = 20, .joules_per_flop = 1, .joules_per_byte = 1};
  Timeline timeline(kHostNs, kLaunchQueue, kPace, power);
  Work product = lasting(10'000);
  product.computing_joules = 160e-5;  // 160 W: one of the usual host waits for 15 us of 25
  constexpr std::int64_t kProducts = 100'000;
  for (std::int64_t i = 0; i < kProducts; ++i) timeline.run(nullptr, product);
  const Moment end = timeline.now();
  EXPECT_GT(by(Host::played, end), 13'500 * kProducts);
  EXPECT_EQ(by(Host::usual, end), kUsualNs * kProducts + 10'000);
  EXPECT_EQ(by(Host::slow, end), kSlowLaunchNs * kProducts + 10'000);
  EXPECT_EQ(timeline.done().all_ns(), 10'000 * kProducts) << "by the usual host";
}

TEST(Timeline, UsualAndSlowHostsAreFollowedBesideTheOneThatDecides) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaEvent_t event = timeline.make_event();
  for (int i = 0; i < 4; ++i) timeline.run(nullptr, lasting(30'000));
  timeline.record(event, nullptr);
  constexpr std::int64_t kUsual = kUsualNs + 4 * 30'000;      // the device is slower
  constexpr std::int64_t kSlow = 4 * kSlowLaunchNs + 30'000;  // the host is
  EXPECT_EQ(timeline.now(), (Moment{kHostNs + 120'000, kUsual, kSlow}));
  EXPECT_FALSE(timeline.is_over(event)) << "by the host that decides";
  timeline.synchronize(event);
  timeline.run(nullptr, lasting(1));  // each host went on when the device was done
  EXPECT_EQ(timeline.now(),
            (Moment{2 * kHostNs + 120'001, kUsual + kUsualNs + 1, kSlow + kSlowLaunchNs + 1}));
}

TEST(Timeline, WhatTheHostComputesPassesBesideTheDevice) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  timeline.run(nullptr, lasting(300));
  timeline.keep_host_busy(1000);
  EXPECT_EQ(timeline.now_ns(), kHostNs + 1000);
  timeline.run(nullptr, lasting(1));
  EXPECT_EQ(timeline.now_ns(), 2 * kHostNs + 1001);
  Timeline timeless(/*host_ns=*/0, kLaunchQueue, kPace);
  timeless.keep_host_busy(1000);
  EXPECT_EQ(timeless.now_ns(), 0);
}

TEST(Timeline, AHostRunsPythonBeforeItQueuesOrWaits) {
  constexpr HostPace kPythonPace{&pace, [] { return Moment{0, 400, 700}; }};
  Timeline timeline(kHostNs, kLaunchQueue, kPythonPace);
  timeline.run(nullptr, lasting(100));
  EXPECT_EQ(timeline.host_now(), (Moment{kHostNs, kUsualNs + 400, kSlowLaunchNs + 700}));
  timeline.synchronize_device();  // by then the usual and the slow host have waited long enough
  EXPECT_EQ(timeline.host_now(), (Moment{kHostNs + 100, kUsualNs + 800, kSlowLaunchNs + 1400}));
}

TEST(Timeline, SumsWhatADeviceDid) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  timeline.run(nullptr, {.ns = {100, 0, 7}, .launches = 1, .product_flops = 3});
  timeline.run(timeline.make_stream(0), {.ns = {0, 0, 5}, .launches = 1});
  const Work done = timeline.done();
  EXPECT_EQ(done.ns, (std::array<std::int64_t, kWorkKinds>{100, 0, 12}));
  EXPECT_EQ(done.launches, 2);
  EXPECT_EQ(done.product_flops, 3);
  EXPECT_EQ(timeline.done(/*device=*/1).all_ns(), 0);
}

TEST(Timeline, StreamsRunBesideEachOtherUnlessOneWaits) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaStream_t compute = timeline.make_stream(0);
  const cudaStream_t copies = timeline.make_stream(0);
  const cudaEvent_t computed = run(timeline, compute, 1000);
  const cudaEvent_t beside = run(timeline, copies, 100);
  timeline.wait(copies, computed);
  const cudaEvent_t behind = run(timeline, copies, 100);
  EXPECT_LT(timeline.elapsed_ns(computed, beside), 0);
  EXPECT_EQ(timeline.elapsed_ns(computed, behind), 100);
}

TEST(Timeline, TheHostSeesAnEventWhenItHasTakenThatLong) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaStream_t copies = timeline.make_stream(0);
  const cudaEvent_t copied = run(timeline, copies, 35);
  EXPECT_FALSE(timeline.is_over(copied));
  for (int i = 0; i < 4; ++i)
    timeline.run(nullptr, lasting(1));  // the host launches something else
  EXPECT_TRUE(timeline.is_over(copied));
}

TEST(Timeline, DevicesHaveStreamsOfTheirOwnAndOneHost) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaEvent_t first = run(timeline, nullptr, 1000);
  set_current_device(1);
  const cudaEvent_t second = run(timeline, nullptr, 100);  // beside the first
  EXPECT_EQ(timeline.now_ns(0), kHostNs + 1000);
  EXPECT_EQ(timeline.now_ns(1), 2 * kHostNs + 100);
  EXPECT_FALSE(timeline.is_over(second));
  EXPECT_EQ(timeline.undecided_questions(0), 0);
  EXPECT_EQ(timeline.undecided_questions(1), 1);
  timeline.synchronize_device();  // the second alone
  EXPECT_TRUE(timeline.is_over(second));
  EXPECT_FALSE(timeline.is_over(first));
  timeline.wait(nullptr, first);
  EXPECT_EQ(timeline.now_ns(1), kHostNs + 1000);
  const cudaStream_t made = timeline.make_stream(0);
  set_current_device(0);
  timeline.run(made, lasting(5000));  // a stream is on the device on which it was made
  EXPECT_EQ(timeline.now_ns(0), kHostNs + 1000);
  EXPECT_GT(timeline.now_ns(1), 5000);
}

/// The state of an event of a copy stream after `launches` on another, by the host's pace.
bool is_over_after(std::int64_t host_ns, int launches) {
  Timeline timeline(host_ns, kLaunchQueue, kPace);
  const cudaStream_t copies = timeline.make_stream(0);
  const cudaEvent_t copied = run(timeline, copies, 1'000'000);
  for (int i = 0; i < launches; ++i) timeline.run(nullptr, lasting(1));
  return timeline.is_over(copied);
}

TEST(Timeline, TheBoundsAreAHostThatTakesNoTimeAndOneThatWaits) {
  EXPECT_FALSE(is_over_after(/*host_ns=*/0, 1'000'000));
  EXPECT_TRUE(is_over_after(Settings::kSlowHost, 0));
  EXPECT_FALSE(is_over_after(kHostNs, 99'000));
  EXPECT_TRUE(is_over_after(kHostNs, 100'001));
}

TEST(Timeline, AFullQueueHoldsTheHostUp) {
  Timeline timeline(/*host_ns=*/0, /*launch_queue=*/3, kPace);
  const cudaStream_t stream = timeline.make_stream(0);
  const cudaEvent_t first = run(timeline, stream, 100);
  const cudaEvent_t second = run(timeline, stream, 100);
  timeline.run(stream, lasting(100));
  timeline.run(nullptr, lasting(1));  // another stream has a queue of its own
  EXPECT_FALSE(timeline.is_over(first));
  EXPECT_EQ(timeline.undecided_questions(), 1);
  timeline.run(stream, lasting(100));
  EXPECT_TRUE(timeline.is_over(first));  // whatever the host's pace
  EXPECT_EQ(timeline.undecided_questions(), 1);
  EXPECT_FALSE(timeline.is_over(second));
  EXPECT_EQ(timeline.undecided_questions(), 2);
  EXPECT_EQ(timeline.now_ns(), 400);  // the device is no later for it
}

TEST(Timeline, ALaunchMayWaitForItsKernelAndACopyGoesOn) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace, /*power=*/{}, /*launches_wait=*/true);
  const cudaStream_t stream = timeline.make_stream(0);
  const cudaEvent_t copied = run(timeline, stream, 1000);
  EXPECT_FALSE(timeline.is_over(copied));
  Work kernel = lasting(1000);
  kernel.launches = 1;
  timeline.run(stream, kernel);
  EXPECT_EQ(timeline.host_now_ns(), timeline.now_ns());
  timeline.run(stream, kernel);
  EXPECT_EQ(timeline.now_ns(), kHostNs + 1000 + 1000 + kHostNs + 1000);  // the last launch shows
  timeline.wait(stream, Moment{9000, 9000, 9000});  // it lasts until other ranks are there
  EXPECT_EQ(timeline.host_now_ns(), 9000);
}

TEST(Timeline, CountsTheQuestionsThatThePaceDecides) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaStream_t stream = timeline.make_stream(0);
  const cudaEvent_t event = timeline.make_event();
  EXPECT_TRUE(timeline.is_over(event));  // never recorded
  timeline.run(stream, lasting(1000));
  timeline.record(event, stream);
  timeline.synchronize(stream);
  EXPECT_TRUE(timeline.is_over(event));
  EXPECT_TRUE(timeline.is_idle(stream));
  EXPECT_EQ(timeline.undecided_questions(), 0);
  timeline.run(stream, lasting(1000));
  EXPECT_FALSE(timeline.is_idle(stream));
  EXPECT_TRUE(timeline.is_over(event));  // what it stands for was waited for
  EXPECT_EQ(timeline.undecided_questions(), 1);
  timeline.record(event, stream);
  EXPECT_FALSE(timeline.is_over(event));
  EXPECT_EQ(timeline.undecided_questions(), 2);
  timeline.synchronize_device();
  EXPECT_TRUE(timeline.is_over(event));
  EXPECT_EQ(timeline.undecided_questions(), 2);
}

TEST(Timeline, TimePassesForAThreadThatAsksOnAndOnButNotForOneThatLooksOn) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaEvent_t event = run(timeline, timeline.make_stream(0), 1'000'000);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(timeline.is_over(event, /*looks_on=*/true));
  int questions = 0;
  while (!timeline.is_over(event)) ++questions;
  EXPECT_EQ(questions, 20) << "each comes twice as late as the one before: 2^20 ns";
  EXPECT_FALSE(timeline.is_over(event, /*looks_on=*/true)) << "by its own clock it is no later";
}

TEST(Timeline, AThreadThatLookedEarlierSawWhatWasOverThen) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaEvent_t event = run(timeline, timeline.make_stream(0), 1'000'000);
  timeline.synchronize(event);
  const std::int64_t over = timeline.host_now_ns();
  std::thread([&] {
    Timeline::look_on(over - 1);
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(timeline.is_over(event));
    Timeline::look_on(over);
    EXPECT_TRUE(timeline.is_over(event));
  }).join();
  EXPECT_TRUE(timeline.is_over(event));
}

TEST(Timeline, AGraphTakesWhatItsNodesTake) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaStream_t first = timeline.make_stream(0);
  const cudaStream_t second = timeline.make_stream(0);
  const cudaEvent_t fork = timeline.make_event();
  timeline.begin_capture(first);
  timeline.record(fork, first);
  timeline.wait(second, fork);  // the second stream joins the graph
  EXPECT_EQ(timeline.capture_of(second), timeline.capture_of(first));
  EXPECT_FALSE(timeline.run(first, {.ns = {100}, .launches = 1, .product_flops = 7}));
  EXPECT_FALSE(timeline.run(second, {.ns = {0, 30}, .launches = 1}));
  const std::unique_ptr<const Capture> graph(timeline.end_capture(first));
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(graph->nodes, 2);
  EXPECT_EQ(graph->work.launches, 2);
  EXPECT_EQ(graph->work.product_flops, 7);
  EXPECT_FALSE(graph->is_broken);
  EXPECT_EQ(graph->work.all_ns(), 130);
  EXPECT_EQ(timeline.capture_of(second), nullptr);
  EXPECT_EQ(timeline.now_ns(), 0);  // nothing ran
  EXPECT_TRUE(timeline.run(first, lasting(100)));
}

TEST(Timeline, WorkEndsNoEarlierThanThatOfAnotherRank) {
  Timeline timeline(kHostNs, kLaunchQueue, kPace);
  const cudaStream_t stream = timeline.make_stream(0);
  const cudaEvent_t before = run(timeline, stream, 100);
  timeline.run(stream, lasting(100));
  const Moment end = timeline.free_at(stream);
  Moment of_another = end;
  for (std::int64_t& each : of_another) each += 700;
  timeline.wait(stream, of_another);
  timeline.wait(stream, end);  // that of a rank which came first
  EXPECT_EQ(timeline.elapsed_ns(before, run(timeline, stream, 0)), 800);
}

// CUDA refuses such questions while a stream captures, and the graph with them.
TEST(Timeline, AQuestionAboutWhatIsCapturedBreaksTheGraph) {
  using Question = bool (*)(Timeline&, cudaStream_t);
  const Question questions[] = {
      [](Timeline& timeline, cudaStream_t stream) { return timeline.breaks_capture(stream); },
      [](Timeline& timeline, cudaStream_t stream) {
        return timeline.breaks_capture(run(timeline, stream, 100));
      },
      [](Timeline& timeline, cudaStream_t) { return timeline.breaks_capture_of_device(); }};
  for (const Question asks : questions) {
    Timeline timeline(kHostNs, kLaunchQueue, kPace);
    const cudaStream_t stream = timeline.make_stream(0);
    const cudaEvent_t before = run(timeline, stream, 100);
    EXPECT_FALSE(asks(timeline, stream));
    timeline.begin_capture(stream);
    EXPECT_FALSE(timeline.breaks_capture(before));
    EXPECT_FALSE(timeline.capture_of(stream)->is_broken);
    EXPECT_TRUE(asks(timeline, stream));
    const std::unique_ptr<const Capture> graph(timeline.end_capture(stream));
    EXPECT_TRUE(graph->is_broken);
    EXPECT_FALSE(asks(timeline, stream));
  }
}

}  // namespace
}  // namespace headroom::dry_run
