#include "viz/figure_csv.h"

#include <cmath>
#include <vector>

#include "kernels/core/table.h"
#include "viz/axis.h"
#include "viz/marks.h"

namespace sawtooth {
namespace {

std::string number(double value) { return std::isnan(value) ? std::string() : exact_number(value); }

struct Row {
    std::string mark, label, x, y, low, high, value, text;
};

std::string category(const Axis& axis, size_t index) {
    return index < axis.categories.size() ? axis.categories[index] : std::to_string(index);
}

std::string at_or_nothing(const std::vector<std::string>& words, size_t index) {
    return words.empty() ? "" : words[index];
}

// Two remarks in one cell: "unstable: 3x, diverged".
std::string joined(const std::string& one, const std::string& other) {
    return one + (one.empty() || other.empty() ? "" : ", ") + other;
}

struct Rows {
    const Figure& figure;
    std::vector<Row> rows;

    void operator()(const Line& line) {
        // Points stand somewhere in the row of their category.
        const auto y_of = [&](double y) {
            const bool has_row = !line.joined && !figure.y.categories.empty() && std::isfinite(y) && y > -0.5;
            return has_row ? category(figure.y, static_cast<size_t>(std::llround(y))) : number(y);
        };
        for (size_t i = 0; i < line.x.size(); ++i)
            rows.push_back({line.joined ? "line" : "point", label_of_point(line, i), number(line.x[i]),
                            y_of(line.y[i]), "", "", "",
                            joined(at_or_nothing(line.unstable, i), at_or_nothing(line.wrong, i))});
    }
    void operator()(const Band& band) {
        for (size_t i = 0; i < band.x.size(); ++i)
            rows.push_back({"band", band.label, number(band.x[i]), "", number(band.low[i]),
                            number(band.high[i]), "", ""});
    }
    void operator()(const Bars& bars) {
        for (size_t i = 0; i < bars.bars.size(); ++i) {
            const Bar& bar = bars.bars[i];
            const std::string row = category(figure.y, i);
            double end = 0;
            for (const Bar::Segment& segment : bar.segments) {
                rows.push_back({"bar segment", segment.label, "", row, "", "", number(segment.length), ""});
                end += segment.length;
            }
            if (bar.tick)
                rows.push_back({"bar tick", bar.tick->label, number(bar.tick->length), row, "", "", "", ""});
            rows.push_back({"bar", "", bar.segments.empty() ? "" : number(end), row,
                            bar.low ? number(*bar.low) : "", bar.high ? number(*bar.high) : "", "",
                            bar.text});
        }
    }
    void operator()(const HeatMap& map) {
        const auto middle = [](const Axis& axis, double low, double high, int64_t index, int64_t count) {
            const double at =
                low + (high - low) * (static_cast<double>(index) + 0.5) / static_cast<double>(count);
            return axis.categories.empty() ? number(at)
                                           : category(axis, static_cast<size_t>(std::llround(at)));
        };
        const auto x_of = [&](int64_t column) {
            return middle(figure.x, map.x_low, map.x_high, column, map.columns);
        };
        const auto y_of = [&](int64_t row) { return middle(figure.y, map.y_low, map.y_high, row, map.rows); };
        const std::string name = name_of(map.label, map.unit);
        for (int64_t row = 0; row < map.rows; ++row)
            for (int64_t column = 0; column < map.columns; ++column) {
                const auto cell = static_cast<size_t>(row * map.columns + column);
                rows.push_back({"cell", name, x_of(column), y_of(row), "", "", number(map.values[cell]),
                                joined(at_or_nothing(map.texts, cell), at_or_nothing(map.unstable, cell))});
            }
        for (const HeatMap::Framed& cell : map.framed)
            rows.push_back({"frame", cell.label, x_of(cell.column), y_of(cell.row), "", "", "", ""});
    }
    void operator()(const Matrix& matrix) {
        const size_t height = std::max<size_t>(matrix.row_labels.size(), 1);
        const size_t columns = std::max<size_t>(
            matrix.column_labels.empty() ? matrix.cells.size() / height : matrix.column_labels.size(), 1);
        const auto name = [](const std::vector<std::string>& names, size_t index) {
            return index < names.size() ? names[index] : std::to_string(index);
        };
        for (size_t i = 0; i < matrix.cells.size(); ++i) {
            const int kind = matrix.cells[i];
            const bool known = kind >= 0 && static_cast<size_t>(kind) < matrix.kinds.size();
            rows.push_back({"cell", known ? matrix.kinds[static_cast<size_t>(kind)].label : "",
                            name(matrix.column_labels, i % columns), name(matrix.row_labels, i / columns), "",
                            "", "", i < matrix.texts.size() ? matrix.texts[i] : ""});
        }
    }
    void operator()(const KindMap& map) {
        for (size_t row = 0; row < map.row_names.size(); ++row)
            for (size_t column = 0; column < map.column_names.size(); ++column)
                rows.push_back({"cell", map.kinds[static_cast<size_t>(map.kind_at(row, column))].label,
                                map.column_names[column], map.row_names[row], "", "", "", ""});
    }
    void operator()(const Tree& tree) {
        for (const Tree::Node& node : tree.nodes)
            rows.push_back(
                {"node", node.lit ? "lit" : "", number(node.x), number(node.y), "", "", "", node.text});
        for (const Tree::Edge& edge : tree.edges)
            rows.push_back({"edge", edge.lit ? "lit" : "", "", "", std::to_string(edge.from),
                            std::to_string(edge.to), "", edge.text});
    }
    void operator()(const Tracks& tracks) {
        for (const Tracks::Track& track : tracks.tracks) {
            for (const Tracks::Span& span : track.spans)
                rows.push_back(
                    {"span", track.label, "", "", number(span.start), number(span.end), "", span.label});
            for (size_t i = 0; i < track.x.size(); ++i)
                rows.push_back({"curve", name_of(track.label, track.unit), number(track.x[i]), "", "", "",
                                number(track.y[i]), ""});
        }
    }
    void operator()(const Rule& rule) {
        const bool vertical = rule.across == Rule::Across::x;
        rows.push_back({"rule", rule.label, vertical ? number(rule.at) : "", vertical ? "" : number(rule.at),
                        "", "", "", ""});
    }
    void operator()(const Note& note) {
        rows.push_back({"note", "", number(note.x), number(note.y), "", "", "", note.text});
    }
};

// The lines of a figure that has only lines, all over the same x; otherwise empty.
std::vector<const Line*> lines_over_one_x(const Figure& figure) {
    std::vector<const Line*> lines;
    for (const Mark& mark : figure.marks) {
        const Line* line = std::get_if<Line>(&mark);
        if (!line || (!lines.empty() && line->x != lines.front()->x)) return {};
        lines.push_back(line);
    }
    return lines;
}

std::string or_else(const std::string& name, const char* otherwise) {
    return name.empty() ? otherwise : name;
}

}  // namespace

std::string to_csv(const Figure& figure) {
    const std::string x = or_else(name_of(figure.x), "x"), y = or_else(name_of(figure.y), "y");
    Table table;
    if (const auto lines = lines_over_one_x(figure); !lines.empty()) {
        table.columns.push_back({x, ""});
        for (const Line* line : lines) {
            const std::string name = or_else(line->label, y.c_str());
            table.columns.push_back({name, figure.y.unit});
            if (!line->unstable.empty()) table.columns.push_back({name + ", unstable", ""});
            if (!line->wrong.empty()) table.columns.push_back({name + ", wrong", ""});
        }
        for (size_t i = 0; i < lines.front()->x.size(); ++i) {
            std::vector<std::string> row{number(lines.front()->x[i])};
            for (const Line* line : lines) {
                row.push_back(number(line->y[i]));
                if (!line->unstable.empty()) row.push_back(line->unstable[i]);
                if (!line->wrong.empty()) row.push_back(line->wrong[i]);
            }
            table.rows.push_back(std::move(row));
        }
        return table.csv();
    }
    table.columns = {{"mark", ""}, {"label", ""}, {x, ""},       {y, ""},
                     {"low", ""},  {"high", ""},  {"value", ""}, {"text", ""}};
    Rows rows{figure, {}};
    for (const Mark& mark : figure.marks) std::visit(rows, mark);
    for (Row& row : rows.rows)
        table.rows.push_back({row.mark, row.label, row.x, row.y, row.low, row.high, row.value, row.text});
    return table.csv();
}

}  // namespace sawtooth
