#include "app/gui/bench_window.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gui/effect.h"
#include "app/gui/lab.h"
#include "app/gui/offscreen.h"
#include "app/gui/pacing.h"
#include "app/gui/session.h"

namespace sawtooth {
namespace {

constexpr int width = 1600, height = 900;
constexpr int moves = 15, frames = 60;
constexpr double settle_seconds = 1.5, idle_seconds = 3;

struct Spread {
    double median = 0, q1 = 0, q3 = 0, worst = 0;  // milliseconds
};

Spread spread_of(std::vector<double> ms) {
    std::sort(ms.begin(), ms.end());
    const auto at = [&](size_t quarters) { return ms[(ms.size() - 1) * quarters / 4]; };
    return {at(2), at(1), at(3), ms.back()};
}

struct HopSpread {
    std::string name;
    Spread spread;
};

struct SliderBench {
    std::string family, moved, how;
    Spread outputs;               // from the slider to new outputs and errors on the screen
    std::vector<HopSpread> hops;  // their sum is `outputs` in each move
    std::optional<Spread> times;  // from the slider to new times
};

struct WindowBench {
    std::string device;
    std::vector<SliderBench> sliders;
    std::vector<std::pair<std::string, Spread>> frames;  // by family
    double idle_share = 0;
};

// The first result of a run, when the window receives it.
struct Arrival {
    uint64_t ticket = 0;
    double at = 0;
    std::vector<Hop> hops;
};

void watch_arrivals(Session& session, Arrival& arrival) {
    LabState& lab = session.lab();
    lab.engine.take_events = [&session, &arrival, take = lab.engine.take_events] {
        std::vector<Event> events = take();
        for (const Event& event : events)
            if (event.kind == Event::Kind::result && event.ticket != arrival.ticket)
                arrival = {event.ticket, session.seconds(), event.hops};
        return events;
    };
}

struct Move {
    std::vector<Hop> hops;
    double outputs_ms = 0, times_ms = 0;
};

enum class Until { outputs, times };

// Moves a slider and runs the window's loop until its outputs, or also its times, are on the screen.
Move move_slider(Session& session, OffscreenWindow& window, const Arrival& arrival, const Parameter& row,
                 const Value& value, Until until) {
    LabState& lab = session.lab();
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
        const double now = session.seconds();
        if (pacing.next(lab, false) > now) continue;
        const bool arrived = arrival.ticket == ticket, complete = !lab.pending.ticket;
        window.draw(lab, 1.0 / 60);
        window.finish();
        pacing.drawn(lab, now);
        if (complete) move.times_ms = ms_since(begin);
        if (!arrived || move.outputs_ms != 0) continue;
        move.outputs_ms = ms_since(begin);
        move.hops.insert(move.hops.end(), arrival.hops.begin(), arrival.hops.end());
        double known = 0;
        for (const Hop& hop : move.hops) known += hop.ms;
        // The engine may start before `set_parameter` returns.
        move.hops.push_back({"wait for the window", std::max((arrival.at - begin) * 1e3 - known, 0.0)});
        move.hops.push_back({"wait for a frame", (now - arrival.at) * 1e3});
        move.hops.push_back({"frame drawn", ms_since(now)});
    }
    return move;
}

// The first row of that kind that a user could move, and two values to move it between.
struct Slider {
    const Parameter* row = nullptr;
    std::vector<Value> values;
};

Slider find_slider(const LabState& lab, Renews renews) {
    for (const Parameter& row : lab.family->parameters) {
        if (row.renews != renews || row.type == Type::list || !reason_unused(lab, row).empty()) continue;
        std::vector<Value> values{row.initial};
        if (row.type == Type::boolean) values.push_back(!std::get<bool>(row.initial));
        for (const Value& choice : row.choices)
            if (choice != row.initial && values.size() < 2) values.push_back(choice);
        if (const auto* number = std::get_if<int64_t>(&row.initial); number && values.size() < 2) {
            const double most = std::min(static_cast<double>(*number), last_value(lab, row));
            values.emplace_back(static_cast<int64_t>(std::max(std::floor(most / 2), row.minimum)));
        }
        if (values.size() == 2 && values[0] != values[1]) return {&row, std::move(values)};
    }
    return {};
}

// By name, in the order of the first move. A hop missing from a move counts as 0 ms.
std::vector<HopSpread> hops_of(const std::vector<Move>& runs) {
    std::vector<HopSpread> spreads;
    for (const Hop& first : runs.front().hops) {
        std::vector<double> ms;
        for (const Move& run : runs) {
            const auto same = std::find_if(run.hops.begin(), run.hops.end(),
                                           [&](const Hop& hop) { return hop.name == first.name; });
            ms.push_back(same == run.hops.end() ? 0 : same->ms);
        }
        spreads.push_back({first.name, spread_of(std::move(ms))});
    }
    return spreads;
}

SliderBench measure_slider(Session& session, OffscreenWindow& window, const Arrival& arrival,
                           const Slider& slider, const std::string& how, Until until) {
    std::vector<Move> runs;
    for (int i = 0; i <= moves; ++i) {
        const Value& value = slider.values[static_cast<size_t>((i + 1) % 2)];  // the default last
        Move move = move_slider(session, window, arrival, *slider.row, value, until);
        if (i > 0) runs.push_back(std::move(move));  // the first move warms up
    }
    reset_parameter(session.lab(), *slider.row);
    session.wait_until_done();
    std::vector<double> outputs, times;
    for (const Move& move : runs) {
        outputs.push_back(move.outputs_ms);
        times.push_back(move.times_ms);
    }
    SliderBench bench{session.lab().family->name,    slider.row->name, how,
                      spread_of(std::move(outputs)), hops_of(runs),    {}};
    if (until == Until::times) bench.times = spread_of(std::move(times));
    return bench;
}

Spread measure_frames(Session& session, OffscreenWindow& window) {
    std::vector<double> ms;
    for (int i = 0; i < frames; ++i) {
        const double begin = session.seconds();
        window.draw(session.lab(), 1.0 / 60);
        window.finish();
        ms.push_back((session.seconds() - begin) * 1e3);
    }
    return spread_of(std::move(ms));
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The loop of the idle window, after everything is drawn.
double measure_idle(Session& session, OffscreenWindow& window) {
    Pacing pacing;
    const auto loop_until = [&](double end) {
        while (session.seconds() < end) {
            const double now = session.seconds();
            if (const double wait = std::min(pacing.next(session.lab(), false), end) - now; wait > 0) {
                session.wait(wait);
                continue;
            }
            window.draw(session.lab(), 1.0 / 60);
            pacing.drawn(session.lab(), now);
        }
    };
    pacing.happened(session.seconds());
    loop_until(session.seconds() + settle_seconds);
    const double begin = session.seconds(), processor_begin = processor_seconds();
    loop_until(begin + idle_seconds);
    return (processor_seconds() - processor_begin) / (session.seconds() - begin);
}

void print_row(const std::string& name, const Spread& spread) {
    fmt::print("{:<34}{:9.1f}{:9.1f}{:9.1f}{:9.1f}\n", name, spread.median, spread.q1, spread.q3,
               spread.worst);
}

void print_text(const WindowBench& bench) {
    fmt::print("the window at {}x{}, off screen, on {}\n", width, height, bench.device);
    fmt::print("{:<34}{:>9}{:>9}{:>9}{:>9}\n", "milliseconds", "median", "1/4", "3/4", "worst");
    for (const SliderBench& slider : bench.sliders) {
        fmt::print("{}, {} {}\n", slider.family, slider.moved, slider.how);
        print_row("  slider to outputs and errors", slider.outputs);
        for (const HopSpread& hop : slider.hops) print_row("    " + hop.name, hop.spread);
        if (slider.times) print_row("  slider to times", *slider.times);
    }
    for (const auto& [family, spread] : bench.frames) print_row("frame with results, " + family, spread);
    fmt::print("idle: {:.2f} % of a core\n", bench.idle_share * 100);
}

std::string quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) >= ' ') quoted += c;
    }
    return quoted + '"';
}

