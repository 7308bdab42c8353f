// SPDX-License-Identifier: Apache-2.0
#include "src/report/html.h"

#include <gtest/gtest.h>

#include "src/report/svg.h"

namespace headroom {
namespace {

using namespace std::string_literals;

TEST(Html, of_text_has_no_markup) {
  EXPECT_EQ(Html("<script>alert('&\"')</script>").markup(),
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;");
  EXPECT_EQ(Html("row_1 \u00e9 \u05d0 \U0001F40D").markup(), "row_1 \u00e9 \u05d0 \U0001F40D");
}

TEST(Html, shows_what_nobody_could_see) {
  EXPECT_EQ(Html("a\tb\0\x1b[1m\x7f"s).markup(), "a\\u{9}b\\u{0}\\u{1b}[1m\\u{7f}");
  EXPECT_EQ(Html("\u202Eevil\u200F\u2066\u061C\u200B").markup(),
            "\\u{202e}evil\\u{200f}\\u{2066}\\u{61c}\\u{200b}");
  EXPECT_EQ(Html("\xff\xc3").markup(), "\\xff\\xc3");
  EXPECT_EQ(Html("\uFFFE").markup(), "\\u{fffe}");
}

TEST(Html, escapes_the_values_of_attributes) {
  EXPECT_EQ(element("a", {{"title", "\" onclick=\"x"}}, "text").markup(),
            "<a title=\"&quot; onclick=&quot;x\">text</a>");
  EXPECT_EQ(empty_element("rect", {{"x", "1"}}).markup(), "<rect x=\"1\"/>");
}

TEST(Html, keeps_what_is_markup_already) {
  EXPECT_EQ(element("p", element("b", "1 < 2") + " yes").markup(), "<p><b>1 &lt; 2</b> yes</p>");
}

TEST(HtmlTable, names_its_rows_columns_and_groups) {
  HtmlTable table("Sizes", {{"case"}, {"bytes", true, "memory"}, {"share", true, "memory"}});
  table.add_group("a group");
  table.add_row({{"one"}, {"1 KiB", "1024 bytes"}, {"5"}});
  table.add_row({{"two"}, {"failed", "", 2}});
  const std::string html = table.html().markup();
  for (const char* part :
       {"<caption>Sizes</caption>", "<th scope=\"colgroup\" colspan=\"2\">memory</th>",
        "<th class=\"number\" scope=\"col\">bytes</th>",
        "<th scope=\"rowgroup\" colspan=\"3\">a group</th>", "<th scope=\"row\">one</th>",
        "<td class=\"number\" title=\"1024 bytes\">1 KiB</td>", "<td colspan=\"2\">failed</td>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part << "\n" << html;
  }
}

TEST(Svg, shortens_names_between_characters) {
  EXPECT_EQ(shortened("name", 4), "name");
  EXPECT_EQ(shortened("n\u00e9me", 2), "n\u00e9\u2026");
}

}  // namespace
}  // namespace headroom
