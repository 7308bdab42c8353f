// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/peers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace headroom::dry_run {
namespace {

using Length = std::uint32_t;  // before each message
using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kShortestPause{20};
constexpr std::chrono::microseconds kLongestPause{1000};
constexpr std::chrono::seconds kPatience{60};     // then it is said what is waited for
constexpr std::chrono::seconds kBetweenLooks{1};  // whether who is waited for still runs

/// Whoever waits for it would wait forever.
[[noreturn]] void end_without_peers(const std::string& file) {
  std::fprintf(stderr, "headroom dry run: %s can't be written: %s\n", file.c_str(),
               std::strerror(errno));
  _exit(4);  // headroom's own where the machine lacks something
}

/// In one write, so that nobody reads half a length.
void append(const std::string& file, const Peers::Message& message) {
  const auto length = static_cast<Length>(message.size());
  std::vector<unsigned char> bytes(sizeof(length) + message.size());
  std::memcpy(bytes.data(), &length, sizeof(length));
  std::copy(message.begin(), message.end(), bytes.begin() + sizeof(length));
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) end_without_peers(file);
  const auto written = write(descriptor, bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) end_without_peers(file);
  close(descriptor);
}

/// Whether the process whose number stands in the file has ended. So has a zombie: its parent may
/// be the one that waits here.
bool has_ended(const std::string& file) {
  long process = 0;
  if (!(std::ifstream(file) >> process)) return false;
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), stat);
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat[name_end + 2] == 'Z';
}

/// Nothing: it is not there yet.
std::optional<Peers::Message> read_message(const std::string& file, std::int64_t at) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  Length length = 0;
  std::optional<Peers::Message> message;
  if (pread(descriptor, &length, sizeof(length), at) == sizeof(length)) {
    Peers::Message bytes(length);
    const auto begin = at + static_cast<std::int64_t>(sizeof(length));
    if (pread(descriptor, bytes.data(), length, begin) == static_cast<ssize_t>(length)) {
      message = std::move(bytes);
    }
  }
  close(descriptor);
  return message;
}

}  // namespace

Peers::Peers(std::string path, int ranks, int rank, Others others)
    : path_(std::move(path)), ranks_(ranks), rank_(rank), others_(others) {
  if (others_ == Others::live) {
    std::ofstream(process_file_of(rank_)) << getpid() << '\n';
    return;
  }
  const std::string own = file_of(rank_);
  std::error_code is_none;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path(), is_none)) {
    const std::string file = entry.path();
    if (file == own || file.starts_with(own + "-")) {
      std::filesystem::remove(file, is_none);  // it runs again, and will tell the same
    } else if (file.starts_with(path_ + ".")) {
      earlier_.insert(file);
    }
  }
}

void Peers::post(const Message& message) {
  ++posts_;
  own_.push_back(message);
  append(file_of(rank_), message);
}

std::vector<Peers::Message> Peers::gather() {
  const Message own = std::move(own_.front());
  own_.pop_front();
  std::vector<Message> all;
  for (int rank = 0; rank < ranks_; ++rank) {
    auto told = rank == rank_ ? own : take(file_of(rank), rank);
    if (!told) told = are_live() ? Message{} : own;
    all.push_back(std::move(*told));
  }
  return all;
}

void Peers::send(int to, const Message& message) {
  append(file_of(rank_) + "-" + std::to_string(to), message);
}

Peers::Message Peers::receive(int from) {
  return take(file_of(from) + "-" + std::to_string(rank_), from).value_or(Message{});
}

/// As PyTorch does where NCCL finds that a rank is gone.
void Peers::end_without(int rank) const {
  std::fprintf(stderr,
               "headroom dry run: rank %d of %d ends, as it waits for rank %d, which has ended\n",
               rank_, ranks_, rank);
  std::abort();
}

/// The next message of a file; nothing: it never comes.
std::optional<Peers::Message> Peers::take(const std::string& file, int from) {
  if (others_ == Others::earlier && !earlier_.contains(file)) return std::nullopt;
  std::int64_t& at = read_[file];
  const auto begin = Clock::now();
  auto looked = begin;
  bool is_said = false;
  for (auto pause = kShortestPause; !is_aborted_; pause = std::min(2 * pause, kLongestPause)) {
    if (auto message = read_message(file, at)) {
      at += static_cast<std::int64_t>(sizeof(Length) + message->size());
      return message;
    }
    if (others_ == Others::earlier) break;
    if (Clock::now() - looked > kBetweenLooks) {
      looked = Clock::now();
      // It may have told this one between the look for its message and its end.
      if (has_ended(process_file_of(from)) && !read_message(file, at)) end_without(from);
    }
    if (!is_said && Clock::now() - begin > kPatience) {
      is_said = true;
      std::fprintf(stderr,
                   "headroom dry run: rank %d of %d waits for rank %d, which has not come to the "
                   "same collective for a minute\n",
                   rank_, ranks_, from);
    }
    std::this_thread::sleep_for(pause);
  }
  return std::nullopt;
}

}  // namespace headroom::dry_run
