#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "app/engine/run/configure.h"
#include "app/gui/state/lab.h"

namespace sawtooth {

// A fake engine that records requests and answers when the test tells it to.
class FakeEngine {
  public:
    std::vector<Request> requests;
    std::vector<Sweep> sweeps;
    struct Look {
        std::string family;
        View view;
        Parameters chosen;
    };
    std::vector<Look> looks;
    std::vector<Kept> kept;
    std::vector<uint64_t> cancelled_sweeps;
    std::vector<CheckRequest> checks;
    int cancelled_runs = 0, cancelled_checks = 0;
    uint64_t tickets = 0;
    uint64_t run_ticket = 0, check_ticket = 0;
    Devices devices = without_gpu();

    EngineCalls calls() {
        return {[this](Request request, const View&) {
                    requests.push_back(std::move(request));
                    return run_ticket = ++tickets;
                },
                [this](Sweep sweep) {
                    sweeps.push_back(std::move(sweep));
                    return ++tickets;
                },
                [this](std::string family, View view, Parameters chosen) {
                    looks.push_back({std::move(family), std::move(view), std::move(chosen)});
                },
                [this](std::vector<Kept> results) { kept = std::move(results); },
                [this] { ++cancelled_runs; },
                [this](uint64_t ticket) { cancelled_sweeps.push_back(ticket); },
                [this](CheckRequest request) {
                    checks.push_back(std::move(request));
                    return check_ticket = ++tickets;
                },
                [this] { ++cancelled_checks; },
                [this] { return std::exchange(events_, {}); },
                {},
                [this](const std::stop_token&) { return devices; }};
    }

    static Devices without_gpu() {
        Devices devices;
        devices.cpu.name = "a processor";
        devices.gpu_reason = "the driver, libcuda.so.1, is not there";
        return devices;
    }
    static Devices with_gpus() {
        Devices devices = without_gpu();
        devices.gpu_reason.clear();
        devices.driver = devices.toolkit = "13.0";
        for (const Chip& chip : chips())
            if (chip.compute_capability == 90 || chip.compute_capability == 89) devices.gpus.push_back(chip);
        return devices;
    }

    // Answers the newest request with a result and a figure at every place of the window; a partial result
    // has no times.
    void answer(bool complete = true) { answer(run_ticket, requests.back(), complete); }
    void answer(uint64_t ticket, const Request& request, bool complete) {
        auto result = std::make_shared<Result>();
        result->request = request;
        const auto configuration = configure(request, {});
        result->parameters = configuration->parameters;
        result->device = "a processor";
        result->main_output = "y";
        result->timed = result->complete = complete;
        for (const Variant* variant : configuration->variants) {
            VariantResult made;
            made.name = variant->name;
            made.errors = {{"y", 1e-6, 1e-7, 0, {}, {}}};
            if (complete) made.time = TimeStatistics{12, 11, 13, {11, 12, 13}};
            result->variants.push_back(made);
        }
        std::vector<Figure> all = figures(complete ? "of the result" : "of its outputs");
        for (Figure& made : all)
            if (!complete && (made.place == Place::times || made.place == Place::timeline))
                made.marks.clear();
        answer(ticket, std::move(result), std::move(all));
    }
    void answer(uint64_t ticket, std::shared_ptr<const Result> result, std::vector<Figure> figures) {
        Event event{.kind = Event::Kind::result, .ticket = ticket, .result = std::move(result)};
        event.figures = std::make_shared<const std::vector<Figure>>(std::move(figures));
        events_.push_back(std::move(event));
    }
    // Answers the newest check.
    void check_answer(CheckReport report) {
        Event event{.kind = Event::Kind::checked, .ticket = check_ticket};
        event.report = std::make_shared<const CheckReport>(std::move(report));
        events_.push_back(std::move(event));
    }
    void progress(double fraction, std::string words) {
        events_.push_back(
            {.kind = Event::Kind::progress, .ticket = run_ticket, .progress = {fraction, std::move(words)}});
    }
    // Answers the request for new figures of the newest result.
    void figures_anew() {
        Event event{.kind = Event::Kind::figures, .ticket = run_ticket};
        event.figures = std::make_shared<const std::vector<Figure>>(figures("looked at"));
        events_.push_back(std::move(event));
    }
    // Reports a running launch whose worker will be stopped in that many seconds.
    void progress_with_deadline(std::string words, double seconds) {
        using Clock = std::chrono::steady_clock;
        Progress progress{0.5, std::move(words), true};
        progress.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::duration<double>(seconds));
        events_.push_back(
            {.kind = Event::Kind::progress, .ticket = run_ticket, .progress = std::move(progress)});
    }
    void fail(Error error) {
        events_.push_back({.kind = Event::Kind::failed, .ticket = run_ticket, .error = std::move(error)});
    }
    // Sends the first `done` cells of the sweep with that ticket.
    void cell(uint64_t ticket, const Sweep& sweep, size_t done) {
        auto result = std::make_shared<SweepResult>();
        result->sweep = sweep;
        for (size_t i = 0; i < done; ++i)
            result->cells.push_back({sweep.cell(i), "the fake engine runs nothing", nullptr});
        result->complete = done == sweep.cells();
        Event event{.kind = Event::Kind::cell, .ticket = ticket, .sweep_result = result};
        event.figures = std::make_shared<const std::vector<Figure>>(
            std::vector<Figure>{figure("swept", Place::views, "of the sweep")});
        events_.push_back(std::move(event));
    }

