#pragma once

#include <cmath>

#include "app/engine/run/result_figures.h"
#include "app/engine/run/runner.h"
#include "app/engine/session/session.h"
#include "tests/engine/full_messages.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {

inline Request small_request() {
    Request request;
    request.family = "scan";
    request.parameters.set("length", int64_t{64});
    request.variants = {"lookback", "blelloch"};
    request.repeats = 2;
    request.threads = 1;
    return request;
}

// A result of the CPU, with its arrays. It does not name the machine, because one is kept in a file.
inline const Result& small_result() {
    static const Result result = [] {
        Result result = **Runner(shared_cache()).run(small_request(), {});
        result.device = "a processor, 1 thread";
        if (result.ceilings) result.ceilings->processor = "a processor";
        if (result.ceilings) result.ceilings->driver = "a kernel";
        return result;
    }();
    return result;
}

inline Figures small_figures() {
    return std::make_shared<const std::vector<Figure>>(figures_of(small_result(), {}));
}

// A result whose every field is set, as far as one of this build may have it.
inline Result whole_result() {
    Result result = *full_result();
    result.request = small_request();
    result.request.on = "touch evil";
    result.request.kernels = "/some/where";
    result.request.input = "in.npz";
    result.request.jitter = 3;
    result.request.seed = 18446744073709551615u;
    result.request.time_limit_seconds = 0.5;
    result.parameters = small_result().parameters;
    result.main_output = "y";
    result.backend = Backend::cuda;
    VariantResult& variant = result.variants.front();
    const int first = small_result().variants.front().index;
    variant.index = first;
    variant.name = small_result().variants.front().name;
    variant.refused.clear();
    variant.errors.front().by_position = {0.5f, NAN};
    for (LaunchRecord& launch : variant.launches) launch.busy = {{0, 0.5, 1.5}, {3, 0.25, 2}};
    result.variants.resize(1);
    return result;
}

inline BenchReport small_bench() {
    BenchRow row;
    row.family = "scan";
    row.name = "one row";
    row.variant = "lookback";
    row.time = TimeStatistics{2, 1, 3, {1, 2, 3}};
    return {"a processor", "2030-01-02", "1.0", {row}, {"a note"}, 9, Cache::hot};
}

// A sweep of three cells, of which two have run; one was refused.
inline SweepResult small_sweep() {
    const std::vector<Value> lengths = {int64_t{32}, int64_t{64}, int64_t{128}};
    Sweep sweep{"", small_request(), {{"length", lengths}}};
    sweep.base.on = "touch evil";
    return {sweep,
            {{{lengths[0]}, "too small", nullptr},
             {{lengths[1]}, "", std::make_shared<const Result>(small_result())}},
            false};
}

inline Session small_session() {
    Session session;
    session.results.emplace_back(small_result(), small_figures(), "2026-11-26 14:03:27");
    session.results.emplace_back(whole_result(), std::make_shared<const std::vector<Figure>>(all_marks()));
    session.history = {1, 0};
    session.pins = {{1, true}, {0, false}};
    add_sweep(session, small_sweep());
    session.benches = {small_bench()};
    session.notes = {{0, "scan", "times", 1.5, -2, "", 0, "look"},
                     {{}, "scan", "", 0, 0, "lookback", 7, "why"}};
    session.family = "scan";
    return session;
}

inline SessionResult::Opened opened(const SessionResult& result) {
    const auto opened = result.open();
    if (!opened) FAIL(opened.error().text);
    return *opened;
}

inline Session read_back(const std::string& path) {
    const auto read = read_session(path);
    if (!read) FAIL(read.error().text);
    return read->session;
}

}  // namespace sawtooth
