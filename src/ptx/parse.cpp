// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <charconv>
#include <map>

#include "src/ptx/kernel.h"
#include "src/ptx/opcode.h"

namespace headroom::ptx {
namespace {

using Text = std::string_view;
using Kind = Operand::Kind;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

Text trimmed(Text text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Cuts off what stands before the first space.
Text next_word(Text& text) {
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  const Text word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

std::string without_comments(Text text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_comment = text.substr(i, 2) == "//";
    while (is_comment && i < text.size() && text[i] != '\n' && text[i] != '\0') ++i;
    if (i < text.size()) kept += text[i];
  }
  return kept;
}

/// What stands between `open`, where the text begins, and what closes it. Empty: nothing does.
Text enclosed(Text text, char open, char close) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return text.substr(1, i - 1);
  }
  return {};
}

/// By commas that stand in no brackets.
std::vector<Text> split(Text text) {
  std::vector<Text> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || (depth != 0 && i < text.size())) continue;
    if (const Text part = trimmed(text.substr(begin, i - begin)); !part.empty()) {
      parts.push_back(part);
    }
    begin = i + 1;
  }
  return parts;
}

/// Bytes of ".param .u64 .ptr .global .align 1 NAME" or of ".param .align 8 .b8 NAME[128]".
int bytes_of_parameter(Text declaration) {
  int bytes = 0;
  int elements = 1;
  const std::size_t bracket = declaration.find('[');
  if (bracket != Text::npos) {
    const Text count = declaration.substr(bracket + 1);
    std::from_chars(count.data(), count.data() + count.size(), elements);
  }
  while (!declaration.empty()) {
    const Text word = next_word(declaration);
    int bits = 0;
    if (word.size() > 2 && word[0] == '.' && Text("bsuf").find(word[1]) != Text::npos) {
      std::from_chars(word.data() + 2, word.data() + word.size(), bits);
    }
    if (bits != 0) bytes = bits / 8 * elements;
  }
  return bytes;
}

/// By the names that compilers give them: "%p1", "%rd1".
int words_of_register(Text name) {
  if (name.starts_with("%p")) return 0;
  return name.starts_with("%rd") || name.starts_with("%fd") ? 2 : 1;
}

