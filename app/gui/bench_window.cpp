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
    double median = 0, worst = 0;  // milliseconds
};

Spread spread_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2] * 1e3, seconds.back() * 1e3};
}

struct WindowBench {
    std::string device, moved;
    Spread latency_kept, latency_new, frame;
    double idle_share = 0;
};

// The window's loop, from the frame in which a slider was moved, until what is asked for is complete and on
// the screen.
double seconds_to_plot(Session& session, OffscreenWindow& window) {
    LabState& lab = session.lab();
    const double begin = session.seconds();
    Pacing pacing;
    pacing.happened(begin);
    bool complete = false;
    while (!complete) {
        const double wait = pacing.next(lab, false) - session.seconds();
        if (session.wait(std::max(wait, 0.0))) pacing.woken();
        const double now = session.seconds();
        complete = !lab.pending.ticket;
        if (!complete && pacing.next(lab, false) > now) continue;
        window.draw(lab, 1.0 / 60);
        window.finish();
        pacing.drawn(lab, now);
    }
    return session.seconds() - begin;
}

// The first row of that kind that a person could move, and two values to move it between.
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

Spread measure_latency(Session& session, OffscreenWindow& window, const Slider& slider) {
    std::vector<double> seconds;
    for (int i = 0; i <= moves; ++i) {
        set_parameter(session.lab(), *slider.row, slider.values[static_cast<size_t>((i + 1) % 2)]);
        const double taken = seconds_to_plot(session, window);
        if (i > 0) seconds.push_back(taken);  // the first warms up
    }
    reset_parameter(session.lab(), *slider.row);
    seconds_to_plot(session, window);
    return spread_of(seconds);
}

Spread measure_frames(Session& session, OffscreenWindow& window) {
    std::vector<double> seconds;
    for (int i = 0; i < frames; ++i) {
        const double begin = session.seconds();
        window.draw(session.lab(), 1.0 / 60);
        window.finish();
        seconds.push_back(session.seconds() - begin);
    }
    return spread_of(seconds);
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The loop of the window with nobody at it, once what happened before is drawn.
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

void print_text(const WindowBench& bench) {
    fmt::print("the window at {}x{}, off screen, on {}\n", width, height, bench.device);
    fmt::print("slider to plot, reference kept  {:7.1f} ms median  {:7.1f} ms worst of {}  ({})\n",
               bench.latency_kept.median, bench.latency_kept.worst, moves, bench.moved);
    fmt::print("slider to plot, new inputs      {:7.1f} ms median  {:7.1f} ms worst of {}\n",
               bench.latency_new.median, bench.latency_new.worst, moves);
    fmt::print("frame with results              {:7.1f} ms median  {:7.1f} ms worst of {}\n",
               bench.frame.median, bench.frame.worst, frames);
    fmt::print("idle                            {:7.2f} % of a core\n", bench.idle_share * 100);
}

std::string quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) >= ' ') quoted += c;
    }
    return quoted + '"';
}

void print_json(const WindowBench& bench) {
    const auto spread = [](const Spread& s) {
        return fmt::format("{{\"median\": {:.3f}, \"worst\": {:.3f}}}", s.median, s.worst);
    };
    fmt::print(
        "{{\"device\": {}, \"width\": {}, \"height\": {}, \"moved\": {}, \"latency_kept_ms\": {}, "
        "\"latency_new_ms\": {}, \"frame_ms\": {}, \"idle_share\": {:.5f}}}\n",
        quoted(bench.device), width, height, quoted(bench.moved), spread(bench.latency_kept),
        spread(bench.latency_new), spread(bench.frame), bench.idle_share);
}

}  // namespace

std::optional<Error> bench_window(const WindowOptions& options, bool json) {
    auto opened = Session::open(options);
    if (!opened) return opened.error();
    Session& session = **opened;
    auto window = OffscreenWindow::open(session.lab(), width, height, Renderer::gpu_first);
    if (!window) return window.error();
    session.wait_until_done();
    if (session.lab().problem) return session.lab().problem->error;

    const Slider kept = find_slider(session.lab(), Renews::kernels),
                 anew = find_slider(session.lab(), Renews::inputs);
    if (!kept.row || !anew.row) return Error::failure("this family has no sliders to move");
    WindowBench bench;
    bench.device = session.lab().result->device;
    bench.moved = kept.row->name;
    bench.frame = measure_frames(session, **window);
    bench.latency_kept = measure_latency(session, **window, kept);
    bench.latency_new = measure_latency(session, **window, anew);
    session.wait_until_done();
    bench.idle_share = measure_idle(session, **window);
    json ? print_json(bench) : print_text(bench);
    return {};
}

}  // namespace sawtooth
