// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/known_bytes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace headroom::dry_run {
namespace {

const void* at(std::size_t address) { return reinterpret_cast<const void*>(address); }

class KnownBytesTest : public testing::Test {
 protected:
  void set(std::size_t to, const std::string& text) { known.set(at(to), text.data(), text.size()); }
  /// With a '.' for each zero.
  std::string read(std::size_t from, std::size_t size) const {
    std::string text(size, '?');
    known.read(text.data(), at(from), size);
    for (char& c : text) c = c == '\0' ? '.' : c;
    return text;
  }

  KnownBytes known;
};

TEST_F(KnownBytesTest, ComeBackAsTheyWereSentAndInParts) {
  set(100, "abcdef");
  EXPECT_EQ(read(100, 6), "abcdef");
  EXPECT_EQ(read(102, 3), "cde");
  EXPECT_EQ(read(99, 2), ".a");
  EXPECT_EQ(read(105, 2), "f.");
  EXPECT_EQ(read(500, 2), "..");
}

TEST_F(KnownBytesTest, AreFoundWhereAnyOfThemIsKnown) {
  set(100, "abcdef");
  EXPECT_EQ(known.find(at(101), 3), (std::vector<unsigned char>{'b', 'c', 'd'}));
  EXPECT_EQ(known.find(at(104), 3), (std::vector<unsigned char>{'e', 'f', 0}));
  EXPECT_TRUE(known.find(at(106), 3).empty());
  char byte = '?';
  EXPECT_TRUE(known.read(&byte, at(105), 1));
  EXPECT_FALSE(known.read(&byte, at(106), 1));
  std::array<char, 3> bytes{};
  EXPECT_FALSE(known.read(bytes.data(), at(104), 3)) << "one of them is not";
  Trust trust;
  EXPECT_TRUE(known.find(at(106), 3, &trust).empty());
  EXPECT_FALSE(trust.is_assumed) << "nothing is";
}

TEST_F(KnownBytesTest, AreKnownAtAnySizeWhereTheyAreAnObject) {
  const std::string much(KnownBytes::kMaxBytes, 'x');
  const std::string object = "\x80\x04" + much;
  set(0x1000000, object);
  known.copy(at(0x2000000), at(0x1000000), object.size());
  EXPECT_EQ(read(0x2000000, object.size()), object);
  EXPECT_EQ(read(0x2000002, much.size()), much) << "a part of it";
  set(0x3000000, "ab" + much);
  EXPECT_EQ(read(0x3000000, 2), "..") << "not an object";
  known.doubt_all();
  set(0x4000000, object);
  EXPECT_EQ(read(0x1000000, 2), "..") << "a new one comes in place of those that are doubted";
}

TEST_F(KnownBytesTest, AreKnownInPartAndCopiedSo) {
  set(100, "ab");
  set(103, "de");
  known.copy(at(200), at(99), 7);
  Trust trust;
  const PartlyKnown found = known.find_partly(at(200), 7, &trust);
  EXPECT_FALSE(trust.is_assumed);
  EXPECT_TRUE(found.knows(1, 2));
  EXPECT_FALSE(found.knows(2, 2));
  known.set_partly(at(300), found, 7, {});
  EXPECT_EQ(read(300, 7), ".ab.de.");
  EXPECT_FALSE(known.has_any(at(303), 1));
  EXPECT_TRUE(known.find_partly(at(400), 7, &trust).bytes.empty());
}

TEST_F(KnownBytesTest, AreReadAcrossWhatWasSentPieceByPiece) {
  set(100, "abc");
  set(103, "def");
  EXPECT_EQ(read(101, 4), "bcde");
  set(107, "hi");
  EXPECT_EQ(read(104, 4), "ef.h");
}

TEST_F(KnownBytesTest, GiveWayToWhatComesLater) {
  set(100, "abcdef");
  set(102, "XY");
  EXPECT_EQ(read(100, 6), "abXYef");
  set(98, "0123");
  EXPECT_EQ(read(98, 8), "0123XYef");
  known.forget(at(99), 2);
  EXPECT_EQ(read(98, 1), "0");
  EXPECT_EQ(read(99, 1), ".");
  EXPECT_EQ(read(101, 5), "3XYef");
  known.fill(at(99), 'z', 2);
  EXPECT_EQ(read(98, 8), "0zz3XYef");
}

TEST_F(KnownBytesTest, AreCopiedAndSoIsThatNothingIsKnown) {
  set(100, "abcdef");
  set(200, "ghijkl");
  known.copy(at(200), at(101), 4);
  EXPECT_EQ(read(200, 6), "bcdekl");
  known.copy(at(201), at(300), 2);
  EXPECT_EQ(read(200, 6), "b..ekl");
  EXPECT_EQ(read(203, 3), "ekl");
}

TEST_F(KnownBytesTest, AreNoMoreThanTheLimits) {
  const std::string most(KnownBytes::kMaxBytes, 'x');
  set(0x1000, most);
  EXPECT_EQ(read(0x1000, most.size()), most);
  set(0x1000, most + "x");
  EXPECT_EQ(read(0x1000, 1), ".");
  std::size_t address = 0;
  for (std::size_t bytes = 0; bytes < KnownBytes::kMaxBytesInAll; bytes += most.size()) {
    set(address += 0x100000, most);
  }
  EXPECT_EQ(read(address, 1), "x");
  set(0x100, "abc");
  EXPECT_EQ(read(0x100, 3), "abc");
  EXPECT_EQ(read(address, 1), ".") << "what is large gives way";
}

TEST_F(KnownBytesTest, GiveWayWhereTheyAreOldOrLarge) {
  const std::size_t size = KnownBytes::kMaxBytes / 4;
  const std::string bytes(size, 'x');
  const std::size_t count = KnownBytes::kMaxBytesInAll / size;
  set(0x100, "abc");
  for (std::size_t i = 1; i < count; ++i) set(i * KnownBytes::kMaxBytes, bytes);
  const std::size_t last = count * KnownBytes::kMaxBytes;
  set(last, bytes);
  EXPECT_EQ(read(last, 1), ".") << "the others are as young, and no larger";
  EXPECT_EQ(read(KnownBytes::kMaxBytes, 1), "x");
  known.doubt_all();
  set(last, bytes);
  EXPECT_EQ(read(last, 1), "x");
  EXPECT_EQ(read(KnownBytes::kMaxBytes, 1), ".") << "as large, and may have been written over";
  EXPECT_EQ(read(0x100, 3), "abc") << "which is small";
}

TEST_F(KnownBytesTest, AreAssumedWhereSomethingMayHaveBeenWrittenAnywhere) {
  set(100, "abcdef");
  known.doubt_all();
  set(102, "X");
  std::string text(6, '?');
  EXPECT_FALSE(known.read(text.data(), at(100), 6));
  EXPECT_EQ(text, "abXdef");
  EXPECT_FALSE(known.read(text.data(), at(103), 3)) << "what is left of a part";
  EXPECT_TRUE(known.read(text.data(), at(102), 1));
  known.copy(at(102), at(100), 1);
  EXPECT_FALSE(known.read(text.data(), at(102), 1));
  EXPECT_EQ(text[0], 'a');
}

TEST(KnownBytes, that_are_assumed_count_for_not_known_also_where_they_were_copied) {
  KnownBytes known;
  const std::array<char, 4> device{};
  std::array<char, 2> host{};
  known.fill(device.data(), 5, 2, kAssumed);
  known.copy(device.data() + 2, device.data() + 1, 1);
  EXPECT_FALSE(known.read(host.data(), device.data() + 2, 1));
  EXPECT_EQ(host[0], 5);
  known.fill(device.data(), 6, 1);
  EXPECT_FALSE(known.read(host.data(), device.data(), 2));
  EXPECT_EQ(host, (std::array<char, 2>{6, 5}));
  EXPECT_TRUE(known.read(host.data(), device.data(), 1));
}

TEST(KnownBytes, that_are_assumed_are_forgotten_without_the_others) {
  int sent = 7;
  KnownBytes known;
  const char* const at = reinterpret_cast<const char*>(0x1000);
  known.set(at, &sent, sizeof(sent));
  known.fill(at + 100, 1, 1, kAssumed);
  known.forget_assumed();
  EXPECT_TRUE(known.find(at + 100, 1).empty());
  EXPECT_EQ(known.find(at, sizeof(sent)).size(), sizeof(sent));
}

TEST(KnownBytes, AreGuessedUntilSomethingElseStandsThere) {
  KnownBytes known;
  alignas(16) std::array<unsigned char, 16> memory{};
  const auto read = [&](std::size_t place, std::size_t size) {
    std::string text(size, '?');
    EXPECT_FALSE(known.read(text.data(), &memory[place], size));
    for (char& c : text) c = c == '\0' ? '.' : c;
    return text;
  };
  known.guess(&memory[2], 6, {'a', 'b', 'c'});
  EXPECT_EQ(read(2, 6), "abcabc");
  EXPECT_EQ(read(4, 6), "cabc..");
  EXPECT_TRUE(known.find(&memory[2], 6).empty()) << "by a kernel";
  known.guess(&memory[8], 4, {'d', 'e'});
  known.forget(&memory[7], 1);
  EXPECT_EQ(read(2, 6), "......");
  EXPECT_EQ(read(8, 4), "dede");
  known.doubt_all();
  EXPECT_EQ(read(8, 4), "dede");
  known.copy(&memory[2], &memory[10], 2);
  EXPECT_EQ(read(2, 2), "de");
}

// Tokens, and the ends of a graph's edges.
TEST(KnownBytes, KeepMoreOfWholeNumbersThanOfOthers) {
  KnownBytes known;
  constexpr std::size_t kMost = KnownBytes::kMaxBytesOfNumbers / sizeof(std::int64_t);
  std::vector<std::int64_t> numbers(kMost + 1, 7);
  numbers[5] = 9;
  known.set(numbers.data(), numbers.data(), kMost * sizeof(std::int64_t));
  EXPECT_EQ(known.find(numbers.data(), kMost * sizeof(std::int64_t)).size(),
            KnownBytes::kMaxBytesOfNumbers);
  known.set(numbers.data(), numbers.data(), numbers.size() * sizeof(std::int64_t));
  EXPECT_FALSE(known.has_any(numbers.data(), numbers.size() * sizeof(std::int64_t)));
  EXPECT_EQ(known.limit(&numbers[kMost]), 10);
  numbers[6] = -1;  // below a limit there are none
  known.set(numbers.data(), numbers.data(), numbers.size() * sizeof(std::int64_t));
  EXPECT_EQ(known.limit(numbers.data()), std::nullopt);
  const std::vector<float> floats(kMost, 7);
  known.set(floats.data(), floats.data(), kMost * sizeof(float));
  EXPECT_FALSE(known.has_any(floats.data(), kMost * sizeof(float)));
}

// A mask of 8,192 tokens has so many.
TEST(KnownBytes, KeepMoreOfBoolsThanOfOthers) {
  KnownBytes known;
  constexpr std::size_t kMost = KnownBytes::kMaxBytesOfMask;
  std::vector<unsigned char> bools(kMost + 1, 1);
  known.set(bools.data(), bools.data(), kMost);
  EXPECT_EQ(known.find(bools.data(), kMost).size(), kMost);
  known.set(bools.data(), bools.data(), kMost + 1);
  EXPECT_FALSE(known.has_any(bools.data(), kMost));
  const std::vector<unsigned char> zeros(kMost);  // which take no memory of the host's
  known.set(zeros.data(), zeros.data(), kMost);
  EXPECT_FALSE(known.has_any(zeros.data(), kMost));
  bools[kMost - 1] = 2;
  known.set(bools.data(), bools.data(), kMost);
  EXPECT_FALSE(known.has_any(bools.data(), kMost));
}

TEST(KnownBytes, KeepTheLastFlagsUntilSomethingElseStandsThere) {
  KnownBytes known;
  const std::vector<unsigned char> some{1, 0, 0, 1};
  known.set_flags(at(0x1000), 32, some);
  EXPECT_EQ(known.flags(at(0x1000)), some);
  EXPECT_EQ(known.share(at(0x1008)), 0.5);
  EXPECT_TRUE(known.flags(at(0x1008)).empty());
  known.fill(at(0x1018), 1, 8);
  EXPECT_TRUE(known.flags(at(0x1000)).empty());
  known.set_flags(at(0x1000), 32, some);
  known.set_flags(at(0x2000), 16, {1, 1});
  EXPECT_TRUE(known.flags(at(0x1000)).empty());
  EXPECT_EQ(known.share(at(0x1000)), 0.5);
}

TEST(KnownBytes, FindManyNumbersThatLieInParts) {
  KnownBytes known;
  constexpr std::size_t kPart = KnownBytes::kMaxBytes / sizeof(std::int64_t);
  const std::vector<std::int64_t> numbers(2 * kPart, 7);
  known.set(numbers.data(), numbers.data(), kPart * sizeof(std::int64_t));
  EXPECT_TRUE(known.find(numbers.data(), 2 * KnownBytes::kMaxBytes).empty());
  known.set(&numbers[kPart], numbers.data(), kPart * sizeof(std::int64_t));
  EXPECT_EQ(known.find(numbers.data(), 2 * KnownBytes::kMaxBytes).size(),
            2 * KnownBytes::kMaxBytes);
}

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(KnownBytes, TakeNoMemoryOfTheHostForZerosWhereNobodyWrote) {
  constexpr std::size_t kSize = std::size_t{256} << 20;
  void* const mapped = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            /*fd=*/-1, /*offset=*/0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(mapped);
  const std::vector<std::size_t> written = {0, 3, 4095, 4096, 40'000, kSize - 2};
  for (const std::size_t place : written) bytes[place] = 1;
  const std::size_t before = resident_bytes();
  KnownBytes().read(bytes + 3, at(0x1000), kSize - 4);
  EXPECT_LT(resident_bytes(), before + kSize / 8);
  for (const std::size_t place : written) {
    const bool is_outside = place < 3 || place == kSize - 1;
    EXPECT_EQ(bytes[place], is_outside ? 1 : 0) << place;
  }
  munmap(mapped, kSize);
}

TEST(KnownBytes, KeepSharesUntilSomethingElseStandsThere) {
  KnownBytes known;
  alignas(16) std::array<unsigned char, 64> memory{};
  EXPECT_FALSE(known.has_shares());
  known.set_share(&memory[0], 32, 0.5);
  known.set_limit(&memory[32], 32, 4);
  EXPECT_EQ(known.share(&memory[31]), 0.5);
  EXPECT_EQ(known.limit(&memory[31]), std::nullopt);
  EXPECT_EQ(known.share(&memory[32]), 0.75);
  EXPECT_EQ(known.limit(&memory[63]), 4);
  known.fill(&memory[40], 1, 4);
  EXPECT_EQ(known.share(&memory[32]), std::nullopt);
  EXPECT_EQ(known.share(&memory[0]), 0.5);
  known.forget(&memory[0], memory.size());
  EXPECT_FALSE(known.has_shares());
}

}  // namespace
}  // namespace headroom::dry_run
