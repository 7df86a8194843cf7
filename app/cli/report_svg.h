#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kernels/core/figure.h"
#include "viz/canvas.h"

namespace sawtooth::cli {

// Draws figures as SVG elements of one page in two themes. Every figure is in the page once: a colour is a
// class, and the style sheet gives its value in each theme.
class PageDrawings {
  public:
    // The figure without title and caption, which are text of the page.
    std::string figure(const Figure& figure);
    // A short line in the style of that variant.
    std::string swatch(int variant);

    // The style rules of all drawings so far.
    std::string light_style() const { return style_of(&Pair::first); }
    std::string dark_style() const { return style_of(&Pair::second); }

  private:
    using Pair = std::pair<std::string, std::string>;  // the colours of one class in both themes
    using Draw = std::function<void(Canvas&, const Theme&)>;
    std::string drawing(const Draw& draw, int width, int height);
    std::string class_of(const std::string& attribute, const Pair& colours);
    std::string style_of(std::string Pair::*theme) const;

    // Class names by "fill" or "stroke" and the colours.
    std::map<std::pair<std::string, Pair>, std::string> classes_;
};

}  // namespace sawtooth::cli
