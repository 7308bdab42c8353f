// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Text for pages and files whose form gives some characters a meaning. Control characters, which
// none of the forms can hold, stand as \xNN.
namespace headroom {

/// What stands for a character that HTML and XML give a meaning; empty: it stands for itself.
std::string_view entity_of(char c);

/// For HTML and XML, in an element or in a quoted attribute.
std::string escape_markup(std::string_view text);

/// For a cell or a line of GitHub's Markdown.
std::string escape_markdown(std::string_view text);

}  // namespace headroom
