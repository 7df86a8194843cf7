#include "app/gui/state/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "app/engine/machine/look_for_devices.h"
#include "app/engine/run/run_rows.h"
#include "app/engine/tables/comparison_columns.h"
#include "app/engine/tables/tables.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/checking.h"
#include "app/gui/state/effect.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/kept_times.h"
#include "app/gui/state/local_time.h"
#include "app/gui/state/log_file.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/selection.h"
#include "app/gui/state/session_file.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "app/gui/state/system_theme.h"
#include "kernels/core/table.h"
#include "kernels/core/typed_values.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

constexpr double rest_before_look = 0.05;
constexpr size_t log_lines_kept = 500;
// A countdown starts only after a launch has run this long, in seconds or as a share of the limit: for short
// launches it would only flicker.
constexpr double rest_before_countdown = 1, share_before_countdown = 0.5;

// The values of the parameters that renew only figures.
Parameters figure_parameters(const LabState& lab) {
    Parameters chosen;
    for (const Parameter& row : lab.family->parameters)
        if (row.renews == Renews::figures) chosen.set(row.name, shown_value(lab, row));
    return chosen;
}

// Finds the control that an error belongs to: "length = 5: must be …" belongs to that of length.
Problem problem_of(const LabState& lab, const Error& error) {
    for (const Parameter& row : lab.family->parameters)
        if (error.text.starts_with(row.name + " = ") || error.text.starts_with(row.name + ":"))
            return {row.name, error};
    return {"", error};
}

std::string described(const Result& result) {
    std::string text = result.request.family;
    for (const auto& [name, value] : result.request.parameters.values)
        text += fmt::format(" {}={}", name, to_text(value));
    return text;
}

Told told_of(const LabState& lab, const Result& result) {
    Told told;
    told.measured = numbers_table(result);
    if (const Pin* const base = baseline(lab))
        add_comparison(told.measured, result, *base->result,
                       names_of_pins(lab)[static_cast<size_t>(base - lab.pins.data())]);
    told.compiled = compiled_table(result);
    told.ghosts = ghosts_of(lab);
    for (const VariantResult& variant : result.variants) {
        if (std::string words = wrong_words(variant); !words.empty())
            told.wrong[variant.name] = std::move(words);
        for (const LaunchRecord& launch : variant.launches)
            told.has_achieved = told.has_achieved || launch.occupancy.achieved;
    }
    return told;
}

void log_result(LabState& lab, const Result& result) {
    std::string text = fmt::format("{} on {}, {:.0f} ms", described(result), result.device,
                                   (lab.now - lab.pending.since) * 1e3);
    if (const auto fastest = fastest_right(result); !fastest.empty())
        text += "; fastest exact: " + fastest_words(fastest);
    note(lab, LogLine::Kind::done, std::move(text));
    for (const std::string& words : result.notes)
        if (std::find(lab.seen_notes.begin(), lab.seen_notes.end(), words) == lab.seen_notes.end())
            note(lab, LogLine::Kind::note, words);
    lab.seen_notes = result.notes;
}

void take_progress(LabState& lab, const Progress& progress) {
    using Clock = std::chrono::steady_clock;
    lab.pending.progress = progress;
    if (!progress.deadline) {
        lab.pending.deadline.reset();
        return;
    }
    constexpr double same = 0.1;  // seconds: the two clocks are read at slightly different times
    const double at = lab.now + std::chrono::duration<double>(*progress.deadline - Clock::now()).count();
    if (!lab.pending.deadline || std::abs(lab.pending.deadline->at - at) > same)
        lab.pending.deadline = Pending::Deadline{at, lab.now};
}

double countdown_begin(const Pending::Deadline& deadline) {
    return deadline.heard +
           std::min(rest_before_countdown, share_before_countdown * (deadline.at - deadline.heard));
}

