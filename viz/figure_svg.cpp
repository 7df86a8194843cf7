#include "viz/figure_svg.h"

#include <fmt/format.h>

#include "viz/canvas_svg.h"
#include "viz/figure_page.h"

namespace sawtooth {
std::string to_svg(const Figure& figure, const Theme& theme, int width, int height) {
    SvgCanvas canvas;
    draw_page(canvas, figure, theme, static_cast<float>(width), static_cast<float>(height));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"Roboto, 'Helvetica Neue', Arial, sans-serif\" font-size=\"12\" role=\"img\" "
        "xml:space=\"preserve\">\n"
        "<title>{2}</title>\n{3}</svg>\n",
        width, height, escaped(figure.title), canvas.elements());
}

}  // namespace sawtooth
