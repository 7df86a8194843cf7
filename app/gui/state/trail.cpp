#include "app/gui/state/trail.h"

#include <utility>

namespace sawtooth {
namespace {

constexpr const char* roofline = "roofline";

// The mark of a variant for the bytes that its launches declare; null for other lines.
const Line* mark_of_variant(const Mark& mark) {
    const Line* const line = std::get_if<Line>(&mark);
    const bool is_one = line && !line->joined && !line->ink.dashed && line->x.size() == 1;
    return is_one && line->ink.role == Ink::Role::variant && line->ink.ghost == 0 ? line : nullptr;
}

// The results of the family on the device up to the shown one.
std::vector<const PastResult*> results_before(const LabState& lab) {
    std::vector<const PastResult*> results;
    for (const PastResult& past : lab.past_results) {
        if (past.ticket == lab.shown_ticket) break;
        if (past.settings.family == lab.family && past.device == lab.result->device) results.push_back(&past);
    }
    return results;
}

}  // namespace

std::vector<PastResult::Mark> roofline_marks(const Figures& figures) {
    std::vector<PastResult::Mark> marks;
    for (const Figure& figure : figures ? *figures : std::vector<Figure>()) {
        if (figure.id != roofline) continue;
        for (const Mark& mark : figure.marks)
            if (const Line* const line = mark_of_variant(mark))
                marks.push_back({line->ink.index, line->x.front(), line->y.front()});
    }
    return marks;
}

bool may_have_trail(const Figure& figure) { return figure.id == roofline; }

Figure with_trail(Figure figure, const LabState& lab) {
    if (!may_have_trail(figure) || !lab.result) return figure;
    std::vector<Mark> trails;
    for (const Mark& mark : figure.marks) {
        const Line* const line = mark_of_variant(mark);
        if (!line) continue;
        Line trail{.label = line->label + ", earlier results", .ink = line->ink, .x = {}, .y = {}};
        trail.ink.dashed = true;
        for (const PastResult* past : results_before(lab))
            for (const auto& [variant, x, y] : past->roofline)
                if (variant == line->ink.index) trail.x.push_back(x), trail.y.push_back(y);
        if (trail.x.empty()) continue;
        trail.x.push_back(line->x.front());
        trail.y.push_back(line->y.front());
        trails.emplace_back(std::move(trail));
    }
    figure.marks.insert(figure.marks.begin(), std::make_move_iterator(trails.begin()),
                        std::make_move_iterator(trails.end()));
    return figure;
}

}  // namespace sawtooth