void take_failure(LabState& lab, const Error& error) {
    const Request request = lab.pending.request;
    lab.pending = {};
    if (error.kind == Error::Kind::cancelled) {
        note(lab, LogLine::Kind::note, "stopped");
        return;
    }
    lab.problem = problem_of(lab, error);
    if (error.kind == Error::Kind::failure) lab.failure = Failure{error, request};
    note(lab, LogLine::Kind::problem, error.text);
}

// The previous figures remain. Repeated failures while zooming are noted only once.
void take_failed_look(LabState& lab, const Error& error) {
    const bool told = !lab.log.empty() && lab.log.back().text == error.text;
    if (told || error.kind == Error::Kind::cancelled) return;
    note(lab, LogLine::Kind::problem, error.text);
}

void take_run_event(LabState& lab, const Event& event) {
    const bool newest = event.ticket == lab.pending.ticket;
    if (event.kind == Event::Kind::progress && newest) take_progress(lab, event.progress);
    // Results of older tickets are shown, too, so that figures follow the slider.
    const bool is_later = event.ticket > lab.dropped_ticket &&
                          (event.ticket >= lab.shown_ticket || lab.shown_ticket >= first_ticket_of_files);
    if (event.kind == Event::Kind::result && is_later && event.result->request.family == lab.family->name) {
        lab.shown_ticket = event.ticket;
        show_result(lab, event.result);
        keep_selection(lab);
        tell_result(lab);
        show_figures(lab, event.figures);
        announce_sweeps(lab);
        if (newest && event.result->complete) {
            remember_result(lab);
            log_result(lab, *event.result);
            lab.pending = {};
            lab.sweeps_due = lab.now + rest_before_sweeps;
        }
    }
    if (event.kind != Event::Kind::failed) return;
    if (newest)
        take_failure(lab, *event.error);
    else if (lab.result && event.ticket == lab.shown_ticket)
        take_failed_look(lab, *event.error);
}

// Those of another result are late.
void take_new_figures(LabState& lab, const Event& event) {
    if (lab.result && event.ticket == lab.shown_ticket) show_figures(lab, event.figures);
}

void take_event(LabState& lab, const Event& event) {
    if (event.ticket == lab.checking.ticket && event.ticket > 0) return take_check_event(lab, event);
    if (event.kind == Event::Kind::checked) return;  // it belongs to an earlier check
    if (event.kind == Event::Kind::figures) {
        take_figures_of_pin(lab, event);
        const bool is_behind = lab.looking_back && event.ticket == lab.looking_back->shown_ticket;
        return is_behind ? take_behind_earlier(lab, event, take_new_figures) : take_new_figures(lab, event);
    }
    const bool of_sweep =
        std::any_of(lab.sweeps.begin(), lab.sweeps.end(),
                    [&](const BackgroundSweep& sweep) { return sweep.answers_to(event.ticket); });
    if (of_sweep) return take_sweep_event(lab, event);
    const bool is_behind = lab.looking_back && event.kind != Event::Kind::progress;
    is_behind ? take_behind_earlier(lab, event, take_run_event) : take_run_event(lab, event);
    forget_oldest_result(lab);
}

// Sweeps use other values than the current ones; there the change may have an effect.
void take_change_without_effect(LabState& lab) {
    const auto outdated = [&](const BackgroundSweep& sweep) { return is_outdated(lab, sweep); };
    if (settle(lab) && std::any_of(lab.sweeps.begin(), lab.sweeps.end(), outdated))
        lab.sweeps_due = lab.now + rest_before_sweeps;
}

void changed(LabState& lab, const Parameter& row, const Request& before) {
    lab.tried.clear();
    const bool has_effect = lab.problem || acting(lab, before) != acting(lab, request_of(lab));
    if (has_effect && row.group == Group::shape && row.renews == Renews::inputs) lab.view.visible.clear();
    take_change(lab, before);
}

