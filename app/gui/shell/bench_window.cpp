#include "app/gui/shell/bench_window.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "app/engine/run/configure.h"
#include "app/gui/shell/bench_sliders.h"
#include "app/gui/shell/bench_window_words.h"
#include "app/gui/shell/offscreen.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/headless.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/pacing.h"
#include "app/gui/state/pins.h"

namespace sawtooth {
namespace {

constexpr int width = 1600, height = 900;
constexpr int frames = 60;
constexpr double settle_seconds = 1.5, idle_seconds = 3;

// The first result of a run, and when the window receives it.
struct Arrival {
    uint64_t ticket = 0;
    double at = 0;
    std::vector<Hop> hops;
};

// A session and the window that draws it.
struct Bench {
    Headless& session;
    OffscreenWindow& window;
    int moves;  // of a slider and of a zoom, as many as the repeats of a run
    Arrival arrival = {};
    size_t figures = 0;  // how often new figures of a result arrived

    LabState& lab() { return session.lab(); }
    void draw() {
        window.draw(lab(), 1.0 / 60);
        window.finish();
    }
};

void watch_arrivals(Bench& bench) {
    LabState& lab = bench.lab();
    lab.engine.take_events = [&bench, take = lab.engine.take_events] {
        std::vector<Event> events = take();
        for (const Event& event : events) {
            if (event.kind == Event::Kind::result && event.ticket != bench.arrival.ticket)
                bench.arrival = {event.ticket, bench.session.seconds(), event.hops};
            bench.figures += event.kind == Event::Kind::figures;
        }
        return events;
    };
}

// The reason why nothing more will arrive.
std::optional<Error> problem_of(const LabState& lab) {
    if (lab.problem) return lab.problem->error;
    return {};
}

struct Move {
    std::vector<Hop> hops;
    double outputs_ms = 0, times_ms = 0;
};

enum class Until { outputs, times };

// Moves a slider and runs the loop of the window until its outputs, or also its times, are on the screen.
Outcome<Move> move_slider(Bench& bench, const Parameter& row, const Value& value, Until until) {
    Headless& session = bench.session;
    LabState& lab = bench.lab();
    const double begin = session.seconds();
    const auto ms_since = [&](double time) { return (session.seconds() - time) * 1e3; };
    set_parameter(lab, row, value);
    const uint64_t ticket = lab.pending.ticket;
    Move move{{{"request sent", ms_since(begin)}}};
    Pacing pacing;
    pacing.happened(begin);
    while (move.outputs_ms == 0 || (until == Until::times && move.times_ms == 0)) {
        const double wait = pacing.next(lab, false) - session.seconds();
        if (session.wait(std::max(wait, 0.0))) pacing.woken();
        if (auto problem = problem_of(lab)) return *problem;
        const double now = session.seconds();
        if (pacing.next(lab, false) > now) continue;
        const bool arrived = bench.arrival.ticket == ticket, complete = !lab.pending.ticket;
        if (complete && !arrived)
            return Error::failure(row.name + " = " + to_text(value) + " gave no new outputs");
        bench.draw();
        pacing.drawn(lab, now);
        if (complete) move.times_ms = ms_since(begin);
        if (!arrived || move.outputs_ms != 0) continue;
        move.outputs_ms = ms_since(begin);
        move.hops.insert(move.hops.end(), bench.arrival.hops.begin(), bench.arrival.hops.end());
        double known = 0;
        for (const Hop& hop : move.hops) known += hop.ms;
        // The engine may start before `set_parameter` returns, hence the maximum.
        move.hops.push_back({"wait for the window", std::max((bench.arrival.at - begin) * 1e3 - known, 0.0)});
        move.hops.push_back({"wait for a frame", (now - bench.arrival.at) * 1e3});
        move.hops.push_back({"frame drawn", ms_since(now)});
    }
    return move;
}

// The hops by name, in the order of the first move. A hop that a move lacks counts as 0 ms.
std::vector<std::pair<std::string, SpreadMs>> hops_of(const std::vector<Move>& runs) {
    std::vector<std::pair<std::string, SpreadMs>> spreads;
    for (const Hop& first : runs.front().hops) {
        std::vector<double> ms;
        for (const Move& run : runs) {
            const auto same = std::find_if(run.hops.begin(), run.hops.end(),
                                           [&](const Hop& hop) { return hop.name == first.name; });
            ms.push_back(same == run.hops.end() ? 0 : same->ms);
        }
        spreads.emplace_back(first.name, spread_of(std::move(ms)));
    }
    return spreads;
}

// Moves the slider away from its default and back; only the way back is measured, so that sizes are the
// defaults.
Outcome<SliderBench> measure_slider(Bench& bench, const BenchSlider& slider, const std::string& how,
                                    Until until) {
    std::vector<Move> runs;
    for (int i = 0; i <= bench.moves; ++i) {
        const auto away = move_slider(bench, *slider.row, slider.other, until);
        if (!away) return away.error();
        auto back = move_slider(bench, *slider.row, slider.initial, until);
        if (!back) return back.error();
        if (i > 0) runs.push_back(std::move(*back));  // the first moves only warm up
    }
    reset_parameter(bench.lab(), *slider.row);
    bench.session.wait_until_done();
    std::vector<double> outputs, times;
    for (const Move& move : runs) {
        outputs.push_back(move.outputs_ms);
        times.push_back(move.times_ms);
    }
    SliderBench measured{slider.row->name, how, spread_of(std::move(outputs)), hops_of(runs), {}};
    if (until == Until::times) measured.times = spread_of(std::move(times));
    return measured;
}

SpreadMs measure_frames(Bench& bench) {
    std::vector<double> ms;
    for (int i = 0; i < frames; ++i) {
        const double begin = bench.session.seconds();
        bench.draw();
        ms.push_back((bench.session.seconds() - begin) * 1e3);
    }
    return spread_of(std::move(ms));
}

// Zooms an axis, without the rest that it waits for, and draws the new figures of all results.
Outcome<double> look_ms(Bench& bench, const std::string& axis, View::Range range) {
    constexpr double most_seconds = 10;
    LabState& lab = bench.lab();
    const size_t wanted = bench.figures + lab.pins.size() + 1;
    const double begin = bench.session.seconds();
    look_at(lab, axis, range);
    lab.look_due = begin;
    update(lab, begin);  // sends the look: waiting first would add what it waits at most
    while (bench.figures < wanted) {
        bench.session.wait(0.1);
        if (bench.session.seconds() - begin > most_seconds)
            return Error::failure("no new figures after a zoom of " + axis);
    }
    bench.draw();
    return (bench.session.seconds() - begin) * 1e3;
}

// An axis that figures share and can zoom; null: the family has none.
const Axis* zoomable_axis(const LabState& lab) {
    for (const Figure& figure : *lab.figures)
        if (!figure.x.shared.empty() && figure.x.minimum && figure.x.maximum) return &figure.x;
    return nullptr;
}

Outcome<SpreadMs> measure_looks(Bench& bench) {
    const Axis* const found = zoomable_axis(bench.lab());
    if (!found) return SpreadMs{};
    const Axis axis = *found;
    const double low = *axis.minimum, middle = (low + *axis.maximum) / 2;
    std::vector<double> ms;
    for (int i = 0; i <= bench.moves; ++i) {
        const auto time = look_ms(bench, axis.shared, {low, i % 2 ? middle : (low + middle) / 2});
        if (!time) return time.error();
        if (i > 0) ms.push_back(*time);
    }
    look_at(bench.lab(), axis.shared, {});
    return spread_of(std::move(ms));
}

Outcome<PinsBench> measure_pins(Bench& bench) {
    LabState& lab = bench.lab();
    std::vector<double> pinned;
    const auto run = [&] {
        submit(lab);
        bench.session.wait_until_done();
        bench.draw();
    };
    for (size_t i = 0; i < most_pins; ++i) {
        run();
        const double begin = bench.session.seconds();
        toggle_pin(lab);
        bench.draw();
        pinned.push_back((bench.session.seconds() - begin) * 1e3);
    }
    run();
    PinsBench measured{spread_of(std::move(pinned)), measure_frames(bench), {}};
    const auto looks = measure_looks(bench);
    unpin_all(lab);
    bench.session.wait_until_done();
    if (!looks) return looks.error();
    measured.look = *looks;
    return measured;
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The processor share of the idle window's loop, after everything is drawn.
double measure_idle(Bench& bench) {
    Headless& session = bench.session;
    Pacing pacing;
    const auto loop_until = [&](double end) {
        while (session.seconds() < end) {
            const double now = session.seconds();
            if (const double wait = std::min(pacing.next(bench.lab(), false), end) - now; wait > 0) {
                session.wait(wait);
                continue;
            }
            bench.draw();
            pacing.drawn(bench.lab(), now);
        }
    };
    pacing.happened(session.seconds());
    loop_until(session.seconds() + settle_seconds);
    const double begin = session.seconds(), processor_begin = processor_seconds();
    loop_until(begin + idle_seconds);
    return (processor_seconds() - processor_begin) / (session.seconds() - begin);
}

// Prints each line as soon as it is known, because a busy machine takes minutes.
void print_now(const std::string& text) {
    fmt::print("{}", text);
    std::fflush(stdout);
}

using Say = std::function<void(const std::string& text)>;

// Fills in the numbers until there is an error.
std::optional<Error> measure_family(Bench& bench, const Say& say, FamilyBench& measured) {
    bench.session.wait_until_done();
    if (bench.lab().result) measured.device = bench.lab().result->device;
    say(heading_of(measured));
    if (auto problem = problem_of(bench.lab())) return problem;
    measured.frame = measure_frames(bench);
    say(frame_words(*measured.frame));
    const BenchSlider kept = find_slider(bench.lab(), Renews::kernels),
                      anew = find_slider(bench.lab(), Renews::inputs);
    const auto measure = [&](const BenchSlider& slider, const char* how,
                             Until until) -> std::optional<Error> {
        if (!slider.row) return {};
        auto done = measure_slider(bench, slider, how, until);
        if (!done) return done.error();
        say(words_of(*done));
        measured.sliders.push_back(std::move(*done));
        return {};
    };
    if (!kept.row) {
        measured.note = "no parameter keeps the reference with these settings";
        say("  " + measured.note + "\n");
    }
    if (auto error = measure(kept, "moved, reference kept", Until::times)) return error;
    if (auto error = measure(anew, "moved, new inputs and reference", Until::times)) return error;
    const auto error = kept.row ? measure(kept, "dragged, reference kept", Until::outputs)
                                : measure(anew, "dragged, new inputs and reference", Until::outputs);
    if (error) return error;
    bench.session.wait_until_done();
    auto pins = measure_pins(bench);
    if (!pins) return pins.error();
    say(words_of(*pins));
    measured.pins = *pins;
    return {};
}

Outcome<std::vector<const Family*>> chosen_families(const std::vector<std::string>& names) {
    if (names.empty()) return offered_families();
    std::vector<const Family*> chosen;
    for (const std::string& name : names) {
        const auto family = find_offered_family(name);
        if (!family) return family.error();
        chosen.push_back(*family);
    }
    return chosen;
}

}  // namespace

std::optional<Error> bench_window(const WindowOptions& options, const std::vector<std::string>& names,
                                  bool json) {
    const auto families = chosen_families(names);
    if (!families) return families.error();
    WindowOptions first = options;
    first.request.family = families->front()->name;
    auto opened = Headless::open(first);
    if (!opened) return opened.error();
    auto window = OffscreenWindow::open((*opened)->lab(), width, height, Renderer::gpu_first);
    if (!window) return window.error();
    Bench bench{**opened, **window, options.request.repeats};
    watch_arrivals(bench);
    const Say say = [json](const std::string& text) {
        if (!json) print_now(text);
    };
    WindowBench measured{width, height, {}, 0};
    say(heading_of(measured));
    std::string failed;
    for (const Family* family : *families) {
        choose_family(bench.lab(), *family);
        FamilyBench& row = measured.families.emplace_back();
        row.name = family->name;
        if (const auto error = measure_family(bench, say, row)) {
            row.problem = error->text;
            failed += (failed.empty() ? "" : "; ") + row.name + ": " + row.problem;
            say("  failed: " + row.problem + "\n");
        }
    }
    measured.idle_share = measure_idle(bench);
    say(idle_words(measured.idle_share));
    if (json) print_now(json_of(measured));
    if (!failed.empty()) return Error::failure("bench window: " + failed);
    return {};
}

}  // namespace sawtooth
