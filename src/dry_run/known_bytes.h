// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace headroom::dry_run {

/// How far what stands on the device can be trusted.
struct Trust {
  bool is_assumed = false;  // nobody computed it
  bool is_doubted = false;  // something may have been written over it, or what it was made of
};
inline constexpr Trust kAssumed{.is_assumed = true};

/// Bytes of which some are known.
struct PartlyKnown {
  bool has_any() const { return !bytes.empty(); }
  /// Whether so many of them are, from there on.
  bool knows(std::size_t place, std::size_t width) const {
    return !bytes.empty() && (gaps.empty() || (!gaps[place] && !gaps[place + width - 1]));
  }

  std::vector<unsigned char> bytes;  // with zeros for those that are not known; empty: none is
  std::vector<bool> gaps;            // which of them are not known; empty: all are
};

/// What lies on the device and is known: the bytes of small copies that came from the host, and
/// what was made of them by kernels whose results are known. Another kernel may write anywhere, so
/// after one it is assumed that what was known still stands there. By this, programs read back what
/// they sent, as ranks do that compare their parameters. Safe to call from any thread. Sizes in
/// bytes; addresses are the device's.
class KnownBytes {
 public:
  using Bytes = std::vector<unsigned char>;

  static constexpr std::size_t kMaxBytes = 1 << 20;  // of one copy
  static constexpr std::size_t kMaxBytesOfNumbers = 16 << 20;
  static constexpr std::size_t kMaxBytesOfMask = 64 << 20;  // of bools
  static constexpr std::size_t kMaxBytesInAll = 512 << 20;
  static constexpr std::size_t kMaxBytesOfObject = 512 << 20;

  /// Of elements of so many bytes. Bools are a mask's, by which attention leaves out whole blocks.
  /// Those of eight may be whole numbers, as tokens and the ends of a
  /// graph's edges are: of these kMaxBytesOfNumbers are known, as programs compute sizes by them.
  static constexpr std::size_t max_bytes(std::size_t width) {
    if (width == 1) return kMaxBytesOfMask;
    return width == sizeof(std::int64_t) ? kMaxBytesOfNumbers : kMaxBytes;
  }

  /// Whether bytes are an object of Python's that ranks send each other, by how pickles and
  /// PyTorch's files begin. Up to kMaxBytesOfObject they are known, as a program can't go on
  /// without them, and do not count in all.
  static bool are_object(const void* bytes, std::size_t size);

  /// `bytes` now stand at `to`. Where they can't be trusted read() counts them for not known. Of
  /// whole numbers that are too many their limit is known.
  void set(const void* to, const void* bytes, std::size_t size, Trust trust = {});
  void set(const void* to, Bytes bytes);
  /// Likewise, of which some are not known. Where these lie in too many places, nothing is known.
  void set_partly(const void* to, const PartlyKnown& bytes, std::size_t size, Trust trust);
  /// The same byte again and again.
  void fill(const void* to, int byte, std::size_t size, Trust trust = {});
  /// What stands at `from`, known or not, now stands at `to` as well.
  void copy(const void* to, const void* from, std::size_t size);
  /// Which elements there are zero is not known, but what share is not. They lie evenly.
  void set_share(const void* at, std::size_t size, double share);
  /// Elements there are numbers from 0 up to `limit`, each as often.
  void set_limit(const void* at, std::size_t size, std::int64_t limit);
  /// Elements there are these, 0 or 1, and too many of too many bytes to be kept: a mask that is to
  /// be summed. That is known of the last that were set so.
  void set_flags(const void* at, std::size_t size, Bytes flags);
  /// Of all elements from there on; empty: they are not known.
  Bytes flags(const void* from) const;
  /// What is known so of the elements at `from` is known of those at `at`. False: nothing is.
  bool copy_share(const void* at, std::size_t size, const void* from);
  /// Of the elements from there on; nothing: it is not known.
  std::optional<double> share(const void* from) const;
  /// Likewise of so many elements of a byte each, which are counted where they are known.
  std::optional<double> share_of_bytes(const void* from, std::size_t size) const;
  std::optional<std::int64_t> limit(const void* from) const;
  bool has_shares() const;
  /// Something that is not known now stands there.
  void forget(const void* at, std::size_t size);
  /// Likewise; the host reads each element as `element` in place of zeros. No kernel does.
  void guess(const void* at, std::size_t size, std::vector<unsigned char> element);
  /// The host does so where numbers up to `limit` stand, and no more is known of them.
  void guess_below(const void* at, std::size_t size, std::int64_t limit,
                   std::vector<unsigned char> element);
  void forget_assumed();
  /// Something may have been written anywhere: all that is known is assumed from now on.
  void doubt_all();