void take_theme(LabState& lab) {
    if (!lab.asking_theme || !lab.asking_theme->is_ready()) return;
    lab.system_dark = system_prefers_dark(lab.asking_theme->result.get());
    lab.asking_theme.reset();
}

void run_if_live(LabState& lab) {
    stop_looking_back(lab);
    lab.sweeps_due.reset();
    if (lab.live)
        submit(lab);
    else
        settle(lab);
}

// Sweeps are around the newest result.
bool may_sweep(const LabState& lab) { return !lab.pending.ticket && !lab.looking_back; }

}  // namespace

EngineCalls calls_of(Engine& engine, std::function<void()> wake) {
    return {[&](Request request, View view) { return engine.run(std::move(request), std::move(view)); },
            [&](Sweep sweep) { return engine.sweep(std::move(sweep)); },
            [&](std::string family, View view, Parameters chosen) {
                engine.look(std::move(family), std::move(view), std::move(chosen));
            },
            [&](std::vector<Kept> results) { engine.keep(std::move(results)); },
            [&] { engine.cancel_run(); },
            [&](uint64_t ticket) { engine.cancel_sweep(ticket); },
            [&](CheckRequest request) { return engine.check(std::move(request)); },
            [&] { engine.cancel_check(); },
            [&] { return engine.take_events(); },
            std::move(wake),
            [directory = engine.cache_directory()](std::stop_token stop) {
                return look_for_devices(directory, false, std::move(stop));
            }};
}

Outcome<LabState> open_lab(const WindowOptions& options, EngineCalls engine) {
    LabState lab;
    lab.engine = std::move(engine);
    lab.files = std::make_unique<FileWriter>(lab.engine.wake);
    lab.families = offered_families();
    lab.request = options.request;
    if (lab.request.family.empty() && !lab.families.empty()) lab.request.family = lab.families.front()->name;
    const auto family = find_offered_family(lab.request.family);
    if (!family) return family.error();
    lab.family = *family;
    lab.parameters = lab.family->defaults();
    if (!lab.request.variants.empty()) {
        for (const Variant& variant : lab.family->variants) lab.disabled_variants.insert(variant.name);
        for (const std::string& name : lab.request.variants) lab.disabled_variants.erase(name);
    }
    if (!lab.request.input.empty()) {
        if (auto problem = use_input_file(lab)) return *problem;
    }
    auto search = in_background(lab.engine.devices, lab.engine.wake);
    if (!search) return search.error();
    lab.search = std::move(*search);
    if (options.session.empty())
        submit(lab);
    else
        open_session(lab, options.session);
    return lab;
}

void update(LabState& lab, double now) {
    lab.now = now;
    lab.files->take_written(lab);
    take_opened(lab);
    take_opened_session(lab);
    take_devices(lab);
    take_theme(lab);
    for (const Event& event : lab.engine.take_events()) take_event(lab, event);
    if (lab.look_due && *lab.look_due <= now) {
        lab.look_due.reset();
        lab.engine.look(lab.family->name, lab.view, figure_parameters(lab));
    }
    if (lab.sweeps_due && *lab.sweeps_due <= now && may_sweep(lab)) {
        lab.sweeps_due.reset();
        restart_sweeps(lab);
    }
}

std::optional<double> due(const LabState& lab) {
    std::optional<double> soonest;
    const auto consider = [&](std::optional<double> time) {
        if (time && (!soonest || *time < *soonest)) soonest = time;
    };
    consider(lab.look_due);
    if (may_sweep(lab)) consider(lab.sweeps_due);
    return soonest;
}

std::optional<double> changes_at(const LabState& lab) {
    if (!lab.pending.ticket) return {};
    constexpr double just_after = 0.01;
    if (lab.now - lab.pending.since <= patience) return lab.pending.since + patience + just_after;
    const auto& deadline = lab.pending.deadline;
    if (!deadline || lab.now > deadline->at) return {};
    if (lab.now < countdown_begin(*deadline)) return countdown_begin(*deadline) + just_after;
    // The time when the countdown reaches the next whole second.
    return deadline->at - (std::ceil(deadline->at - lab.now) - 1) + just_after;
}

