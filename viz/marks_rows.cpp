#include <algorithm>
#include <array>
#include <cmath>

#include "viz/marks.h"

// Draws trees, tracks and matrices, marks that ImPlot and most plotting libraries do not have.

namespace sawtooth {
namespace {

// The index of a label among the labels of a track, which chooses the shade of its spans. Labels beyond the
// last shade share one.
size_t place_in(const std::vector<std::string_view>& known, std::string_view label) {
    return static_cast<size_t>(std::find(known.begin(), known.end(), label) - known.begin());
}

std::vector<std::string_view> labels_of(const Tracks::Track& track) {
    constexpr size_t looked_at = 256;
    std::vector<std::string_view> known;
    for (size_t i = 0; i < std::min(track.spans.size(), looked_at); ++i)
        if (place_in(known, track.spans[i].label) == known.size()) known.push_back(track.spans[i].label);
    return known;
}

void draw_spans(const Pen& pen, const Tracks::Track& track, float top, float bottom) {
    const Colour colour = stroke_of(track.ink, pen.theme).colour;
    const auto known = labels_of(track);
    const Box& plot = pen.frame.box;
    const float pixel = pen.canvas.unit(), gap = 4 * pixel;
    // If spans are too narrow to be distinguished, the height shows the share of time that they take: one
    // shape for all neighbours, on a ground as high as the row.
    std::vector<Point> shares, floor;
    const auto end_shares = [&] {
        if (shares.empty()) return;
        pen.canvas.box({shares.front().x, top, shares.back().x, bottom}, colour.faded(0.16f));
        pen.canvas.strip(shares, floor, shade(colour, 0));
        shares.clear(), floor.clear();
    };
    const auto draw_share = [&](float left, float right, float share) {
        if (!shares.empty() && left > shares.back().x + pixel) end_shares();
        const float height = bottom - (bottom - top) * std::clamp(share, 0.0f, 1.0f);
        shares.insert(shares.end(), {{left, height}, {right, height}});
        floor.insert(floor.end(), {{left, bottom}, {right, bottom}});
    };
    Box merged{0, top, -1e9f, bottom};
    float busy = 0;
    const auto flush = [&](float next) {
        const float end = next - merged.right < 2 * pixel ? next : merged.right;
        // Edges are at whole pixels: neighbours that share pixels would show seams.
        const float left = std::round(merged.left), right = std::max(std::round(end), left + 1);
        if (merged.right >= merged.left) draw_share(left, right, busy / std::max(end - merged.left, pixel));
        merged.right = -1e9f, busy = 0;
    };
    for (const Tracks::Span& span : track.spans) {
        Box box{pen.frame.at_x(span.start), top, pen.frame.at_x(span.end), bottom};
        if (box.right < plot.left || box.left > plot.right) continue;
        if (box.width() < 1.5f * pixel) {
            if (merged.right < merged.left || box.left > merged.right + 2 * pixel ||
                box.left > merged.left + 3 * pixel)
                flush(box.left), merged.left = box.left;
            merged.right = std::max(merged.right, box.right);
            busy += box.width() * static_cast<float>(span.busy);
            continue;
        }
        flush(box.left);
        box.left = std::max(box.left, plot.left), box.right = std::min(box.right, plot.right);
        if (span.busy < 1) {  // several launches are drawn as one
            draw_share(box.left, box.right, static_cast<float>(span.busy));
            continue;
        }
        end_shares();
        if (box.width() > 4 * pixel) box.right -= pixel;
        const Colour fill = shade(colour, place_in(known, span.label));
        pen.canvas.box(box, fill);
        if (box.width() > 4 * gap && pen.canvas.text_width(span.label) + 2 * gap < box.width() &&
            box.height() >= pen.canvas.line_height() * 0.9f)
            pen.canvas.text({box.left + gap, box.middle()}, Align::left,
                            {ink_on(blend(pen.theme.ground, fill))}, span.label);
    }
    flush(plot.right + 1e6f);
    end_shares();
}

void draw_curve(const Pen& pen, const Tracks::Track& track, float top, float bottom) {
    const double most = highest(track);
    Stroke stroke = stroke_of(track.ink, pen.theme);
    stroke.dash = Dash::solid;
    pen.canvas.path(std::array<Point, 2>{{{pen.frame.box.left, bottom}, {pen.frame.box.right, bottom}}},
                    {{pen.theme.line}, 1});
    std::vector<Point> run, floor;
    const auto flush = [&] {
        if (run.size() > 1)
            pen.canvas.strip(run, floor, stroke.colour.faded(0.2f)), pen.canvas.path(run, stroke);
        run.clear(), floor.clear();
    };
    for (size_t i = 0; i < track.x.size(); ++i) {
        if (std::isnan(track.y[i])) {
            flush();
            continue;
        }
        const float x = pen.frame.at_x(track.x[i]);
        run.push_back(
            {x, bottom - (bottom - top) * static_cast<float>(std::clamp(track.y[i] / most, 0.0, 1.0))});
        floor.push_back({x, bottom});
    }
    flush();
}

// The shape of nodes: boxes around their texts, or dots if the texts do not fit.
struct NodeShape {
    float across = 0;  // distance from one node to the next
    float half_width = 0, half_height = 0;
    bool has_text = true;
};

NodeShape shape_of_nodes(const Pen& pen, const Tree& tree) {
    const float unit = pen.canvas.unit(), line = pen.canvas.line_height();
    float widest = 0;
    for (const Tree::Node& node : tree.nodes) widest = std::max(widest, pen.canvas.text_width(node.text));
    const bool names_edges = std::any_of(tree.edges.begin(), tree.edges.end(),
                                         [](const Tree::Edge& edge) { return !edge.text.empty(); });
    const float across = std::fabs(pen.frame.at_x(1) - pen.frame.at_x(0)),
                down = std::fabs(pen.frame.at_y(1) - pen.frame.at_y(0)) - (names_edges ? line : 0);
    NodeShape shape{across, std::min(widest / 2 + 6 * unit, across * (names_edges ? 0.38f : 0.46f)),
                    std::min(line / 2 + 3 * unit, down * 0.38f)};
    shape.has_text = widest + 4 * unit <= 2 * shape.half_width && line <= 2 * shape.half_height;
    if (!shape.has_text)
        shape.half_width = shape.half_height =
            std::clamp(std::min(shape.half_width, shape.half_height), 1.5f * unit, 5 * unit);
    return shape;
}

// Draws an arrow head at the edge of the node at `end`.
void draw_arrow_head(const Pen& pen, Point start, Point end, const NodeShape& shape, Stroke stroke) {
    const float dx = end.x - start.x, dy = end.y - start.y, length = std::hypot(dx, dy);
    const float inside = std::min(shape.half_width / std::max(std::fabs(dx), 1e-3f),
                                  shape.half_height / std::max(std::fabs(dy), 1e-3f));
    if (inside >= 1) return;
    const Point tip{end.x - dx * inside, end.y - dy * inside};
    const float size = 6 * pen.canvas.unit() / length;
    const Point back{tip.x - dx * size, tip.y - dy * size};
    const float aside_x = -dy * size * 0.6f, aside_y = dx * size * 0.6f;
    stroke.colour.alpha = 1;
    for (const float side : {-1.0f, 1.0f})
        pen.canvas.path(std::array{tip, Point{back.x + side * aside_x, back.y + side * aside_y}}, stroke);
}

void draw_edge(const Pen& pen, const Tree::Edge& edge, Point start, Point end, const NodeShape& shape) {
    const float unit = pen.canvas.unit();
    const Stroke stroke = edge.lit ? Stroke{{pen.theme.accent}, 2} : Stroke{{pen.theme.quiet, 0.6f}, 1};
    pen.canvas.path(std::array{start, end}, stroke);
    if (edge.arrow) draw_arrow_head(pen, start, end, shape, stroke);
    if (edge.text.empty()) return;
    // The text is just above the arrow if it fits between the nodes, otherwise over them.
    const bool fits = pen.canvas.text_width(edge.text) + 12 * unit <= shape.across - 2 * shape.half_width;
    const float up = (fits ? 2 * unit : shape.half_height) + pen.canvas.line_height() / 2;
    pen.canvas.text({(start.x + end.x) / 2, (start.y + end.y) / 2 - up}, Align::centre, {pen.theme.text},
                    elided(pen.canvas, edge.text, shape.across - 8 * unit));
}

}  // namespace

void draw(const Pen& pen, const Tree& tree) {
    const NodeShape shape = shape_of_nodes(pen, tree);
    for (bool lit : {false, true})
        for (const Tree::Edge& edge : tree.edges) {
            const size_t count = tree.nodes.size(), from = static_cast<size_t>(edge.from),
                         to = static_cast<size_t>(edge.to);
            if (edge.lit != lit || from >= count || to >= count) continue;
            const Tree::Node &one = tree.nodes[from], &other = tree.nodes[to];
            draw_edge(pen, edge, pen.frame.at(one.x, one.y), pen.frame.at(other.x, other.y), shape);
        }
    for (const Tree::Node& node : tree.nodes) {
        const Point at = pen.frame.at(node.x, node.y);
        const uint32_t fill = node.lit ? pen.theme.accent : pen.theme.field;
        if (!shape.has_text) {
            pen.canvas.marker(Marker::circle, at, shape.half_width,
                              {node.lit ? pen.theme.accent : pen.theme.quiet});
            continue;
        }
        const Box box{at.x - shape.half_width, at.y - shape.half_height, at.x + shape.half_width,
                      at.y + shape.half_height};
        pen.canvas.box(box, {fill});
        pen.canvas.outline(box, {node.lit ? pen.theme.accent : pen.theme.quiet});
        pen.canvas.text(at, Align::centre, {node.lit ? ink_on(fill) : pen.theme.text}, node.text);
    }
}

Box track_row(const Pen& pen, const Tracks& tracks, size_t index) {
    const double row = static_cast<double>(index);
    const float middle = pen.frame.at_y(row);
    float half = std::fabs(pen.frame.at_y(row + 0.38) - middle);
    if (tracks.tracks[index].x.empty()) half = std::min(half, 12 * pen.canvas.unit());
    return {pen.frame.box.left, middle - half, pen.frame.box.right, middle + half};
}

void draw(const Pen& pen, const Tracks& tracks) {
    for (size_t i = 0; i < tracks.tracks.size(); ++i) {
        const Tracks::Track& track = tracks.tracks[i];
        const Box row = track_row(pen, tracks, i);
        if (track.x.empty())
            draw_spans(pen, track, row.top, row.bottom);
        else
            draw_curve(pen, track, row.top, row.bottom);
    }
}

void draw_row_scales(const Pen& pen, const Figure& figure) {
    const float gap = 4 * pen.canvas.unit(), half = pen.canvas.line_height() / 2;
    for (const Mark& mark : figure.marks) {
        const Tracks* const tracks = std::get_if<Tracks>(&mark);
        for (size_t i = 0; tracks && i < tracks->tracks.size(); ++i) {
            if (!has_scale(tracks->tracks[i])) continue;
            const Box row = track_row(pen, *tracks, i);
            if (row.height() < half) continue;
            pen.canvas.path(std::array<Point, 2>{{{row.right, row.top}, {row.right + gap, row.top}}},
                            {{pen.theme.quiet_text}, 1});
            pen.canvas.text({row.right + 1.5f * gap, std::max(row.top, pen.frame.box.top + half / 2)},
                            Align::left, {pen.theme.quiet_text}, "100 %");
        }
    }
}

namespace {

// The number of lines that the names of columns use alternately, so that they do not touch: up to three; if
// more are needed, names are thinned.
size_t lines_of_names(const Canvas& canvas, const Matrix& matrix, float cell_width) {
    float widest = 0;
    for (const std::string& label : matrix.column_labels) widest = std::max(widest, canvas.text_width(label));
    const float need = std::ceil((widest + 8 * canvas.unit()) / std::max(cell_width, 0.1f));
    return need <= 3 ? std::max<size_t>(static_cast<size_t>(need), 1) : 1;
}

}  // namespace

MatrixPlace place_of(const Canvas& canvas, const Figure& figure, const Matrix& matrix, const Box& area) {
    const float unit = canvas.unit(), line = canvas.line_height(), gap = 8 * unit;
    float names = 0;
    for (const std::string& label : matrix.row_labels) names = std::max(names, canvas.text_width(label));
    names = std::max(names, canvas.text_width(name_of(figure.y)));
    names = std::min(names + (names > 0 ? unit : 0), area.width() * 0.4f);
    MatrixPlace place;
    place.cells = area;
    place.cells.left += names + (names > 0 ? gap : 0);
    place.columns = matrix.column_labels.empty()
                        ? matrix.cells.size() / std::max<size_t>(matrix.row_labels.size(), 1)
                        : matrix.column_labels.size();
    place.columns = std::max<size_t>(place.columns, 1);
    const size_t columns = place.columns,
                 rows = std::max<size_t>((matrix.cells.size() + columns - 1) / columns, 1);
    place.cell_width = std::min(place.cells.width() / static_cast<float>(columns), 120 * unit);
    place.lines_of_names = lines_of_names(canvas, matrix, place.cell_width);
    if (!matrix.column_labels.empty())
        place.cells.top += line * static_cast<float>(place.lines_of_names) + gap / 2;
    if (!name_of(figure.x).empty()) place.cells.top += line;
    place.cell_height = std::min(place.cells.height() / static_cast<float>(rows), 32 * unit);
    place.cells.right = place.cells.left + place.cell_width * static_cast<float>(columns);
    place.cells.bottom = place.cells.top + place.cell_height * static_cast<float>(rows);
    return place;
}

void draw_matrix(Canvas& canvas, const Theme& theme, const Figure& figure, const Matrix& matrix,
                 const Box& area) {
    const float unit = canvas.unit(), line = canvas.line_height(), gap = 8 * unit;
    const MatrixPlace place = place_of(canvas, figure, matrix, area);
    const size_t columns = place.columns;
    const float names_right = place.cells.left - gap;

    float widest = 0, widest_name = 0;
    for (const std::string& text : matrix.texts) widest = std::max(widest, canvas.text_width(text));
    for (const std::string& label : matrix.column_labels)
        widest_name = std::max(widest_name, canvas.text_width(label));
    const bool texts = widest + 2 * unit <= place.cell_width && line <= place.cell_height + unit;

    canvas.text({place.cells.left, area.top + line / 2}, Align::left, {theme.quiet_text}, name_of(figure.x));
    canvas.text({names_right, place.cells.top - line / 2 - gap / 2}, Align::right, {theme.quiet_text},
                elided(canvas, name_of(figure.y), names_right - area.left));
    const auto every = [](float need, float room) {
        return std::max<size_t>(1, static_cast<size_t>(std::ceil(need / std::max(room, 0.1f))));
    };
    const auto lines = static_cast<float>(place.lines_of_names);
    const size_t every_column = every(widest_name + gap, place.cell_width * lines),
                 every_row = every(line, place.cell_height);
    for (size_t c = 0; c < matrix.column_labels.size(); c += every_column)
        canvas.text(
            {place.cells.left + (static_cast<float>(c) + 0.5f) * place.cell_width,
             place.cells.top - gap / 2 - line * (0.5f + static_cast<float>(c % place.lines_of_names))},
            Align::centre, {theme.text},
            elided(canvas, matrix.column_labels[c], canvas.text_width("0") * 40));
    for (size_t r = 0; r < matrix.row_labels.size(); r += every_row)
        canvas.text({names_right, place.cells.top + (static_cast<float>(r) + 0.5f) * place.cell_height},
                    Align::right, {theme.text},
                    elided(canvas, matrix.row_labels[r], names_right - area.left));

    const float seam = std::min(unit, place.cell_width * 0.1f);
    for (size_t i = 0; i < matrix.cells.size(); ++i) {
        const size_t row = i / columns, column = i % columns;
        const float left = place.cells.left + static_cast<float>(column) * place.cell_width;
        const float top = place.cells.top + static_cast<float>(row) * place.cell_height;
        const Box box{left, top, left + place.cell_width - seam, top + place.cell_height - seam};
        const int kind = matrix.cells[i];
        const bool empty = kind < 0 || static_cast<size_t>(kind) >= matrix.kinds.size();
        const Colour fill =
            empty ? Colour{theme.field, 0.5f}
                  : stroke_of(matrix.kinds[static_cast<size_t>(kind)].ink, theme).colour.faded(0.85f);
        canvas.box(box, fill);
        if (texts && i < matrix.texts.size() && !matrix.texts[i].empty())
            canvas.text({(box.left + box.right) / 2, box.middle()}, Align::centre,
                        {ink_on(blend(theme.ground, fill))}, matrix.texts[i]);
    }
}

}  // namespace sawtooth
