// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Text that came from a suite, a journal or a worker, as a part of a document. All of it shows as
// it is and none of it acts; control characters stand as \xNN. `text` is UTF-8.
namespace headroom {

/// For a cell of a table in GitHub's Markdown.
std::string markdown_escaped(std::string_view text);

/// For text and attributes of XML.
std::string xml_escaped(std::string_view text);

}  // namespace headroom
