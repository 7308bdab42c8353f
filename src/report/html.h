// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// A piece of HTML. Text becomes one only escaped, so that no name out of a suite file can be
/// markup: & < > " ' as entities; what can't be seen or would turn the text around it (control
/// characters, marks of direction) as \u{202e}, bytes that are no UTF-8 as \xff.
class Html {
 public:
  Html() = default;
  Html(std::string_view text);  // NOLINT: text is meant to convert
  Html(const std::string& text) : Html(std::string_view(text)) {}  // NOLINT
  Html(const char* text) : Html(std::string_view(text)) {}         // NOLINT

  /// What the project itself wrote.
  static Html trusted(std::string_view markup);

  Html& operator+=(const Html& more);
  friend Html operator+(Html a, const Html& b) { return std::move(a += b); }

  bool empty() const { return markup_.empty(); }
  const std::string& markup() const { return markup_; }

 private:
  std::string markup_;
};

/// Name and value; the value is escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

Html element(std::string_view tag, const Attributes& attributes, const Html& content);
Html element(std::string_view tag, const Html& content);

/// An element that holds nothing: <meta/>, <rect/>.
Html empty_element(std::string_view tag, const Attributes& attributes);

/// A name that somebody chose, apart from the direction of the text around it.
Html name_html(const std::string& name);

}  // namespace headroom
