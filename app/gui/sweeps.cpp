#include "app/gui/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/effect.h"
#include "app/gui/expression.h"
#include "app/gui/lab.h"

namespace sawtooth {
namespace {

// The sweep without base values that its axes replace or that only renew figures.
Sweep decisive(Sweep sweep, const Family& family) {
    auto& values = sweep.base.parameters.values;
    for (const SweepAxis& axis : sweep.axes) {
        values.erase(axis.parameter);
        for (const std::string& name : axis.also) values.erase(name);
    }
    for (const Parameter& row : family.parameters)
        if (row.renews == Renews::figures) values.erase(row.name);
    return sweep;
}

// Whether two sweeps give the same numbers. A parameter without effect in the base may have one in a cell, so
// with different bases every cell is compared.
bool alike(const LabState& lab, const Sweep& one, const Sweep& other) {
    if (decisive(one, *lab.family) == decisive(other, *lab.family)) return true;
    if (one.axes != other.axes) return false;
    for (size_t cell = 0; cell < one.cells(); ++cell)
        if (deciding(lab, one.request(cell)) != deciding(lab, other.request(cell))) return false;
    return true;
}

std::string title_of(const Sweep& sweep) {
    std::string names;
    for (const SweepAxis& axis : sweep.axes) names += (names.empty() ? "" : " and ") + axis.parameter;
    return "sweep over " + names;
}

// The sweep of the key; created if there is none.
BackgroundSweep& sweep_of(LabState& lab, const std::string& key, bool by_person) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.key == key) return sweep;
    BackgroundSweep fresh;
    fresh.key = key;
    fresh.by_person = by_person;
    return lab.sweeps.emplace_back(std::move(fresh));
}

// Titles and axes, which have their room from the start.
Figures figures_to_come(const Sweep& sweep) {
    std::vector<Figure> figures = figures_of(SweepResult{sweep, {}, false});
    for (Figure& figure : figures) {
        figure.marks.clear();
        figure.caption.clear();
        figure.missing = fmt::format("0 of {} points", sweep.cells());
    }
    return std::make_shared<const std::vector<Figure>>(std::move(figures));
}

void start(LabState& lab, BackgroundSweep& background, Sweep sweep) {
    cancel_sweep(lab, background);
    background.title = title_of(sweep);
    background.sweep = std::move(sweep);
    background.of_earlier_base =
        background.figures != nullptr && (background.of_earlier_base || background.done > 0);
    background.problem.clear();
    background.done = 0;
    if (!background.of_earlier_base) background.figures = figures_to_come(background.sweep);
    background.ticket = lab.engine.sweep(background.sweep);
}

// Nine values in even steps around the current value, which is one of them, within the range.
std::vector<double> even_steps(const Parameter& row, double present) {
    const bool whole = row.type == Type::integer;
    const double range = row.maximum - row.minimum;
    double step = std::min(std::max(std::abs(present), whole ? 8.0 : 1e-3) / 4, range / 8);
    if (whole) step = std::max(1.0, std::floor(step));
    const double below = std::min(4.0, std::floor((present - row.minimum) / step));
    const double above = std::min(8 - below, std::floor((row.maximum - present) / step));
    std::vector<double> values;
    for (double i = -std::min(8 - above, std::floor((present - row.minimum) / step)); i <= above; ++i)
        values.push_back(present + i * step);
    return values;
}

std::vector<double> powers_of_two(const Parameter& row, double present) {
    const double middle = std::round(std::log2(std::max(present, 1.0)));
    std::vector<double> values;
    for (double exponent = middle - 4; exponent <= middle + 4; ++exponent) {
        const double value = std::exp2(exponent);
        if (value >= std::max(row.minimum, 1.0) && value <= row.maximum) values.push_back(value);
    }
    return values;
}

}  // namespace

std::vector<Value> sweep_values(const Parameter& row, const Value& present) {
    if (row.type == Type::list || row.renews == Renews::figures) return {};
    if (row.type == Type::boolean) return {false, true};
    if (row.type == Type::choice) return row.choices;
    double middle = row.minimum;
    if (const auto* integer = std::get_if<int64_t>(&present)) middle = static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&present)) middle = *real;
    std::vector<Value> values;
    for (double value :
         row.step == Step::powers_of_two ? powers_of_two(row, middle) : even_steps(row, middle))
        values.push_back(number_value(row, value));
    return values;
}

