#include "app/gui/shell/bench_sliders.h"

#include <algorithm>
#include <cmath>

#include "app/gui/state/effect.h"
#include "app/gui/state/shown_values.h"

namespace sawtooth {
namespace {

// Another value: half of a number, the other value of two, another choice than the default and what it stands
// for. The default if there is no other value.
Value other_value(const LabState& lab, const Parameter& row) {
    if (row.type == Type::boolean) return !std::get<bool>(row.initial);
    for (const Value& choice : row.choices)
        if (choice != row.initial && choice != present_value(lab, row)) return choice;
    const auto* const number = std::get_if<int64_t>(&row.initial);
    if (!number) return row.initial;
    const double most = std::min(static_cast<double>(*number), last_value(lab, row));
    return static_cast<int64_t>(std::max(std::floor(most / 2), row.minimum));
}

}  // namespace

BenchSlider find_slider(const LabState& lab, Renews renews) {
    for (const Parameter& row : lab.family->parameters) {
        if (row.renews != renews || row.type == Type::list || !reason_unused(lab, row).empty()) continue;
        const Value other = other_value(lab, row);
        if (other != row.initial) return {&row, row.initial, other};
    }
    return {};
}

}  // namespace sawtooth
