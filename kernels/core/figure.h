#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/core/parameter.h"

namespace sawtooth {

// A figure is data, not a drawing, so that window, report and CSV show the same numbers.

enum class Scale { linear, log2, log10 };

struct Axis {
    std::string label;      // "time"
    std::string unit = {};  // "us"; "" for a bare number
    Scale scale = Scale::linear;
    std::optional<double> minimum = {}, maximum = {};  // fitted to the data if absent
    std::optional<double> in_sight = {};               // end of the range visible at first; absent: all
    std::vector<std::string> categories = {};          // texts shown in place of the numbers 0, 1, 2, …
    bool whole = false;                                // counts or places, with ticks only at whole numbers
    bool growing = false;     // more data will come: the ends are round numbers, so that they rarely move
    std::string shared = {};  // axes with the same name, "" for none, share range and cursor ("position")
};

// The meaning of a mark; the theme maps it to a colour, a dash and a marker.
struct Ink {
    enum class Role {
        variant,    // the variant `index` of the family: one colour in every panel
        reference,  // the double-precision truth: thin, neutral
        limit,      // copy bandwidth, peak arithmetic, a theoretical best
        quiet,      // grids of boundaries, ghosts
        accent,     // what the caption refers to
        highlight,  // common to several variants
        kind,       // the kind `index` of cells or lines that are not variants; looks like variant 3 + index
    };
    Role role = Role::variant;
    int index = 0;
    bool dashed = false;
    int ghost = 0;  // 1 to 8: of that pinned result, and faded; 0: of the shown one

    bool operator==(const Ink&) const = default;
};

// The parameter that a click sets, and its value at every point of a line, or for every column or row of a
// heat map. The place of the current value is marked.
struct Setting {
    std::string parameter;
    std::vector<double> values;
};

struct Line {
    std::string label;
    Ink ink;
    std::vector<double> x, y;  // NaN in y: a gap
    bool markers = false;
    Setting sets = {};  // without a name clicks set nothing
    // What is wrong with the result of each point, such as "diverged", or ""; empty: all results are correct.
    std::vector<std::string> wrong = {};
    std::vector<std::string> unstable = {};  // the badge of each point's time, or ""; empty: none has one
    // Parts of another point, such as the launches of a variant, have names and are small.
    std::vector<std::string> names = {};
    // False: points without a line between them, such as samples. Of two such marks of a variant, the one
    // whose ink is dashed has crosses.
    bool joined = true;
};

// An area between low and high: quartiles, or minimum and maximum of the values in a column.
struct Band {
    std::string label;
    Ink ink;
    std::vector<double> x, low, high;
};

struct Bar {
    struct Segment {
        std::string label;
        double length = 0;
    };
    Ink ink;
    std::vector<Segment> segments;           // stacked from 0
    std::optional<double> low, high;         // a whisker
    std::string text;                        // written at the end
    std::string badge = {};                  // after the text, in the colour of wrong results
    std::optional<Segment> tick = {};        // across the bar, at its length from 0
    std::vector<std::string> launches = {};  // names of the launches of the variant that the bar shows
};

inline double length_of(const Bar& bar) {
    double length = 0;
    for (const Bar::Segment& segment : bar.segments) length += segment.length;
    return length;
}

// Horizontal bars. Bar i is at y = i of an axis with categories; the first is on top.
struct Bars {
    std::vector<Bar> bars;
    std::optional<double> most = {};  // longer bars are broken there, on a linear axis
};

struct HeatMap {
    enum class Colours { viridis, diverging };
    std::string label, unit;  // what the values are
    int64_t rows = 0, columns = 0;
    std::vector<double> values;  // row-major, row 0 on top; NaN: no value
    double x_low = 0, x_high = 1;
    double y_low = 0, y_high = 1;  // y of the top edge of row 0 and of the bottom edge of the last row
    Colours colours = Colours::viridis;
    bool logarithmic = false;
    std::optional<double> best = {};  // colours show the ratio of a value to this one, up to a limit
    // Empty, or one text per cell: written into a cell with a value, or the reason why the cell has none.
    std::vector<std::string> texts = {};
    std::vector<std::string> unstable = {};  // likewise the badge of the time, or ""
    struct Framed {
        int64_t row = 0, column = 0;
        std::string label;  // "fastest"
        Ink ink;
    };
    std::vector<Framed> framed = {};
    Setting sets_x = {}, sets_y = {};  // set by a click on a cell; without a name it sets nothing
};

// A small table as a picture: every cell has a text and a kind, which the legend names.
struct Matrix {
    struct Kind {
        std::string label;
        Ink ink;
    };
    std::vector<std::string> row_labels, column_labels;
    std::vector<Kind> kinds;
    std::vector<int> cells;          // row-major: an index of kinds, -1 for an empty cell
    std::vector<std::string> texts;  // row-major
};

// A heat map of a few kinds instead of numbers. Kinds differ in colour and pattern.
struct KindMap {
    enum class Pattern { hollow, plain, striped, crossed };  // hollow: stripes without a background
    struct Kind {
        std::string label;
        Ink ink;
        Pattern pattern = Pattern::plain;
    };
    std::string label;  // what a cell stands for: "tile"
    std::vector<Kind> kinds;
    std::vector<std::string> row_names, column_names;  // one per row or column, shown under the cursor
    std::vector<int> cells;                            // row-major, row 0 on top: an index of kinds
    double x_low = 0, x_high = 1;
    double y_low = 0, y_high = 1;  // y of the top edge of row 0 and of the bottom edge of the last row

