#include "viz/present.h"

#include <algorithm>
#include <optional>

namespace sawtooth {
namespace {

std::optional<double> number_of(const Parameters& parameters, const std::string& name) {
    if (!parameters.has(name)) return {};
    const Value& value = parameters.at(name);
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return {};
}

// Adds a line across the plot at `x`, or adds the words to a line that is already there.
void add_rule(Figure& figure, double x, const std::string& words) {
    for (Mark& mark : figure.marks) {
        Rule* const rule = std::get_if<Rule>(&mark);
        if (!rule || rule->across != Rule::Across::x || rule->at != x) continue;
        if (rule->label.find(words) == std::string::npos) rule->label += ", " + words;
        return;
    }
    figure.marks.push_back(Rule{Rule::Across::x, x, words, {Ink::Role::accent}});
}

// The index of the current value among those of the setting; absent if it is none of them.
std::optional<int64_t> place_of_present(const Setting& sets, const Parameters& present) {
    const auto value = number_of(present, sets.parameter);
    const auto found = std::find(sets.values.begin(), sets.values.end(), value.value_or(0));
    if (!value || found == sets.values.end()) return {};
    return found - sets.values.begin();
}

// "H 2, N 1024": the sizes of the figure that are not those of the setting.
std::string words_of_other_sizes(const Figure& figure, const Parameters& present) {
    std::string words;
    for (const auto& [name, size] : figure.sizes.values)
        if (present.has(name) && present.at(name) != size)
            words += (words.empty() ? "" : ", ") + name + " " + to_text(size);
    return words;
}

void frame_present(HeatMap& map, const Parameters& present) {
    const auto row = place_of_present(map.sets_y, present), column = place_of_present(map.sets_x, present);
    if (row && column) map.framed.push_back({*row, *column, "current", {Ink::Role::accent, 0, true}});
}

}  // namespace

bool sets_parameters(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(), [](const Mark& mark) {
        const Line* const line = std::get_if<Line>(&mark);
        const HeatMap* const map = std::get_if<HeatMap>(&mark);
        return (line && !line->sets.values.empty()) || (map && !map->sets_x.values.empty());
    });
}

Figure with_present(const Figure& figure, const Parameters& present) {
    Figure marked = figure;
    const std::string sizes = words_of_other_sizes(figure, present);
    if (!sizes.empty() && figure.missing.empty())
        marked.caption += (figure.caption.empty() ? "" : " ") + ("Measured at " + sizes + ".");
    for (Mark& mark : marked.marks)
        if (HeatMap* const map = std::get_if<HeatMap>(&mark); map && sizes.empty())
            frame_present(*map, present);
    for (const Mark& mark : figure.marks) {
        const Line* const line = std::get_if<Line>(&mark);
        if (!line || line->sets.values.empty()) continue;
        const auto value = number_of(present, line->sets.parameter);
        if (!value) continue;
        const std::string words = line->sets.parameter + " " + to_text(present.at(line->sets.parameter));
        if (line->sets.values == line->x) {
            add_rule(marked, *value, words);
            continue;
        }
        const auto& values = line->sets.values;
        const auto at = static_cast<size_t>(std::find(values.begin(), values.end(), *value) - values.begin());
        if (at >= values.size()) continue;
        const bool is_said = std::any_of(marked.marks.begin(), marked.marks.end(), [&](const Mark& other) {
            const Note* const note = std::get_if<Note>(&other);
            return note && note->text == words;
        });
        marked.marks.push_back(Note{line->x[at], line->y[at], is_said ? "" : words});
    }
    return marked;
}

Figure without_variants(const Figure& figure, const std::set<int>& variants) {
    Figure rest = figure;
    std::erase_if(rest.marks, [&](const Mark& mark) {
        const Line* const line = std::get_if<Line>(&mark);
        const Band* const band = std::get_if<Band>(&mark);
        if (!line && !band) return false;
        const Ink& ink = line ? line->ink : band->ink;
        return ink.role == Ink::Role::variant && variants.contains(ink.index);
    });
    return rest;
}

}  // namespace sawtooth
