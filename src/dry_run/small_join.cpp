// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_join.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::size_t kMostDimensions = 4;
constexpr std::size_t kMostRuns = 1024;  // that are copied one by one

/// TensorSizeStride: unsigned size[4], stride[4].
struct Layout {
  std::size_t size(std::size_t dimension) const {
    return at<unsigned>(begin, dimension * sizeof(unsigned));
  }
  std::size_t stride(std::size_t dimension) const { return size(kMostDimensions + dimension); }

  const char* begin;
  static constexpr std::size_t kBytes = 2 * kMostDimensions * sizeof(unsigned);
};

/// What a kernel's name says: <OpaqueType<bytes>, unsigned, dimensions, parts, layouts>, and of a
/// vectorized one <..., bytes of a vector, elements of it>.
struct Form {
  std::size_t dimensions = 0;
  std::size_t most_parts = 0;
  std::size_t layouts = 0;    // of the parts; 1: each lies in a row
  std::size_t unit = 0;       // bytes that move as one
  std::size_t of_vector = 1;  // elements of such a unit
  bool is_vectorized = false;
};

/// "Li2ELi128ELi1E...": the next of such numbers; 0: there is none.
std::size_t next_number(std::string_view& text) {
  std::size_t number = 0;
  if (!text.starts_with("Li")) return number;
  const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()) + 1);
  return number;
}

/// Bytes of an element, which PyTorch 2.1 names by its type; 0: it is none that is followed.
std::size_t element_bytes(std::string_view name) {
  if (const std::size_t bytes = opaque_bytes(name)) return bytes;
  auto type = type_behind(name, "CatArrayBatchedCopyI");
  if (!type) type = type_behind(name, "_contigI");
  return type ? bytes_of_type(*type) : 0;
}

std::optional<Form> form_of(std::string_view name) {
  constexpr std::string_view kIndex = "jLi";  // behind the type of elements: unsigned, and a number
  Form form{.unit = element_bytes(name)};
  const std::size_t found = name.find(kIndex);
  if (!has(name, "CatArrayBatchedCopy") || found == std::string_view::npos || form.unit == 0) {
    return std::nullopt;
  }
  form.is_vectorized = has(name, "CatArrayBatchedCopy_vectorized");
  name.remove_prefix(found + 1);
  form.dimensions = next_number(name);
  form.most_parts = next_number(name);
  form.layouts = next_number(name);
  if (form.is_vectorized) {
    form.unit = next_number(name);
    form.of_vector = next_number(name);
  }
  const bool is_expected = form.dimensions > 0 && form.dimensions <= kMostDimensions &&
                           form.most_parts > 0 && form.layouts > 0 && form.of_vector > 0;
  return is_expected ? std::optional(form) : std::nullopt;
}

/// CatArrayBatchedCopy(to, {from[parts]; unsigned offset[parts], size[parts], elements[parts]; bool
/// is_contiguous[parts]; layout[layouts]}, layout of the result, int dimension, unsigned stride).
class Join {
 public:
  Join(const Form& form, void** arguments)
      : form_(form),
        to_(at<const char*>(arguments[0])),
        parts_(static_cast<const char*>(arguments[1])),
        result_{static_cast<const char*>(arguments[2])},
        dimension_(static_cast<std::size_t>(at<int>(arguments[3]))),
        stride_(at<unsigned>(arguments[4])) {}