    int kind_at(size_t row, size_t column) const { return cells[row * column_names.size() + column]; }
};

// Nodes and edges, such as the levels of a scan or the steps that data flows through.
struct Tree {
    struct Node {
        double x = 0, y = 0;  // y: the level
        std::string text;
        bool lit = false;  // takes part in the current step
    };
    struct Edge {
        int from = 0, to = 0;
        bool lit = false;
        bool arrow = false;     // points to `to`
        std::string text = {};  // above the middle of the edge
    };
    std::vector<Node> nodes;
    std::vector<Edge> edges;
};

// Time runs along x; a track is a row of spans, or a curve between 0 and its maximum.
struct Tracks {
    struct Span {
        double start = 0, end = 0;
        std::string label;
        double busy = 1;  // the share of the span that launches take; less than 1 if several are drawn as one
    };
    struct Track {
        std::string label;
        Ink ink;
        std::vector<Span> spans;
        std::vector<double> x, y;  // the curve; empty for a row of spans
        std::string unit;          // unit of y
    };
    std::vector<Track> tracks;
};

// A straight line across the plot: a limit, a boundary, the current value.
struct Rule {
    enum class Across { x, y };
    Across across = Across::x;  // x: vertical, at this x
    double at = 0;
    std::string label;
    Ink ink;
};

struct Note {
    double x = 0, y = 0;
    std::string text;
    bool by_user = false;  // with a frame around it
};

using Mark = std::variant<Line, Band, Bars, HeatMap, Matrix, KindMap, Tree, Tracks, Rule, Note>;

enum class Place { outputs, error, views, times, occupancy, timeline };

// The range of the x axis of another figure that this figure shows. Lines join the two if one is above the
// other.
struct Zoom {
    std::string figure;  // the id of the other figure
    double low = 0, high = 0;
};

struct Figure {
    std::string id;  // stable: file names, tests
    Place place = Place::outputs;
    std::string title;
    std::string caption;  // one sentence: what to look at
    std::string missing;  // if there are no marks: what the figure would show and how to get it
    Axis x, y;
    std::vector<Mark> marks;
    std::vector<std::string> chosen_by =
        {};  // parameters that choose what it draws; their controls are beside it
    std::optional<Zoom> zoom = {};
    Parameters sizes = {};  // those at which a sweep measured, where it chose its own
};

// The visible part of a figure, to which its data are reduced.
struct View {
    struct Range {
        double low = 0, high = 0;
        bool operator==(const Range&) const = default;
    };
    std::map<std::string, Range> visible;  // by Axis::shared; absent: the whole axis
    int columns = 2048;

    // The visible range of the axes that share a name; `whole` if it is not limited.
    Range range_of(const std::string& shared, Range whole) const {
        const auto range = visible.find(shared);
        return range == visible.end() ? whole : range->second;
    }
    bool operator==(const View&) const = default;
};

}  // namespace sawtooth
