// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/opcode.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace headroom::ptx {
namespace {

using Parts = std::vector<std::string_view>;  // of an opcode: "ld", "global", "v4", "b32"

Parts parts_of(std::string_view opcode) {
  Parts parts;
  while (true) {
    const std::size_t dot = opcode.find('.');
    parts.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

bool has(const Parts& parts, std::string_view part) { return std::ranges::count(parts, part) > 0; }

int whole_number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
}

/// Bits of 0: it is no type that is followed.
Type type_of(std::string_view part) {
  if (part == "pred") return {Type::Kind::predicate, 1};
  if (part.size() < 2) return {};
  const int bits = whole_number(part.substr(1));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  switch (part[0]) {
    case 'b':
      return {Type::Kind::bits, bits};
    case 's':
      return {Type::Kind::is_signed, bits};
    case 'u':
      return {Type::Kind::is_unsigned, bits};
    case 'f':
      return {Type::Kind::floating, bits};
    default:
      return {};
  }
}

/// Those whose operation is that of their first part, and whose type is their last.
const std::map<std::string_view, Operation>& plain_operations() {
  static const auto& table = *new std::map<std::string_view, Operation>{
      {"mov", Operation::move},          {"cvta", Operation::move},
      {"add", Operation::add},           {"sub", Operation::subtract},
      {"fma", Operation::multiply_add},  {"shl", Operation::shift_left},
      {"shr", Operation::shift_right},   {"and", Operation::bit_and},
      {"or", Operation::bit_or},         {"xor", Operation::bit_xor},
      {"not", Operation::bit_not},       {"neg", Operation::negate},
      {"abs", Operation::absolute},      {"min", Operation::minimum},
      {"max", Operation::maximum},       {"div", Operation::divide},
      {"rem", Operation::remainder},     {"bfe", Operation::bit_field},
      {"selp", Operation::select},       {"setp", Operation::compare},
      {"cvt", Operation::convert},       {"popc", Operation::count_bits},
      {"elect", Operation::holds},       {"ld", Operation::load},
      {"st", Operation::store},          {"shfl", Operation::shuffle},
      {"bra", Operation::branch},        {"ret", Operation::end},
      {"exit", Operation::end},          {"bar", Operation::nothing},
      {"barrier", Operation::nothing},   {"membar", Operation::nothing},
      {"fence", Operation::nothing},     {"griddepcontrol", Operation::nothing},
      {"nanosleep", Operation::nothing}, {"setmaxnreg", Operation::nothing},
      {"call", Operation::effect},       {"cp", Operation::effect},
      {"stmatrix", Operation::effect},   {"mbarrier", Operation::effect},
      {"trap", Operation::trap},         {"discard", Operation::effect},
      {"multimem", Operation::effect},   {"prefetch", Operation::nothing}};
  return table;
}

/// Multiplications say which half of the result they keep, where they are of whole numbers.
Operation multiplication(const Parts& parts, bool adds) {
  if (has(parts, "wide")) return adds ? Operation::multiply_add_wide : Operation::multiply_wide;
  if (has(parts, "hi")) return adds ? Operation::unknown : Operation::multiply_high;
  return adds ? Operation::multiply_add : Operation::multiply;
}

/// Of whole numbers: sums of floats depend on the order of threads.
Operation atomic(const Parts& parts) {
  if (type_of(parts.back()).kind == Type::Kind::floating) return Operation::effect;
  if (has(parts, "exch")) return Operation::atomic_exchange;
  return has(parts, "add") ? Operation::atomic_add : Operation::effect;
}

Operation operation_of(const Parts& parts) {
  const std::string_view root = parts.front();
  for (const std::string_view part : {"cc", "sat", "rm", "rp", "rz", "rni", "rmi", "rpi", "NaN"}) {
    if (has(parts, part)) return Operation::unknown;  // carries, limits, other roundings
  }
  if (root == "atom" || root == "red") return atomic(parts);
  if (root == "tcgen05") return has(parts, "mma") ? Operation::product : Operation::effect;
  if (root == "mul" || root == "mad") return multiplication(parts, root == "mad");
  if (root == "ldmatrix") {
    return has(parts, "m8n8") && has(parts, "b16") ? Operation::load_matrices : Operation::unknown;
  }
  if (root == "redux") return has(parts, "add") ? Operation::sum_of_warp : Operation::unknown;
  if (root == "prmt") return parts.size() == 2 ? Operation::permute : Operation::unknown;
  if (has(parts, "try_wait") || has(parts, "test_wait")) return Operation::holds;
  const auto found = plain_operations().find(root);
  return found == plain_operations().end() ? Operation::unknown : found->second;
}

Space space_of(const Parts& parts) {
  for (const std::string_view part : parts) {
    const std::string_view space = part.substr(0, part.find(':'));  // "shared::cta"
    if (space == "param") return Space::parameter;
    if (space == "global") return Space::global;
    if (space == "shared") return Space::shared;
  }
  return Space::other;
}

struct Compared {
  Comparison comparison;
  bool is_unordered;
};

/// By the name of the operator; nothing: it is none that is followed.
std::optional<Compared> comparison_of(std::string_view part) {
  static const auto& table = *new std::map<std::string_view, Compared>{
      {"eq", {Comparison::eq, false}}, {"ne", {Comparison::ne, false}},
      {"lt", {Comparison::lt, false}}, {"le", {Comparison::le, false}},
      {"gt", {Comparison::gt, false}}, {"ge", {Comparison::ge, false}},
      {"lo", {Comparison::lt, false}}, {"ls", {Comparison::le, false}},
      {"hi", {Comparison::gt, false}}, {"hs", {Comparison::ge, false}},
      {"equ", {Comparison::eq, true}}, {"neu", {Comparison::ne, true}},
      {"ltu", {Comparison::lt, true}}, {"leu", {Comparison::le, true}},
      {"gtu", {Comparison::gt, true}}, {"geu", {Comparison::ge, true}}};
  const auto found = table.find(part);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

void set_comparison(const Parts& parts, Instruction& instruction) {
  const auto compared = parts.size() > 1 ? comparison_of(parts[1]) : std::nullopt;
  if (!compared) {
    instruction.operation = Operation::unknown;
    return;
  }
  instruction.comparison = compared->comparison;
  instruction.is_unordered = compared->is_unordered;
  if (has(parts, "and")) instruction.combination = Combination::bit_and;
  if (has(parts, "or")) instruction.combination = Combination::bit_or;
  if (has(parts, "xor")) instruction.combination = Combination::bit_xor;
}

void set_shuffle(const Parts& parts, Instruction& instruction) {
  if (has(parts, "up")) instruction.shuffle = Shuffle::up;
  if (has(parts, "down")) instruction.shuffle = Shuffle::down;
  if (has(parts, "bfly")) instruction.shuffle = Shuffle::butterfly;
}

/// Of the elements that tensor cores multiply: the types that follow the shape are the result's and
/// then these.
dry_run::Precision precision_of(const Parts& parts) {
  for (const std::string_view part : parts) {
    if (part == "tf32") return dry_run::Precision::tensorfloat32;
    if (part == "bf16") return dry_run::Precision::bfloat16;
    if (part.starts_with("e4m3") || part.starts_with("e5m2") || part == "s8" || part == "u8") {
      return dry_run::Precision::float8;
    }
  }
  return has(parts, "f64") ? dry_run::Precision::float64 : dry_run::Precision::float16;
}

/// Of "m64n128k16"; 0: it is no shape.
double flops_of_shape(std::string_view part) {
  const std::size_t n = part.find('n');
  const std::size_t k = part.find('k');
  if (!part.starts_with('m') || n == std::string_view::npos || k == std::string_view::npos)
    return 0;
  if (k < n) return 0;
  return 2.0 * whole_number(part.substr(1, n - 1)) * whole_number(part.substr(n + 1, k - n - 1)) *
         whole_number(part.substr(k + 1));
}

/// What a product by a descriptor sums up for each element, by the kind of its factors.
Count count_of_element(const Parts& parts) {
  Count count;
  const auto add = [&](std::string_view kind, dry_run::Precision precision, double length) {
    if (has(parts, kind)) count.flops[static_cast<std::size_t>(precision)] = 2 * length;
  };
  add("kind::f16", dry_run::Precision::bfloat16, 16);
  add("kind::tf32", dry_run::Precision::tensorfloat32, 8);
  add("kind::f8f6f4", dry_run::Precision::float8, 32);
  add("kind::mxf8f6f4", dry_run::Precision::float8, 32);
  add("kind::i8", dry_run::Precision::float8, 32);
  return count;
}

/// Of a warp. An access of a thread moves what it names, and a sector at least.
double reached_bytes(const Parts& parts) {
  constexpr int kSector = 32;
  const std::string_view root = parts.front();
  if (root == "cp") {  // to shared memory, 16 bytes at the most
    if (has(parts, "bulk")) return std::numeric_limits<double>::infinity();
    return has(parts, "global") ? kWarp * kSector : 0;
  }
  if (root != "ld" && root != "st" && root != "atom" && root != "red") return 0;
  const bool is_device = space_of(parts) == Space::global || space_of(parts) == Space::other;
  if (!is_device || has(parts, "local") || has(parts, "const")) return 0;
  int elements = 1;
  for (const int many : {2, 4, 8}) {
    if (has(parts, "v" + std::to_string(many))) elements = many;
  }
  return 1.0 * kWarp * std::max(kSector, elements * type_of(parts.back()).bits / 8);
}

/// Four warps together execute a wgmma.
Count count_of(const Parts& parts, Operation operation) {
  if (operation == Operation::product) return count_of_element(parts);
  Count count;
  const bool is_free = operation == Operation::move || operation == Operation::nothing ||
                       operation == Operation::pack || operation == Operation::unpack;
  count.issued = is_free ? 0 : 1;
  count.reached_bytes = reached_bytes(parts);
  const bool is_of_four_warps = parts.front() == "wgmma";
  if (!is_of_four_warps && parts.front() != "mma") return count;
  const auto precision = static_cast<std::size_t>(precision_of(parts));
  for (const std::string_view part : parts) {
    count.flops[precision] += flops_of_shape(part) / (is_of_four_warps ? 4 : 1);
  }
  return count;
}

}  // namespace

Count& Count::operator+=(const Count& other) {
  for (std::size_t i = 0; i < kPrecisions; ++i) flops[i] += other.flops[i];
  issued += other.issued;
  reached_bytes += other.reached_bytes;
  spilled_bytes += other.spilled_bytes;
  return *this;
}

Count Count::operator*(double times) const {
  Count product = *this;
  for (double& one : product.flops) one *= times;
  product.issued *= times;
  product.reached_bytes *= times;
  product.spilled_bytes *= times;
  return product;
}

void set_opcode(std::string_view opcode, Instruction& instruction) {
  const Parts parts = parts_of(opcode);
  instruction.operation = operation_of(parts);
  instruction.type = type_of(parts.back());
  instruction.space = space_of(parts);
  instruction.is_transposed = has(parts, "trans");
  if (instruction.operation == Operation::compare) set_comparison(parts, instruction);
  if (instruction.operation == Operation::shuffle) set_shuffle(parts, instruction);
  if (instruction.operation == Operation::convert && parts.size() > 2) {
    instruction.from_type = instruction.type;
    instruction.type = type_of(parts[parts.size() - 2]);
  }
  instruction.count = count_of(parts, instruction.operation);
}

}  // namespace headroom::ptx