  /// False: nothing is known of what stands there.
  bool has_any(const void* from, std::size_t size) const;
  /// The bytes that stand there, with zeros for those that are not known, which makes them assumed;
  /// empty, where none is. `trust`: gets what holds of some of them.
  std::vector<unsigned char> find(const void* from, std::size_t size, Trust* trust = nullptr) const;
  /// Likewise, and which of them are known. `trust`: gets what holds of some of these.
  PartlyKnown find_partly(const void* from, std::size_t size, Trust* trust) const;
  /// Gives these to the host. False: none is known, and it gets what is guessed, else zeros; or
  /// some are assumed.
  bool read(void* to, const void* from, std::size_t size) const;

 private:
  struct Range {
    std::size_t size() const { return bytes.size(); }
    std::size_t counted() const { return is_object ? 0 : bytes.size(); }

    Bytes bytes;
    bool is_assumed = false;
    std::int64_t doubts = 0;  // how many there had been when it was set; kDoubted: it was itself
    bool is_object = false;   // of more than kMaxBytes, or what is left of one
  };
  static constexpr std::int64_t kDoubted = -1;

  bool knows_no_more_than_limit(const void* to, const unsigned char* bytes, std::size_t size);
  static bool is_kept(const void* bytes, std::size_t size);
  Range range_of(Bytes bytes, Trust trust) const;
  bool is_followed_locked(std::uintptr_t from, std::size_t size) const;
  void set_locked(std::uintptr_t to, Range range);
  void set_partly_locked(std::uintptr_t to, Range range, const std::vector<bool>& gaps);
  void forget_locked(std::uintptr_t begin, std::size_t size);
  Range find_locked(std::uintptr_t from, std::size_t size, std::vector<bool>* gaps) const;
  bool make_room_locked(std::size_t size);
  void forget_doubted_objects_locked();
  void forget_larger_locked(std::size_t most, bool is_only_doubted);

  struct Share {
    std::size_t size = 0;
    double not_zero = 0;
    std::int64_t limit = 0;  // 0: it is not known
  };

  struct Guess {
    std::size_t size = 0;
    Bytes element;
  };

  struct Flags {
    std::uintptr_t begin = 0;
    std::size_t size = 0;  // bytes of the elements
    Bytes flags;
  };

  void copy_guess_locked(std::uintptr_t to, std::uintptr_t from, std::size_t size);
  void read_guess_locked(unsigned char* to, std::uintptr_t from, std::size_t size) const;
  void set_share_locked(std::uintptr_t at, const Share& share);
  void set_limit_locked(std::uintptr_t at, std::size_t size, std::int64_t limit);
  const Share* share_locked(std::uintptr_t from) const;

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Range> ranges_;   // which do not overlap
  std::map<std::uintptr_t, Share> shares_;   // likewise; no range lies in one
  std::map<std::uintptr_t, Guess> guesses_;  // likewise
  Flags flags_;
  std::size_t bytes_ = 0;    // in all
  bool may_assume_ = false;  // whether some of them may be assumed
  bool had_object_ = false;  // whether some of them may be an object
  std::int64_t doubts_ = 0;
};

}  // namespace headroom::dry_run