std::optional<Special> special_of(Text name) {
  static const auto& table = *new std::map<Text, Special>{
      {"%tid.x", Special::tid_x},       {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},       {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},     {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},   {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},   {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y}, {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::lane},       {"%warpid", Special::warp}};
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

/// "12", "-1", "0x10", "0f3F800000", "0d3FF0000000000000", with a U behind or not.
std::optional<std::uint64_t> number_of(Text text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.ends_with('U')) text.remove_suffix(1);
  int base = 10;
  const Text prefix = text.substr(0, 2);
  if (prefix == "0x" || prefix == "0f" || prefix == "0F" || prefix == "0d" || prefix == "0D") {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_negative ? ~value + 1 : value;
}

/// The name of the label that a statement begins with; empty: it begins with none.
Text label_of(Text statement) {
  std::size_t end = 0;
  while (end < statement.size() && (std::isalnum(static_cast<unsigned char>(statement[end])) != 0 ||
                                    statement[end] == '_' || statement[end] == '$')) {
    ++end;
  }
  const bool is_label = statement.substr(end, 1) == ":" && statement.substr(end, 2) != "::";
  return is_label ? statement.substr(0, end) : Text();
}

class Body {
 public:
  explicit Body(Kernel& kernel) : kernel_(kernel) {}

  void add_parameters(Text declarations) {
    for (const Text declaration : split(declarations)) {
      Text name = declaration;
      while (name.find_first_of(" \t") != Text::npos) next_word(name);
      name = name.substr(0, name.find('['));
      parameters_.emplace(name, kernel_.parameter_bytes.size());
      kernel_.parameter_bytes.push_back(bytes_of_parameter(declaration));
    }
  }

  void add_statements(Text text) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != ';') continue;
      add_statement(text.substr(begin, i - begin));
      begin = i + 1;
    }
    add_statement(text.substr(begin));
    add_end();
  }

  /// Whether all labels are there that instructions jump to. One in a scope is known there, and in
  /// the scopes inside of it.
  bool resolve() {
    for (const Jump& jump : jumps_) {
      auto found = labels_.end();
      for (auto scope = jump.scopes.rbegin(); scope != jump.scopes.rend(); ++scope) {
        if (found == labels_.end()) found = labels_.find({*scope, jump.label});
      }
      if (found == labels_.end()) return false;
      kernel_.instructions[jump.from].target = found->second;
    }
    return true;
  }

 private:
  void add_statement(Text text) {
    text = trimmed(text);
    while (!text.empty() && (text.front() == '{' || text.front() == '}')) {
      if (text.front() == '{') scopes_.push_back(++scopes_so_far_);
      if (text.front() == '}' && scopes_.size() > 1) scopes_.pop_back();
      text = trimmed(text.substr(1));
    }
    if (text.starts_with(".loc") || text.starts_with(".file")) {  // ends with its line
      const std::size_t end = text.find_first_of(Text("\n\0", 2));
      return end == Text::npos ? void() : add_statement(text.substr(end));
    }
    if (const Text label = label_of(text); !label.empty()) {
      labels_.emplace(std::pair(scopes_.back(), label), kernel_.instructions.size());
      return add_statement(text.substr(label.size() + 1));
    }
    if (!text.empty() && text.front() != '.') add_instruction(text);
  }

  void add_instruction(Text text) {
    Instruction instruction;
    if (text.front() == '@') {
      Text guard = next_word(text).substr(1);
      instruction.guard.is_negated = guard.starts_with('!');
      if (instruction.guard.is_negated) guard.remove_prefix(1);
      instruction.guard.kind = Operand::Kind::in_register;
      instruction.guard.value = register_of(guard);
    }
    const Text opcode = next_word(text);
    set_opcode(opcode, instruction);
    const std::vector<Text> operands = split(text);
    if (instruction.operation == Operation::branch) {
      if (operands.size() != 1) instruction.operation = Operation::effect;
      if (operands.size() == 1) {
        jumps_.push_back({kernel_.instructions.size(), operands[0], scopes_});
      }
    } else if (instruction.operation == Operation::store || opcode.starts_with("red.")) {
      add_address(operands.empty() ? Text() : operands[0], instruction);
      for (std::size_t i = 1; i < operands.size() && i < 2; ++i) add(operands[i], instruction.from);
    } else if (instruction.operation == Operation::product) {  // to, two factors, their descriptor
      if (operands.size() > 3) add(operands[3], instruction.from);
    } else {
      set_results(opcode, operands, instruction);
    }
    kernel_.instructions.push_back(std::move(instruction));
  }

  void set_results(Text opcode, const std::vector<Text>& operands, Instruction& instruction) {
    if (operands.empty()) return;
    add(operands[0], instruction.to);
    const bool is_load = instruction.operation == Operation::load ||
                         instruction.operation == Operation::load_matrices;
    const bool has_address = is_load || opcode.starts_with("atom.");
    if (has_address) add_address(operands.size() > 1 ? operands[1] : Text(), instruction);
    if (is_load) return;
    for (std::size_t i = has_address ? 2 : 1; i < operands.size(); ++i) {
      add(operands[i], instruction.from);
    }
    if (instruction.operation != Operation::move) return;
    if (instruction.to.size() > 1) instruction.operation = Operation::unpack;
    if (instruction.from.size() > 1) instruction.operation = Operation::pack;
  }

  void add_end() {
    Instruction end;
    end.operation = Operation::end;
    kernel_.instructions.push_back(end);
  }

  /// "[%rd1+16]", "[ name + 8 ]".
  void add_address(Text text, Instruction& instruction) {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    const std::size_t plus = text.find('+');
    instruction.from.push_back(operand(trimmed(text.substr(0, plus))));
    if (plus == Text::npos) return;
    const auto offset = number_of(trimmed(text.substr(plus + 1)));
    if (offset) instruction.offset = static_cast<std::int64_t>(*offset);
    if (!offset) instruction.from.back() = {};
  }

  /// A register, or each of "{%r1, %r2}" and of "%r1|%p1".
  void add(Text text, std::vector<Operand>& operands) {
    if (text.starts_with('{') && text.ends_with('}')) {
      for (const Text part : split(text.substr(1, text.size() - 2))) add(part, operands);
      return;
    }
    const std::size_t bar = text.find('|');
    operands.push_back(operand(trimmed(text.substr(0, bar))));
    if (bar != Text::npos) operands.push_back(operand(trimmed(text.substr(bar + 1))));
  }

  Operand operand(Text text) {
    Operand made;
    if (text.starts_with('!')) {
      made.is_negated = true;
      text.remove_prefix(1);
    }
    if (const auto number = number_of(text)) {
      made.kind = Kind::number;
      made.value = *number;
    } else if (const auto special = special_of(text)) {
      made.kind = Kind::special;
      made.value = static_cast<std::uint64_t>(*special);
    } else if (const auto found = parameters_.find(text); found != parameters_.end()) {
      made.kind = Kind::parameter;
      made.value = found->second;
    } else if (text == "global_smem") {  // all of the shared memory that a launch asks for
      made.kind = Kind::number;
    } else if (text != "_" &&
               !text.starts_with(
                   '[')) {  // another name's register is never set, so it is not known
      made.kind = Kind::in_register;
      made.value = register_of(text);
    }
    return made;
  }

  std::size_t register_of(Text name) {
    const auto [found, is_new] = registers_.emplace(name, kernel_.register_words.size());
    if (is_new) kernel_.register_words.push_back(words_of_register(name));
    return found->second;
  }

  Kernel& kernel_;
  std::map<Text, std::size_t> parameters_;
  std::map<Text, std::size_t> registers_;
  struct Jump {
    std::size_t from;
    Text label;
    std::vector<int> scopes;  // the outermost first
  };
  std::map<std::pair<int, Text>, std::size_t> labels_;  // by their scopes
  std::vector<Jump> jumps_;
  std::vector<int> scopes_{0};  // of the statement that is read
  int scopes_so_far_ = 0;
};

/// From the declaration of the kernel of that name on, behind the name; empty: there is none.
Text from_entry(Text text, Text name) {
  const std::string declared = ".entry " + std::string(name);
  for (std::size_t at = text.find(declared); at != Text::npos; at = text.find(declared, at + 1)) {
    const Text rest = trimmed(text.substr(at + declared.size()));
    if (rest.starts_with('(')) return rest;
  }
  return {};
}

}  // namespace

std::optional<Kernel> parse(std::string_view text, std::string_view name) {
  const std::string kept = without_comments(text);
  const Text entry = from_entry(kept, name);
  if (entry.empty()) return std::nullopt;
  const Text declarations = enclosed(entry, '(', ')');
  const std::size_t begin = entry.find('{', declarations.size());
  if (begin == Text::npos) return std::nullopt;

  Kernel kernel;
  Body body(kernel);
  body.add_parameters(declarations);
  body.add_statements(enclosed(entry.substr(begin), '{', '}'));
  if (!body.resolve()) return std::nullopt;
  return kernel;
}

}  // namespace headroom::ptx
