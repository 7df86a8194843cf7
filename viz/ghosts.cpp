#include "viz/ghosts.h"

#include <algorithm>
#include <cmath>

namespace sawtooth {
namespace {

// The reference and the limits of the machine are not the result's own.
bool is_own(const Ink& ink) {
    return ink.role == Ink::Role::variant || ink.role == Ink::Role::highlight || ink.role == Ink::Role::kind;
}

// The label of a ghost. Some labels end with a setting, such as the chunk, which may begin the name of the
// pin.
std::string labelled(const std::string& label, const Pinned& pin) {
    if (label.empty()) return label;
    const std::string setting = pin.name.substr(0, pin.name.find(", "));
    return label + (label.ends_with(", " + setting) ? pin.name.substr(setting.size()) : ", " + pin.name);
}

// An end that is set must not cut the ghosts off.
void widen(Axis& axis, const Axis& other) {
    if (axis.minimum && other.minimum) axis.minimum = std::min(*axis.minimum, *other.minimum);
    if (axis.maximum && other.maximum) axis.maximum = std::max(*axis.maximum, *other.maximum);
}

class WithGhosts {
  public:
    WithGhosts(const Figure& figure, const std::vector<Pinned>& pins) : figure_(figure), pins_(pins) {}

    Figure result() {
        for (const Pinned& pin : pins_)
            if (const Figure* const other = namesake(figure_, pin)) add_curves(*other, pin);
        for (Mark& mark : figure_.marks) {
            if (Tracks* const tracks = std::get_if<Tracks>(&mark)) add_tracks(*tracks);
            if (Bars* const bars = std::get_if<Bars>(&mark)) add_bars(*bars);
        }
        return std::move(figure_);
    }

  private:
    // Ghosts come first, so that they are drawn below.
    void add_curves(const Figure& other, const Pinned& pin) {
        std::vector<Mark> ghosts;
        for (Mark mark : other.marks) {
            if (Line* const line = std::get_if<Line>(&mark); line && is_own(line->ink)) {
                line->ink.ghost = pin.number;
                line->label = labelled(line->label, pin);
                line->sets = {};
                line->markers = false;  // its dash tells it from others
                ghosts.push_back(std::move(mark));
            } else if (Band* const band = std::get_if<Band>(&mark); band && is_own(band->ink)) {
                band->ink.ghost = pin.number;
                band->label = labelled(band->label, pin);
                ghosts.push_back(std::move(mark));
            }
        }
        if (ghosts.empty()) return;
        widen(figure_.x, other.x);
        widen(figure_.y, other.y);
        figure_.marks.insert(figure_.marks.begin(), std::make_move_iterator(ghosts.begin()),
                             std::make_move_iterator(ghosts.end()));
    }

    void add_tracks(Tracks& own) {
        for (const Pinned& pin : pins_) {
            const Figure* const other = namesake(figure_, pin);
            // Launches that were chosen to be looked at closely were at another time of the other run.
            const double shift =
                other && figure_.zoom && other->zoom ? figure_.zoom->low - other->zoom->low : 0;
            for (const Mark& mark : other ? other->marks : std::vector<Mark>())
                if (const Tracks* const tracks = std::get_if<Tracks>(&mark))
                    for (Tracks::Track track : tracks->tracks) {
                        track.label = labelled(track.label, pin);
                        track.ink.ghost = pin.number;
                        for (Tracks::Span& span : track.spans) span.start += shift, span.end += shift;
                        for (double& at : track.x) at += shift;
                        own.tracks.push_back(std::move(track));
                    }
        }
    }

