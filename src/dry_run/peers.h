// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headroom::dry_run {

/// The ranks of one communicator where each is a process of this machine that runs dry. They tell
/// each other what is known of what they send, and wait for each other as ranks on GPUs do. Each
/// rank has files that only it writes and that only grow, in a folder that all share; so telling
/// never waits, and no rank can take what is another's. One thread at a time, but for abort().
class Peers {
 public:
  /// What one rank tells; empty: nothing is known.
  using Message = std::vector<unsigned char>;

  /// `path`: of the files of this communicator, up to what tells them apart. It is unlike that of
  /// any other one, and the same on all its ranks.
  Peers(std::string path, int ranks, int rank);

  /// Tells all ranks.
  void post(const Message& message);
  /// What each rank posted, by rank: as many posts back as this one has gathered less. Waits until
  /// all are there. Where abort() ends that, what is missing is empty.
  std::vector<Message> gather();

  /// Tells one rank, in order.
  void send(int to, const Message& message);
  Message receive(int from);

  /// Ends all waiting, from any thread.
  void abort() { is_aborted_ = true; }

  const std::string& path() const { return path_; }
  int posts() const { return posts_; }

 private:
  Message wait_for(const std::string& file, int from);

  const std::string path_;
  const int ranks_;
  const int rank_;
  int posts_ = 0;
  std::map<std::string, std::int64_t> read_;  // of each file, bytes so far
  std::atomic<bool> is_aborted_ = false;
};

}  // namespace headroom::dry_run
