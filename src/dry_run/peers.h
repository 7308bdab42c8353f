// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headroom::dry_run {

/// The ranks of one communicator, processes of this machine that run dry. They tell each other what
/// is known of what they send. Each rank has files that only it writes and that only grow, in a
/// folder that all share; so telling never waits, and no rank can take what is another's. One
/// thread at a time, but for abort().
class Peers {
 public:
  enum class Others {
    live,    // all of them run: who waits for one, waits until it comes, or aborts where it ended
    earlier  // some have run before, and the rest never come: nobody waits
  };

  /// What one rank tells; empty: nothing is known.
  using Message = std::vector<unsigned char>;

  /// `path`: of the files of this communicator, up to what tells them apart. It is unlike that of
  /// any other one, and the same on all its ranks. What this rank told when it ran before is gone.
  Peers(std::string path, int ranks, int rank, Others others);

  /// Tells all ranks.
  void post(const Message& message);
  /// What each rank posted, by rank: as many posts back as this one has gathered less. Waits until
  /// all are there. Where abort() ends that, what is missing is empty. Of one that never comes it
  /// is what this one posted.
  std::vector<Message> gather();

  /// Tells one rank, in order.
  void send(int to, const Message& message);
  /// Empty where that rank never comes.
  Message receive(int from);

  /// Ends all waiting, from any thread.
  void abort() { is_aborted_ = true; }

  bool are_live() const { return others_ == Others::live; }
  const std::string& path() const { return path_; }
  int posts() const { return posts_; }

 private:
  std::optional<Message> take(const std::string& file, int from);
  [[noreturn]] void end_without(int rank) const;
  std::string file_of(int rank) const { return path_ + "." + std::to_string(rank); }
  std::string process_file_of(int rank) const { return file_of(rank) + "-process"; }

  const std::string path_;
  const int ranks_;
  const int rank_;
  const Others others_;
  int posts_ = 0;
  std::set<std::string> earlier_;             // the files of ranks that ran before
  std::deque<Message> own_;                   // that were posted and not gathered yet
  std::map<std::string, std::int64_t> read_;  // of each file, bytes so far
  std::atomic<bool> is_aborted_ = false;
};

}  // namespace headroom::dry_run