void set_parameter(LabState& lab, const Parameter& row, Value value) {
    const Request before = request_of(lab);
    if (is_run_row(row))
        set_run_value(lab.request, row.name, value);
    else
        lab.request.parameters.set(row.name, std::move(value));
    changed(lab, row, before);
}

// Settings with a problem may never have been sent.
void take_change(LabState& lab, const Request& before) {
    if (stop_looking_back(lab)) return run_if_live(lab);
    const Request now = request_of(lab);
    const bool acts = acting(lab, before) != acting(lab, now);
    if (!acts && !lab.problem) return take_change_without_effect(lab);
    if (!acts || deciding(lab, before) != deciding(lab, now)) return run_if_live(lab);
    if (lab.sweeps_due) lab.sweeps_due = lab.now + rest_before_sweeps;
    if (settle(lab) && lab.result) lab.look_due = lab.now;
}

void choose_value(LabState& lab, const std::string& parameter, double value) {
    const Parameter* const row = lab.family->parameter(parameter);
    if (row && reason_fixed(lab, *row).empty()) set_parameter(lab, *row, number_value(*row, value));
}

void reset_parameter(LabState& lab, const Parameter& row) {
    const Request before = request_of(lab);
    if (is_run_row(row))
        set_run_value(lab.request, row.name, row.initial);
    else
        lab.request.parameters.values.erase(row.name);
    changed(lab, row, before);
}

void choose_preset(LabState& lab, const std::string& name) {
    lab.request.preset = name;
    lab.request.parameters = {};
    lab.tried.clear();
    lab.view.visible.clear();
    submit(lab);
}

void reset_parameters(LabState& lab) {
    lab.request.preset.clear();
    lab.disabled_variants.clear();
    lab.request.parameters = {};
    for (const Parameter& row : run_rows()) set_run_value(lab.request, row.name, row.initial);
    lab.view.visible.clear();
    lab.tried.clear();
    run_if_live(lab);
}

void try_out(LabState& lab, const Try& example) {
    lab.request.preset.clear();
    lab.request.parameters = {};
    for (const auto& [name, value] : example.values) lab.request.parameters.set(name, value);
    lab.view.visible.clear();
    lab.tried = example.words;
    submit(lab);
}

void enable_variant(LabState& lab, const std::string& variant, bool enabled) {
    if (enabled)
        lab.disabled_variants.erase(variant);
    else
        lab.disabled_variants.insert(variant);
    run_if_live(lab);
}

void choose_chip(LabState& lab, const std::string& architecture) {
    lab.request.arch = architecture;
    submit(lab);
}

void set_profile(LabState& lab, Profile profile) {
    lab.request.profile = profile;
    submit(lab);
}

bool settle(LabState& lab) {
    const auto configuration = configure_shapes(request_of(lab), lab.given, backend_in_force(lab));
    if (!configuration) {
        lab.problem = problem_of(lab, configuration.error());
        return false;
    }
    lab.parameters = configuration->parameters;
    if (auto error = settle_recording(lab)) {
        lab.problem = Problem{"", *error};
        return false;
    }
    const auto runs = [&](const Variant& variant) {
        return !lab.disabled_variants.contains(variant.name) && reason_refused(lab, variant).empty();
    };
    if (std::none_of(lab.family->variants.begin(), lab.family->variants.end(), runs)) {
        lab.problem = Problem{"", Error::usage("variants: select at least one that can run")};
        return false;
    }
    lab.problem.reset();
    return true;
}