  const char* to() const { return to_; }
  const char* from(std::size_t part) const {
    return at<const char*>(parts_, part * sizeof(const char*));
  }
  bool is_of_bytes() const { return form_.unit == form_.of_vector; }
  std::size_t bytes_of(std::size_t part) const { return elements(part) * form_.unit; }
  std::size_t elements(std::size_t part) const { return number(2, part) / form_.of_vector; }
  /// From its first byte to its last.
  std::size_t bytes() const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < form_.dimensions; ++i) {
      last += (result_.size(i) - 1) * result_.stride(i);
    }
    return (last + 1) * form_.unit;
  }
  /// How many elements of a part lie side by side, there and in the result.
  std::size_t run(std::size_t part) const {
    std::size_t count = 1;
    for (std::size_t i = form_.dimensions; i-- > dimension_;) {
      if (form_.layouts > 1 || result_.stride(i) != count) return 1;
      count *= size_in(result_, i, part);
    }
    return count;
  }
  void copy(std::size_t part, std::size_t element, std::size_t count, KnownBytes& known) const {
    const std::size_t base = number(0, part) * stride_ / form_.of_vector;
    const std::size_t place = form_.layouts > 1 ? offset(layout(part), element, part) : element;
    known.copy(to_ + (base + offset(result_, element, part)) * form_.unit,
               from(part) + place * form_.unit, count * form_.unit);
  }

 private:
  std::size_t number(std::size_t list, std::size_t part) const {
    return at<unsigned>(parts_, form_.most_parts * sizeof(const char*) +
                                    (list * form_.most_parts + part) * sizeof(unsigned));
  }
  Layout layout(std::size_t part) const {
    constexpr std::size_t kLists = sizeof(const char*) + 3 * sizeof(unsigned) + sizeof(bool);
    return {parts_ + form_.most_parts * kLists + part * Layout::kBytes};
  }
  std::size_t size_in(const Layout& layout, std::size_t dimension, std::size_t part) const {
    if (dimension != dimension_) return layout.size(dimension);
    return form_.is_vectorized ? number(1, part) * stride_ / form_.of_vector : number(1, part);
  }
  std::size_t offset(const Layout& layout, std::size_t element, std::size_t part) const {
    std::size_t found = 0;
    for (std::size_t i = form_.dimensions; i-- > 1;) {
      const std::size_t size = size_in(layout, i, part);
      found += element % size * layout.stride(i);
      element /= size;
    }
    return found + element * layout.stride(0);
  }

  Form form_;
  const char* to_;
  const char* parts_;
  Layout result_;
  std::size_t dimension_;
  std::size_t
      stride_;  // of that dimension in the result; elements, before vectors are made of them
};

/// The share of all parts that is not zero, where it is all that is known of one of them.
std::optional<double> share_of(const Join& join, unsigned parts, const KnownBytes& known) {
  double not_zero = 0;
  double all = 0;
  bool has_share = false;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto elements = static_cast<double>(join.elements(part));
    if (elements == 0) continue;
    const auto share = join.is_of_bytes()
                           ? known.share_of_bytes(join.from(part), join.bytes_of(part))
                           : known.share(join.from(part));
    if (!share) return std::nullopt;
    has_share |= known.share(join.from(part)).has_value();
    not_zero += *share * elements;
    all += elements;
  }
  return has_share ? std::optional(not_zero / all) : std::nullopt;
}

/// Of whole numbers of all parts, of which no more is known; nothing: of one part there is none.
std::optional<std::int64_t> limit_of(const Join& join, unsigned parts, const KnownBytes& known) {
  std::optional<std::int64_t> limit;
  for (std::size_t part = 0; part < parts; ++part) {
    if (join.elements(part) == 0) continue;
    const auto of_part = known.limit(join.from(part));
    if (!of_part) return std::nullopt;
    limit = std::max(limit.value_or(0), *of_part);
  }
  return limit;
}

}  // namespace

bool is_join(const char* name) { return form_of(name).has_value(); }

bool run_join(const char* name, void** arguments, unsigned parts, KnownBytes& known, Owns owns) {
  const Form form = *form_of(name);
  const Join join(form, arguments);
  if (!owns(join.to()) || parts > form.most_parts) return false;
  std::size_t runs = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    if (join.elements(part) == 0) continue;
    if (!owns(join.from(part)) || join.run(part) == 0) return false;
    runs += join.elements(part) / join.run(part);
  }
  if (const auto limit = limit_of(join, parts, known)) {
    return known.set_limit(join.to(), join.bytes(), *limit), true;
  }
  if (const auto share = share_of(join, parts, known)) {
    return known.set_share(join.to(), join.bytes(), *share), true;
  }
  if (runs > kMostRuns) return known.forget(join.to(), join.bytes()), true;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t run = join.run(part);
    for (std::size_t i = 0; i < join.elements(part); i += run) join.copy(part, i, run, known);
  }
  return true;
}

}  // namespace headroom::dry_run