void sweep_parameter(LabState& lab, const Parameter& row) {
    Sweep sweep{"", request_of(lab), {{row.name, sweep_values(row, present_value(lab, row))}}};
    sweep.base.parameters = lab.parameters;
    note(lab, LogLine::Kind::note, fmt::format("sweeping {} over {} values", row.name, sweep.cells()));
    BackgroundSweep& background = sweep_of(lab, "by hand: " + row.name, true);
    background.asked = request_of(lab);
    start(lab, background, std::move(sweep));
}

void announce_sweeps(LabState& lab) {
    const auto is_of_figure = [](const BackgroundSweep& sweep) { return !sweep.by_person; };
    if (std::any_of(lab.sweeps.begin(), lab.sweeps.end(), is_of_figure)) return;
    const Request& base = lab.result->request;
    for (Sweep& sweep : figure_sweeps(base, lab.result->parameters, lab.result->backend)) {
        BackgroundSweep& background = sweep_of(lab, sweep.id, false);
        background.title = title_of(sweep);
        background.asked = base;
        background.figures = figures_to_come(sweep);
        background.sweep = std::move(sweep);
    }
}

void restart_sweeps(LabState& lab) {
    if (!lab.result) return;
    const bool is_set = shows_what_is_set(lab);
    const Request base = is_set ? request_of(lab) : lab.result->request;
    const Parameters& parameters = is_set ? lab.parameters : lab.result->parameters;
    const auto renew = [&](BackgroundSweep& background, Sweep sweep) {
        background.asked = base;
        const bool alive = background.ticket || background.done == background.sweep.cells();
        if (alive && alike(lab, background.sweep, sweep)) return;
        start(lab, background, std::move(sweep));
    };
    for (BackgroundSweep& kept : lab.sweeps) {
        if (!kept.by_person) continue;
        Sweep again = kept.sweep;
        again.base = base;
        again.base.parameters = parameters;
        renew(kept, std::move(again));
    }
    for (Sweep& sweep : figure_sweeps(base, parameters, lab.result->backend)) {
        BackgroundSweep& background = sweep_of(lab, sweep.id, false);
        renew(background, std::move(sweep));
    }
}

void take_sweep_event(LabState& lab, const Event& event) {
    const auto found = std::find_if(lab.sweeps.begin(), lab.sweeps.end(),
                                    [&](const BackgroundSweep& s) { return s.answers_to(event.ticket); });
    if (found == lab.sweeps.end()) return;  // of a cancelled sweep
    BackgroundSweep& sweep = *found;
    if (event.kind == Event::Kind::cell) {
        sweep.done = event.sweep_result->cells.size();
        if (event.figures && (!sweep.of_earlier_base || sweep.done > 1)) {
            sweep.figures = event.figures;
            sweep.of_earlier_base = false;
        }
        if (event.sweep_result->complete && sweep.ticket) {
            sweep.finished = std::exchange(sweep.ticket, 0);
            note(lab, LogLine::Kind::done, fmt::format("{}: {} points", sweep.title, sweep.done));
        }
    }
    if (event.kind == Event::Kind::failed) {
        sweep.ticket = 0;
        if (event.error->kind == Error::Kind::cancelled) return;
        sweep.problem = event.error->text;
        note(lab, LogLine::Kind::problem, fmt::format("{}: {}", sweep.title, sweep.problem));
    }
}

void cancel_sweep(LabState& lab, BackgroundSweep& sweep) {
    const uint64_t known = sweep.ticket ? sweep.ticket : sweep.finished;
    if (!known) return;
    lab.engine.cancel_sweep(known);
    sweep.ticket = sweep.finished = 0;
}

void cancel_sweeps(LabState& lab) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.ticket) cancel_sweep(lab, sweep);
    lab.sweeps_due.reset();
}

void remove_sweep(LabState& lab, const std::string& key) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.key == key) cancel_sweep(lab, sweep);
    std::erase_if(lab.sweeps, [&](const BackgroundSweep& sweep) { return sweep.key == key; });
}

bool is_outdated(const LabState& lab, const BackgroundSweep& sweep) {
    const auto over = [&](Request base) { return Sweep{"", std::move(base), sweep.sweep.axes}; };
    return sweep.of_earlier_base || !alike(lab, over(sweep.asked), over(request_of(lab)));
}

bool sweeps_run(const LabState& lab) {
    return std::any_of(lab.sweeps.begin(), lab.sweeps.end(),
                       [](const BackgroundSweep& s) { return s.ticket != 0; });
}

}  // namespace sawtooth