void submit(LabState& lab) {
    lab.failure.reset();
    stop_looking_back(lab);
    if (!settle(lab)) return;
    lab.sweeps_due.reset();
    const Request request = request_of(lab);
    lab.pending = {.ticket = lab.engine.run(request, lab.view),
                   .since = lab.now,
                   .request = request,
                   .disabled_variants = lab.disabled_variants};
    cancel_outdated_sweeps(lab);
}

void stop(LabState& lab) {
    if (lab.pending.ticket) lab.engine.cancel_run();
    cancel_sweeps(lab);
    if (lab.checking.ticket) lab.engine.cancel_check();
}

void look_at(LabState& lab, const std::string& axis, std::optional<View::Range> visible) {
    const auto known = lab.view.visible.find(axis);
    if (known == lab.view.visible.end() ? !visible : visible == known->second) return;
    if (visible)
        lab.view.visible[axis] = *visible;
    else
        lab.view.visible.erase(axis);
    const auto reduced = [&](const Figure& figure) { return figure.x.shared == axis; };
    if (lab.figures && std::any_of(lab.figures->begin(), lab.figures->end(), reduced))
        lab.look_due = lab.now + rest_before_look;
}

void fit_columns(LabState& lab, int pixels) {
    // The width changes in steps, so that dragging a border does not recompute figures for every pixel.
    constexpr int step = 128;
    const int columns = std::clamp((pixels + step - 1) / step * step, step, View{}.columns);
    if (columns == lab.view.columns) return;
    lab.view.columns = columns;
    if (lab.result) lab.look_due = lab.now + rest_before_look;
}

std::string why_outdated(const LabState& lab) {
    if (!lab.result || lab.looking_back) return "";
    const bool same = shows_what_is_set(lab);
    if (lab.pending.ticket) {
        const bool on_the_way = same && lab.shown_ticket == lab.pending.ticket;
        if (on_the_way || lab.now - lab.pending.since <= patience) return "";
        return is_compiling(lab) ? "compiling (first time only)" : "running";
    }
    if (lab.problem) return lab.problem->error.kind == Error::Kind::failure ? "failed" : "cannot run";
    if (!same) return "changed, press F5";
    return lab.result->complete ? "" : "stopped";
}

std::string problem_words(const Problem& problem) {
    const bool failed = problem.error.kind == Error::Kind::failure;
    return (failed ? "Failed: " : "Cannot run: ") + problem.error.text;
}

bool is_compiling(const LabState& lab) {
    return lab.pending.ticket && lab.pending.progress.words.starts_with("compiling");
}

std::optional<int> countdown(const LabState& lab) {
    const auto& deadline = lab.pending.deadline;
    if (!lab.pending.ticket || !deadline || lab.now < countdown_begin(*deadline)) return {};
    return static_cast<int>(std::ceil(std::max(0.0, deadline->at - lab.now)));
}

std::string countdown_words(int seconds) {
    return seconds > 0 ? fmt::format("Worker will be stopped in {} s", seconds) : "Stopping the worker";
}

Request request_of(const LabState& lab) {
    Request request = lab.request;
    request.variants.clear();
    if (lab.disabled_variants.empty()) return request;
    for (const Variant& variant : lab.family->variants)
        if (!lab.disabled_variants.contains(variant.name) && reason_refused(lab, variant).empty())
            request.variants.push_back(variant.name);
    return request;
}

void tell_result(LabState& lab) {
    if (lab.result) lab.told = told_of(lab, *lab.result);
}

void note(LabState& lab, LogLine::Kind kind, std::string text) {
    lab.log.push_back({local_time(std::time(nullptr)), kind, std::move(text)});
    if (lab.log_file) lab.log_file->add(lab, lab.log.back());
    if (lab.log.size() > log_lines_kept) lab.log.pop_front();
}

void note_once(LabState& lab, const std::string& problem) {
    if (std::ranges::none_of(lab.log, [&](const LogLine& line) { return line.text == problem; }))
        note(lab, LogLine::Kind::problem, problem);
}

}  // namespace sawtooth
