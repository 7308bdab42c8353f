// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/report/html.h"

// Figures are as wide as the page leaves them: x and widths are percent of the figure, y and
// heights are pixels, so that texts keep their size on a narrow screen.
namespace headroom {

/// A figure: what it shows in a few words, how to read it in a sentence, and its parts.
Html svg_figure(const std::string& style, double height, const std::string& title,
                const std::string& description, const Html& parts);

struct SvgBox {
  double x = 0;  // percent
  double y = 0;
  double width = 0;  // percent
  double height = 0;
};

/// `tip` is what a pointer over it shows; empty: nothing.
Html svg_rectangle(const std::string& style, const SvgBox& box, const std::string& tip = "");

enum class Anchor { start, middle, end };

/// `shift` moves the text to the right, in pixels.
Html svg_text(const std::string& style, double x, double y, const Html& text,
              Anchor anchor = Anchor::start, double shift = 0);

Html svg_line(const std::string& style, double x1, double y1, double x2, double y2);
Html svg_circle(const std::string& style, double x, double y, double radius,
                const std::string& tip = "");

/// A text cut to so many characters, with an ellipsis where it was longer.
std::string shortened(const std::string& text, std::size_t characters);

/// A place on an axis that begins at 0.
struct Tick {
  double value = 0;
  std::string text;
};

/// At most `most` round figures above 0 and up to `largest`: 1, 2 or 5 times a power of ten, of
/// bytes in their binary unit. None where nothing is above 0.
std::vector<Tick> byte_ticks(double largest, int most);
std::vector<Tick> number_ticks(double largest, int most);

}  // namespace headroom