    static Figure figure(std::string id, Place place, std::string title) {
        Figure made;
        made.id = std::move(id);
        made.place = place;
        made.title = std::move(title);
        made.x = {.label = "position", .shared = "position"};
        made.y = {.label = "value"};
        Line line;
        line.label = "line";
        for (int i = 0; i < 100; ++i) {
            line.x.push_back(i);
            line.y.push_back(i % 17);
        }
        made.marks.emplace_back(std::move(line));
        return made;
    }

    static std::vector<Figure> figures(const std::string& title) {
        return {figure("outputs", Place::outputs, title), figure("error", Place::error, title),
                figure("views", Place::views, title), figure("times", Place::times, title),
                figure("timeline", Place::timeline, title)};
    }

  private:
    std::vector<Event> events_;
};

// A lab with that engine, whose first request was sent and whose devices are known.
inline LabState lab_with(FakeEngine& engine) {
    WindowOptions options;
    options.theme = "dark";
    options.request.family = "scan";
    options.request.time_limit_seconds = 10;
    LabState lab = std::move(*open_lab(options, engine.calls()));
    lab.search->result.wait();
    update(lab, lab.now);
    return lab;
}

// Treats the shown family as if every variant had a CUDA implementation.
class WithCudaForms {
  public:
    explicit WithCudaForms(LabState& lab) : family_(*lab.family) {
        for (Variant& variant : family_.variants)
            variant.plan_cuda = [](const PlanRequest&) { return Outcome<Plan>(Error::failure("not built")); };
        lab.family = &family_;
    }
    WithCudaForms(const WithCudaForms&) = delete;
    WithCudaForms& operator=(const WithCudaForms&) = delete;

  private:
    Family family_;
};

inline const Parameter& row(const LabState& lab, const char* name) { return *lab.family->parameter(name); }

// Waits until all files are written. The outcomes are lost.
inline void finish_writes(LabState& lab) { lab.files = std::make_unique<FileWriter>(); }

// Delivers a complete result and waits until the sweeps start.
inline void finish_run(LabState& lab, FakeEngine& engine) {
    engine.answer();
    update(lab, lab.now + 0.01);
    update(lab, lab.now + 1);
}

// Runs with another length.
inline void run_with_length(LabState& lab, FakeEngine& engine, int64_t length) {
    set_parameter(lab, row(lab, "length"), length);
    finish_run(lab, engine);
}

}  // namespace sawtooth
