#include "viz/figure_page.h"

#include <array>

#include "viz/heading.h"
#include "viz/marks.h"

namespace sawtooth {
namespace {

constexpr float margin = 12;  // in units

void draw_axes(Canvas& canvas, const Theme& theme, const Figure& figure, const Layout& layout) {
    const Box& plot = layout.frame.box;
    const float unit = canvas.unit();
    const bool grid_x = !has_tree(figure), grid_y = grid_x && row_names(figure).empty();
    const bool on_top = has_axis_on_top(figure);
    for (const Tick& tick : layout.x_ticks) {
        const float x = layout.frame.at_x(tick.value);
        if (x < plot.left - 0.5f || x > plot.right + 0.5f) continue;
        if (grid_x) canvas.path(std::array<Point, 2>{{{x, plot.top}, {x, plot.bottom}}}, {{theme.line}, 1});
        canvas.text({x, on_top ? plot.top - 10 * unit : plot.bottom + 12 * unit}, Align::centre, {theme.text},
                    tick.text);
    }
    for (const Tick& tick : layout.y_ticks) {
        const float y = layout.frame.at_y(tick.value);
        if (y < plot.top - 0.5f || y > plot.bottom + 0.5f) continue;
        if (grid_y) canvas.path(std::array<Point, 2>{{{plot.left, y}, {plot.right, y}}}, {{theme.line}, 1});
        canvas.text({plot.left - 6 * unit, y}, Align::right, {theme.text}, tick.text);
    }
    canvas.outline(plot, {theme.line});
    if (on_top)
        canvas.text({plot.left - 16 * unit, plot.top - 10 * unit}, Align::right, {theme.quiet_text},
                    layout.x_name);
    else
        canvas.text({(plot.left + plot.right) / 2, layout.area.bottom - 8 * unit}, Align::centre,
                    {theme.quiet_text}, elided(canvas, layout.x_name, layout.area.width()));
    canvas.upright_text({layout.area.left + 8 * unit, plot.middle()}, {theme.quiet_text},
                        elided(canvas, layout.y_name, plot.height() + 2 * canvas.line_height()));
}

void draw_plot(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area) {
    const Layout layout = lay_out(canvas, figure, area, {});
    const Pen pen = pen_for(canvas, theme, layout.frame, figure);
    draw_axes(canvas, theme, figure, layout);
    canvas.clip(layout.frame.box);
    draw_marks(pen, figure);
    draw_rules(pen, figure);
    draw_texts(pen, figure);
    canvas.unclip();
    draw_rule_labels(pen, figure, layout);
    draw_colour_bar(pen, figure);
    draw_row_scales(pen, figure);
}

}  // namespace

float least_page_height(const Canvas& canvas, const Figure& figure) {
    return least_height(canvas, figure) + 2 * margin * canvas.unit();
}

void draw_page(Canvas& canvas, const Figure& figure, const Theme& theme, float width, float height) {
    const Box page{0, 0, width, height};
    canvas.box(page, {theme.ground});
    const float edge = margin * canvas.unit();
    const Box inner{edge, edge, page.right - edge, page.bottom - edge};
    const Box area = draw_heading(canvas, theme, figure, inner).rest;
    if (figure.marks.empty())
        draw_missing(canvas, theme, figure, area);
    else if (const Matrix* matrix = matrix_of(figure))
        draw_matrix(canvas, theme, figure, *matrix, area);
    else
        draw_plot(canvas, theme, figure, area);
}

}  // namespace sawtooth