std::string json_of(const Spread& s) {
    return fmt::format("{{\"median\": {:.3f}, \"q1\": {:.3f}, \"q3\": {:.3f}, \"worst\": {:.3f}}}", s.median,
                       s.q1, s.q3, s.worst);
}

std::string json_of(const SliderBench& slider) {
    std::string hops;
    for (const HopSpread& hop : slider.hops)
        hops += fmt::format("{}{{\"name\": {}, \"ms\": {}}}", hops.empty() ? "" : ", ", quoted(hop.name),
                            json_of(hop.spread));
    return fmt::format(
        "{{\"family\": {}, \"moved\": {}, \"how\": {}, \"outputs_ms\": {}, \"times_ms\": {}, \"hops\": "
        "[{}]}}",
        quoted(slider.family), quoted(slider.moved), quoted(slider.how), json_of(slider.outputs),
        slider.times ? json_of(*slider.times) : "null", hops);
}

void print_json(const WindowBench& bench) {
    std::string sliders, frames;
    for (const SliderBench& slider : bench.sliders)
        sliders += (sliders.empty() ? "" : ", ") + json_of(slider);
    for (const auto& [family, spread] : bench.frames)
        frames += fmt::format("{}{}: {}", frames.empty() ? "" : ", ", quoted(family), json_of(spread));
    fmt::print(
        "{{\"device\": {}, \"width\": {}, \"height\": {}, \"sliders\": [{}], \"frame_ms\": {{{}}}, "
        "\"idle_share\": {:.5f}}}\n",
        quoted(bench.device), width, height, sliders, frames, bench.idle_share);
}

std::optional<Error> measure_family(Session& session, OffscreenWindow& window, const Arrival& arrival,
                                    WindowBench& bench) {
    const Slider kept = find_slider(session.lab(), Renews::kernels),
                 anew = find_slider(session.lab(), Renews::inputs);
    if (!kept.row || !anew.row) return Error::failure("this family has no sliders to move");
    bench.frames.emplace_back(session.lab().family->name, measure_frames(session, window));
    const auto measure = [&](const Slider& slider, const char* how, Until until) {
        bench.sliders.push_back(measure_slider(session, window, arrival, slider, how, until));
    };
    measure(kept, "moved, reference kept", Until::times);
    measure(anew, "moved, new inputs and reference", Until::times);
    measure(kept, "dragged, reference kept", Until::outputs);
    return {};
}

}  // namespace

std::optional<Error> bench_window(const WindowOptions& options, bool json) {
    auto opened = Session::open(options);
    if (!opened) return opened.error();
    Session& session = **opened;
    auto window = OffscreenWindow::open(session.lab(), width, height, Renderer::gpu_first);
    if (!window) return window.error();
    Arrival arrival;
    watch_arrivals(session, arrival);
    WindowBench bench;
    for (const Family* family : session.lab().families) {
        choose_family(session.lab(), *family);
        session.wait_until_done();
        if (session.lab().problem) return session.lab().problem->error;
        if (auto error = measure_family(session, **window, arrival, bench)) return error;
    }
    bench.device = session.lab().result->device;
    bench.idle_share = measure_idle(session, **window);
    json ? print_json(bench) : print_text(bench);
    return {};
}

}  // namespace sawtooth
