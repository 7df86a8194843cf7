#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kernels/core/figure.h"
#include "viz/canvas.h"

namespace sawtooth::cli {

// Figures as SVG elements of one page in two themes. A colour is a class, and the style sheet says what it is
// in each theme, so that every figure is there once.
class PageDrawings {
  public:
    // Without title and caption, which are text of the page.
    std::string figure(const Figure& figure);
    // A short line in the look of that variant.
    std::string swatch(int variant);

    // The rules of all drawings so far.
    std::string light_style() const { return style_of(&Pair::first); }
    std::string dark_style() const { return style_of(&Pair::second); }

  private:
    using Pair = std::pair<std::string, std::string>;  // the colours of one place in both themes
    using Draw = std::function<void(Canvas&, const Theme&)>;
    std::string drawing(const Draw& draw, int width, int height);
    std::string class_of(const std::string& attribute, const Pair& colours);
    std::string style_of(std::string Pair::*theme) const;

    std::map<std::pair<std::string, Pair>, std::string> classes_;  // "fill" or "stroke" with the colours
};

}  // namespace sawtooth::cli
