// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/safetensors.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

std::string length(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A file with that header and so many bytes of data.
std::string file(const std::string& header, std::size_t data_bytes) {
  return length(header.size()) + header + std::string(data_bytes, '\0');
}

// One tensor as it stands in a header.
std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

// A file whose only tensor is F32 `a`.
std::string one(const std::string& shape, const std::string& offsets, std::size_t data_bytes) {
  return file("{" + tensor("a", "F32", shape, offsets) + "}", data_bytes);
}

/// A file, and a part of the message that refuses it; null: it is accepted.
struct Malformed {
  const char* what;
  std::string bytes;
  const char* part;
};

const std::string kA = tensor("a", "F32", "[1]", "[0,4]");
const std::string kLengths = "\"shape\":[1],\"data_offsets\":[0,4]}";

// The 57 files by which the reference reader (safetensors 0.8.0) was probed. It refuses those that
// are refused here, and accepts those marked + as well, which the format forbids or no C++ reader
// can hold.
std::vector<Malformed> malformed_files() {
  return {
      {"empty file", "", "ends before the length"},
      {"7 bytes", std::string(7, '\0'), "ends before the length"},
      {"8 zero bytes", std::string(8, '\0'), "must start with {"},
      {"len 2^64-1", length(~0ull) + "{}", "header would have 18446744073709551615 bytes"},
      {"len 2^63", length(1ull << 63) + "{}", "header would have 9223372036854775808 bytes"},
      {"len > file", length(100) + "{}", "ends inside its header"},
      {"len 100000001", length(100'000'001) + "{}", "header would have 100000001 bytes"},
      {"{} only", file("{}", 0), nullptr},
      {"{} + trailing bytes", file("{}", 4), "4 bytes at the end belong to no tensor"},
      {"ok", one("[2]", "[0,8]", 8), nullptr},
      {"ok padded spaces", file("{" + tensor("a", "F32", "[2]", "[0,8]") + "}   ", 8), nullptr},
      {"padded NUL", file("{" + kA + "}" + std::string(3, '\0'), 4), "a NUL byte"},
      {"+leading space", file(" {" + kA + "}", 4), "must start with {"},
      {"truncated data", one("[2]", "[0,8]", 4), "pass the end of the file"},
      {"extra data", one("[2]", "[0,8]", 12), "belong to no tensor"},
      {"hole", file("{" + kA + "," + tensor("b", "F32", "[1]", "[8,12]") + "}", 12), "a hole"},
      {"overlap",
       file("{" + tensor("a", "F32", "[2]", "[0,8]") + "," + tensor("b", "F32", "[2]", "[4,12]") +
                "}",
            12),
       "overlap"},
      {"same range", file("{" + kA + "," + tensor("b", "F32", "[1]", "[0,4]") + "}", 4), "overlap"},
      {"zero-size alias", file("{" + kA + "," + tensor("z", "F32", "[0]", "[0,0]") + "}", 4),
       nullptr},
      {"end<begin", one("[1]", "[4,0]", 4), "must be a range"},
      {"neg offset", one("[1]", "[-4,0]", 4), "must be a range"},
      {"neg dim", one("[-1]", "[0,4]", 4), "a negative dimension"},
      {"float dim", one("[1.0]", "[0,4]", 4), "1.0 is no integer"},
      {"dim overflow", one("[4611686018427387904,4]", "[0,4]", 4), "overflows 64 bits"},
      {"dim 2^63", one("[9223372036854775808]", "[0,4]", 4), "beyond 64 bits"},
      {"dim 2^64", one("[18446744073709551616]", "[0,4]", 4), "beyond 64 bits"},
      {"+0 x huge", one("[0,9223372036854775808,9223372036854775808]", "[0,0]", 0),
       "beyond 64 bits"},
      {"offset 2^64", one("[1]", "[0,18446744073709551616]", 4), "beyond 64 bits"},
      {"dtype unknown", file("{" + tensor("a", "F31", "[1]", "[0,4]") + "}", 4),
       "unknown dtype \"F31\""},
      {"dtype lower", file("{" + tensor("a", "f32", "[1]", "[0,4]") + "}", 4),
       "unknown dtype \"f32\""},
      {"dtype/size mismatch", one("[2]", "[0,4]", 4), "the shape has 8 bytes, the data_offsets 4"},
      {"+dup key", file("{" + kA + "," + tensor("a", "F32", "[2]", "[4,12]") + "}", 12),
       "'a' stands twice"},
      {"+dup key same", file("{" + kA + "," + kA + "}", 4), "'a' stands twice"},
      {"dup field", file("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"," + kLengths + "}", 4),
       "'dtype' stands twice"},
      {"+extra field", file("{\"a\":{\"dtype\":\"F32\",\"x\":1," + kLengths + "}", 4),
       "only dtype, shape"},
      {"missing field", file("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4),
       "shape must be a list"},
      {"3 offsets", one("[1]", "[0,4,4]", 4), "a list of 2 integers"},
      {"meta non-string", file("{\"__metadata__\":{\"a\":1}}", 0), "texts only"},
      {"meta ok", file("{\"__metadata__\":{\"a\":\"1\"}}", 0), nullptr},
      {"meta nested", file("{\"__metadata__\":{\"a\":{\"b\":\"1\"}}}", 0), "texts only"},
      {"meta dup", file("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
       "'__metadata__' stands twice"},
      {"bad utf8", file("{" + tensor("a\xFF", "F32", "[1]", "[0,4]") + "}", 4), "no JSON"},
      {"lone surrogate", file("{" + tensor("\\ud800", "F32", "[1]", "[0,4]") + "}", 4), "no JSON"},
      {"array root", file("[]", 0), "must start with {"},
      {"deep json", file("{\"a\":" + repeat("[", 100'000) + repeat("]", 100'000) + "}", 0),
       "deeper than 4"},
      {"NaN json", one("[NaN]", "[0,4]", 4), "no JSON"},
      {"trailing json", file("{" + kA + "}{}", 4), "no JSON"},
      {"comment", file("{/*c*/" + kA + "}", 4), "no JSON"},
      {"+empty name", file("{" + tensor("", "F32", "[1]", "[0,4]") + "}", 4), "an empty name"},
      {"+path name", file("{" + tensor("../../x", "F32", "[1]", "[0,4]") + "}", 4),
       "a path out of"},
      {"+nul name", file("{" + tensor("a\\u0000b", "F32", "[1]", "[0,4]") + "}", 4),
       "a control character"},
      {"unsorted json order", file("{" + tensor("b", "F32", "[1]", "[4,8]") + "," + kA + "}", 8),
       nullptr},
      // Bytes are data: check_boolean_bytes refuses them.
      {"bool 2", file("{" + tensor("a", "BOOL", "[1]", "[0,1]") + "}", 0) + "\x02", nullptr},
      {"F4 odd", file("{" + tensor("a", "F4", "[1]", "[0,1]") + "}", 1), "unknown dtype \"F4\""},
      {"1e1 int", one("[1e1]", "[0,40]", 40), "is no integer"},
      {"scalar shape []", one("[]", "[0,4]", 4), nullptr},
      {"+rank 1000", one("[" + repeat("1,", 999) + "1]", "[0,4]", 4), "more than 64 dimensions"},
  };
}

// More of what a reader may get wrong.
std::vector<Malformed> further_files() {
  const std::string huge = "4611686018427387904";
  return {
      {"rank 64", one("[" + repeat("1,", 63) + "1]", "[0,4]", 4), nullptr},
      {"unaligned header", file("{" + kA + "} ", 4), nullptr},
      {"0 x product beyond", one("[0," + huge + "," + huge + "]", "[0,0]", 0), "overflows 64 bits"},
      {"offsets at the edge", one("[1]", "[9223372036854775803,9223372036854775807]", 4), "a hole"},
      {"absolute name", file("{" + tensor("/etc/x", "F32", "[1]", "[0,4]") + "}", 4),
       "a path out of"},
      {"backslashes", file("{" + tensor("a\\\\..\\\\b", "F32", "[1]", "[0,4]") + "}", 4),
       "a path out of"},
      {"two dots in a name", file("{" + tensor("a..b", "F32", "[1]", "[0,4]") + "}", 4), nullptr},
      {"slash in a name", file("{" + tensor("bert/x", "F32", "[1]", "[0,4]") + "}", 4), nullptr},
      {"line break in a name", file("{" + tensor("a\\n", "F32", "[1]", "[0,4]") + "}", 4),
       "a control character"},
      {"tensor is a list", file("{\"a\":[]}", 0), "not an object"},
      {"dtype a number", file("{\"a\":{\"dtype\":1," + kLengths + "}", 4), "dtype must be a text"},
      {"shape a text", one("\"1\"", "[0,4]", 4), "shape must be a list"},
      {"offset a text", one("[1]", "[0,\"4\"]", 4), "is no integer"},
      {"dim true", one("[true]", "[0,4]", 4), "is no integer"},
      {"meta a list", file("{\"__metadata__\":[]}", 0), "must be an object"},
      {"meta null", file("{\"__metadata__\":null}", 0), "must be an object"},
      {"header not closed", file("{" + kA, 4), "no JSON"},
      {"header is a text", file("\"{}\"", 0), "must start with {"},
      {"shape too deep", one("[[[[1]]]]", "[0,4]", 4), "deeper than 4"},
  };
}

void expect_as_told(const std::vector<Malformed>& table) {
  const TemporaryFolder folder;
  const std::string path = folder / "f.safetensors";
  for (const Malformed& malformed : table) {
    write_file_atomically(path, malformed.bytes);
    if (malformed.part == nullptr) {
      EXPECT_NO_THROW(read_safetensors_header(path)) << malformed.what;
      continue;
    }
    const std::string message = message_of<ConfigError>([&] { read_safetensors_header(path); });
    EXPECT_TRUE(message.starts_with(path + ": ")) << malformed.what << ": " << message;
    EXPECT_TRUE(contains(message, malformed.part)) << malformed.what << ": " << message;
  }
}

TEST(SafetensorsReader, RefusesWhatTheReferenceRefusesAndMore) {
  ASSERT_EQ(malformed_files().size(), 57u);
  expect_as_told(malformed_files());
}

TEST(SafetensorsReader, RefusesTheRest) { expect_as_told(further_files()); }

TEST(SafetensorsReader, KeepsItsLimits) {
  std::string header = "{";
  for (int i = 0; i <= SafetensorsLimits::kTensors; ++i) {
    header += tensor(std::to_string(i), "F32", "[0]", "[0,0]") + ",";
  }
  header.back() = '}';
  const std::size_t first = header.find(',', header.find('}')) + 1;
  expect_as_told({
      {"too many tensors", file(header, 0), "more than 100000 tensors"},
      {"the most tensors", file("{" + header.substr(first), 0), nullptr},
      {"a header of 16 MiB and 1", length((1 << 24) + 1) + std::string((1 << 24) + 1, ' '),
       "at most 16777216"},
      {"a header of values", file("{\"a\":[" + repeat("0,", 3'000'000) + "0]}", 0),
       "more than 1200000 values"},
  });
}

TEST(SafetensorsReader, OrdersTensorsByTheirData) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "f",
                        file("{" + tensor("b", "F32", "[1]", "[4,8]") + "," + kA + "}", 8));
  const SafetensorsHeader header = read_safetensors_header(folder / "f");
  ASSERT_EQ(header.tensors.size(), 2u);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[1].name, "b");
  EXPECT_EQ(header.tensors[1].end - header.tensors[0].begin, 8);
}

}  // namespace
}  // namespace headroom