    // Bar i belongs to category i, so ghosts have categories of their own.
    void add_bars(Bars& own) {
        if (own.bars.size() != figure_.y.categories.size()) return;
        break_long_ghosts(own);
        std::vector<Bar> bars;
        std::vector<std::string> categories;
        std::vector<double> rows;  // the new row of every bar
        for (size_t i = 0; i < own.bars.size(); ++i) {
            rows.push_back(static_cast<double>(bars.size()));
            bars.push_back(std::move(own.bars[i]));
            categories.push_back(figure_.y.categories[i]);
            for (const Pinned& pin : pins_)
                if (const Bar* const bar = bar_of(pin, categories.back())) {
                    bars.push_back(*bar);
                    bars.back().ink.ghost = pin.number;
                    categories.push_back(pin.name);
                }
        }
        own.bars = std::move(bars);
        figure_.y.categories = std::move(categories);
        for (Mark& mark : figure_.marks)
            if (Note* const note = std::get_if<Note>(&mark)) note->y = moved(note->y, rows);
    }
    // The place of a note on a bar, which has moved.
    static double moved(double y, const std::vector<double>& rows) {
        const double row = std::round(y);
        if (row < 0 || row >= static_cast<double>(rows.size())) return y;
        return rows[static_cast<size_t>(row)] + y - row;
    }
    // Ghosts are as long as their own figure shows them, as long as the bars beside them stay visible. An
    // axis with an end of its own, such as 100 %, keeps it.
    void break_long_ghosts(Bars& own) {
        if (reach_of(own) <= 0 || (figure_.x.maximum && !own.most)) return;
        const double most = 20 * reach_of(own);
        double longest = 0, reach = reach_of(own);
        bool is_broken = own.most.has_value();
        for (const Pinned& pin : pins_)
            if (const auto [other, bars] = bars_of(pin); bars) {
                is_broken = is_broken || bars->most;
                reach = std::max(reach, std::min(reach_of(*bars), most));
                for (const Bar& bar : bars->bars) longest = std::max(longest, length_of(bar));
            }
        if (is_broken || longest > reach) own.most = figure_.x.maximum = reach;
    }
    static double reach_of(const Bars& bars) {
        double longest = 0;
        for (const Bar& bar : bars.bars) longest = std::max(longest, length_of(bar));
        return bars.most.value_or(longest);
    }
    std::pair<const Figure*, const Bars*> bars_of(const Pinned& pin) const {
        if (const Figure* const other = namesake(figure_, pin))
            for (const Mark& mark : other->marks)
                if (const Bars* const bars = std::get_if<Bars>(&mark)) return {other, bars};
        return {};
    }
    const Bar* bar_of(const Pinned& pin, const std::string& category) const {
        const auto [other, bars] = bars_of(pin);
        if (!bars) return nullptr;
        const auto& names = other->y.categories;
        const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), category) - names.begin());
        return at < bars->bars.size() ? &bars->bars[at] : nullptr;
    }

    Figure figure_;
    const std::vector<Pinned>& pins_;
};

}  // namespace

const Figure* namesake(const Figure& figure, const Pinned& pin) {
    for (const Figure& other : *pin.figures)
        if (other.id == figure.id && other.x.unit == figure.x.unit && other.y.unit == figure.y.unit)
            return &other;
    return nullptr;
}

bool has_map(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(), [](const Mark& mark) {
        return std::holds_alternative<HeatMap>(mark) || std::holds_alternative<Matrix>(mark) ||
               std::holds_alternative<KindMap>(mark);
    });
}

Figure with_ghosts(const Figure& figure, const std::vector<Pinned>& pins) {
    return WithGhosts(figure, pins).result();
}

double without_ghosts(const Figure& figure, double y) {
    for (const Mark& mark : figure.marks) {
        const Bars* const bars = std::get_if<Bars>(&mark);
        const double row = std::round(y);
        if (!bars || row < 0 || row >= static_cast<double>(bars->bars.size())) continue;
        const auto is_ghost = [](const Bar& bar) { return bar.ink.ghost > 0; };
        const auto ghosts =
            std::count_if(bars->bars.begin(), bars->bars.begin() + static_cast<int64_t>(row) + 1, is_ghost);
        return y - static_cast<double>(ghosts);
    }
    return y;
}

}  // namespace sawtooth
