#include "app/engine/engine.h"

#include <malloc.h>

#include <chrono>
#include <deque>

#include "app/engine/check/parallel.h"
#include "app/engine/guarded.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/sources/progress_filter.h"
#include "app/engine/sources/sweep_loop.h"

namespace sawtooth {
namespace {

using Clock = std::chrono::steady_clock;

// A running Request gets this long to show its outputs before a newer one cancels it, so that results appear
// while a slider is dragged.
constexpr auto time_to_show = std::chrono::milliseconds(150);
// The number of finished sweeps whose figures follow the newest result.
constexpr size_t most_finished = 32;
// After this long without work, free memory is returned to the system. Sweeps begin half a second after a
// run.
constexpr auto rest_before_trim = std::chrono::milliseconds(250);
// Timing waits at most this long until the outputs are drawn.
constexpr auto longest_frame = std::chrono::milliseconds(100);

// The hops from the call of `run` until now. The last one is what was done after the outputs were complete.
std::vector<Hop> hops_of(const Source::Seen& seen, Clock::time_point asked, Clock::time_point started,
                         bool is_here) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    std::vector<Hop> hops{{"previous run stops", Milliseconds(started - asked).count()}};
    double rest = Milliseconds(Clock::now() - started).count();
    const auto add = [&](const Hop& hop) {
        hops.push_back(hop);
        rest -= hop.ms;
    };
    for (const Hop& hop : seen.result->hops) add(hop);
    if (!is_here) add({"figures", seen.figures_ms});
    hops.push_back({is_here ? "figures" : "worker messages", rest});
    return hops;
}

template <class T>
std::shared_ptr<const std::vector<T>> shared(std::vector<T> values) {
    return std::make_shared<const std::vector<T>>(std::move(values));
}

// Returns whether the newer event makes the older one useless. A worker may send events faster than they are
// taken.
bool replaces(const Event& newer, const Event& older) {
    if (newer.kind != older.kind || newer.ticket != older.ticket) return false;
    if (newer.kind == Event::Kind::result) return !newer.result->complete && !older.result->complete;
    return newer.kind != Event::Kind::failed;
}

}  // namespace

struct Engine::Jobs {
    struct Run {
        uint64_t ticket = 0;
        Request request;
        View view;
        Clock::time_point asked = Clock::now();
    };
    struct Background {
        uint64_t ticket = 0;
        std::shared_ptr<SweepSteps> steps;  // used only by the engine's thread
    };
    struct Look {
        std::string family;
        View view;
        Parameters figure_parameters;
        uint64_t newest_ticket;  // at the time of the request
    };

    uint64_t tickets = 0;
    std::optional<Run> waiting;
    std::optional<Look> look;
    std::optional<std::vector<Kept>> keep;
    std::deque<Background> sweeps, finished;

    bool running = false;  // a Request, not a cell of a sweep
    bool shown = false;    // whether its outputs were shown
    uint64_t takes = 0;    // the number of calls of take_events
    Clock::time_point started;
    std::stop_source run_stop, cell_stop;

    // The newest result, from which new figures are made.
    uint64_t newest_ticket = 0;
    std::shared_ptr<const Result> newest;
};

Engine::Engine(const std::string& cache_directory, std::function<void()> wake)
    : sources_(cache_directory, Sources::Isolated::kernels, Counts::launches),
      wake_(std::move(wake)),
      jobs_(std::make_unique<Jobs>()),
      watch_([this](std::stop_token stop) { watch(stop); }),
      thread_([this](std::stop_token stop) { serve(stop); }) {}

Engine::~Engine() {
    sources_.leave_when_stopped();
    thread_.request_stop();
    watch_.request_stop();
    check_.request_stop();
    const std::lock_guard lock(mutex_);
    // A request that was picked but not started would miss a stop, so it must find nothing to do.
    jobs_->waiting.reset();
    jobs_->look.reset();
    jobs_->sweeps.clear();
    jobs_->run_stop.request_stop();
    jobs_->cell_stop.request_stop();
}

uint64_t Engine::run(Request request, View view) {
    const std::lock_guard lock(mutex_);
    jobs_->waiting = Jobs::Run{++jobs_->tickets, std::move(request), std::move(view)};
    jobs_->cell_stop.request_stop();
    changed_.notify_all();
    return jobs_->tickets;
}

uint64_t Engine::sweep(Sweep sweep) {
    const std::lock_guard lock(mutex_);
    jobs_->sweeps.push_back({++jobs_->tickets, std::make_shared<SweepSteps>(std::move(sweep))});
    changed_.notify_all();
    return jobs_->tickets;
}

uint64_t Engine::check(CheckRequest request) {
    uint64_t ticket = 0;
    {
        const std::lock_guard lock(mutex_);
        ticket = ++jobs_->tickets;
    }
    check_.request_stop();
    // The earlier check needs a while to stop its workers; the new one waits for it, not the caller.
    auto run = [this, ticket, request = std::move(request),
                earlier = std::move(check_)](std::stop_token stop) mutable {
        if (earlier.joinable()) earlier.join();
        const auto tell = [&](const CheckReport& report) {
            Event event{.kind = Event::Kind::checked, .ticket = ticket};
            event.report = std::make_shared<const CheckReport>(report);
            send(std::move(event));
        };
        const auto reports =
            guarded([&] { return check_in_workers(cache_directory(), {request}, stop, tell); });
        if (!reports) send({.kind = Event::Kind::failed, .ticket = ticket, .error = reports.error()});
    };
    const auto problem = guarded([&]() -> std::optional<Error> {
        check_ = std::jthread(std::move(run));
        return {};
    });
    if (problem) send({.kind = Event::Kind::failed, .ticket = ticket, .error = problem});
    return ticket;
}

void Engine::cancel_check() { check_.request_stop(); }

void Engine::look(std::string family, View view, Parameters figure_parameters) {
    const std::lock_guard lock(mutex_);
    jobs_->look =
        Jobs::Look{std::move(family), std::move(view), std::move(figure_parameters), jobs_->tickets};
    jobs_->cell_stop.request_stop();
    changed_.notify_all();
}

void Engine::keep(std::vector<Kept> results) {
    const std::lock_guard lock(mutex_);
    jobs_->keep = std::move(results);
    jobs_->cell_stop.request_stop();
    changed_.notify_all();
}

void Engine::cancel_run() {
    uint64_t never_ran = 0;
    {
        const std::lock_guard lock(mutex_);
        if (jobs_->waiting) never_ran = jobs_->waiting->ticket;
        jobs_->waiting.reset();
        jobs_->run_stop.request_stop();
    }
    if (never_ran) send({.kind = Event::Kind::failed, .ticket = never_ran, .error = Error::cancelled()});
}

void Engine::cancel_sweep(uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    if (!jobs_->sweeps.empty() && jobs_->sweeps.front().ticket == ticket) jobs_->cell_stop.request_stop();
    for (auto* sweeps : {&jobs_->sweeps, &jobs_->finished})
        std::erase_if(*sweeps,
                      [ticket](const Jobs::Background& background) { return background.ticket == ticket; });
}

std::vector<Event> Engine::take_events() {
    const std::lock_guard lock(mutex_);
    ++jobs_->takes;
    changed_.notify_all();
    return std::exchange(events_, {});
}

// Drawing and timing at the same time would slow down each other on a few cores. The window takes the event,
// draws it, and then calls take_events again.
void Engine::wait_until_drawn(uint64_t takes_before, const std::stop_token& stop) {
    const auto deadline = Clock::now() + longest_frame;
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stop, deadline, [&] { return jobs_->takes > takes_before; });
    lock.unlock();
    wake_();  // so that the window calls again at once
    lock.lock();
    changed_.wait_until(lock, stop, deadline, [&] { return jobs_->takes > takes_before + 1; });
}

uint64_t Engine::takes() {
    const std::lock_guard lock(mutex_);
    return jobs_->takes;
}

void Engine::send(Event event) {
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(events_, [&](const Event& older) { return replaces(event, older); });
        events_.push_back(std::move(event));
    }
    wake_();
}

// Cancels the running Request once a newer one waits and the running one has shown its outputs or used up its
// time.
void Engine::watch(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        changed_.wait(lock, stop, [this] {
            return jobs_->running && jobs_->waiting && !jobs_->run_stop.stop_requested();
        });
        if (stop.stop_requested()) return;
        const auto deadline = jobs_->started + time_to_show;
        changed_.wait_until(lock, stop, deadline, [this, deadline] {
            return !jobs_->running || jobs_->shown || jobs_->started + time_to_show != deadline;
        });
        const bool had_its_time = jobs_->shown || Clock::now() >= jobs_->started + time_to_show;
        if (jobs_->running && jobs_->waiting && had_its_time) jobs_->run_stop.request_stop();
    }
}

void Engine::serve(std::stop_token stop) {
    while (!stop.stop_requested()) {
        enum class Next { keep, run, look, cell } next;
        {
            std::unique_lock lock(mutex_);
            const auto has_work = [this] {
                return jobs_->keep || jobs_->waiting || jobs_->look || !jobs_->sweeps.empty();
            };
            if (!changed_.wait_for(lock, stop, rest_before_trim, has_work) && !stop.stop_requested()) {
                // The heap keeps the freed memory of large results, which can be gigabytes.
                lock.unlock();
                ::malloc_trim(0);
                lock.lock();
                changed_.wait(lock, stop, has_work);
            }
            if (stop.stop_requested()) return;
            next = jobs_->keep      ? Next::keep
                   : jobs_->waiting ? Next::run
                   : jobs_->look    ? Next::look
                                    : Next::cell;
        }
        serving_ = 0;
        const auto problem = guarded([&]() -> std::optional<Error> {
            if (next == Next::keep) serve_keep();
            if (next == Next::run) serve_run();
            if (next == Next::look) serve_look(stop);
            if (next == Next::cell) serve_sweep_cell();
            return {};
        });
        if (problem)  // reporting the problem may fail, too
            guarded([&]() -> std::optional<Error> {
                fail(serving_, *problem);
                return {};
            });
        const std::lock_guard lock(mutex_);
        jobs_->running = false;
        changed_.notify_all();
    }
}

void Engine::fail(uint64_t ticket, Error error) {
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(jobs_->sweeps, [ticket](const Jobs::Background& b) { return b.ticket == ticket; });
    }
    send({.kind = Event::Kind::failed, .ticket = ticket, .error = std::move(error)});
}

void Engine::serve_run() {
    Jobs::Run run;
    std::stop_token stop;
    const auto started = Clock::now();
    {
        const std::lock_guard lock(mutex_);
        if (!jobs_->waiting) return;
        run = std::move(*jobs_->waiting);
        jobs_->waiting.reset();
        jobs_->running = true;
        jobs_->shown = false;
        jobs_->started = started;
        jobs_->run_stop = {};
        stop = jobs_->run_stop.get_token();
        serving_ = run.ticket;
    }
    const bool is_here = sources_.is_here(run.request);
    const auto show = [&](const Source::Seen& seen) {
        {
            const std::lock_guard lock(mutex_);
            jobs_->shown = true;
            // An older look is part of the run's view. If the run fails, the look is still wanted.
            if (jobs_->look && jobs_->look->newest_ticket < run.ticket) jobs_->look.reset();
            jobs_->newest = seen.result;
            jobs_->newest_ticket = run.ticket;
            changed_.notify_all();
        }
        send({.kind = Event::Kind::result,
              .ticket = run.ticket,
              .result = seen.result,
              .figures = seen.figures,
              .hops = hops_of(seen, run.asked, started, is_here)});
    };
    ProgressFilter filter;
    const auto outcome = guarded([&] {
        return sources_.of(run.request)
            .run(run.ticket, run.request, run.view, stop,
                 [&](const Progress& now, const Source::Seen* partial) {
                     if (!partial) {
                         if (filter.passes(now))
                             send({.kind = Event::Kind::progress, .ticket = run.ticket, .progress = now});
                         return;
                     }
                     const uint64_t takes_before = takes();
                     show(*partial);
                     if (is_here) wait_until_drawn(takes_before, stop);
                 });
    });
    if (!outcome) return fail(run.ticket, outcome.error());
    show(*outcome);
    renew_sweeps(*outcome->result);
}

// Gives cells with the settings of the newest result its numbers.
void Engine::renew_sweeps(const Result& newest) {
    std::vector<std::pair<uint64_t, std::shared_ptr<const SweepResult>>> renewed;
    {
        const std::lock_guard lock(mutex_);
        for (auto* sweeps : {&jobs_->finished, &jobs_->sweeps})
            for (Jobs::Background& background : *sweeps)
                if (background.steps->renew(newest))
                    renewed.emplace_back(background.ticket,
                                         std::make_shared<const SweepResult>(background.steps->result()));
    }
    for (const auto& [ticket, sweep] : renewed) {
        const auto figures =
            guarded([&sweep = *sweep]() -> Outcome<std::vector<Figure>> { return figures_of(sweep); });
        if (figures) send_cell(ticket, sweep, *figures);
    }
}

void Engine::send_cell(uint64_t ticket, std::shared_ptr<const SweepResult> sweep,
                       std::vector<Figure> figures) {
    const double part = static_cast<double>(sweep->cells.size()) / static_cast<double>(sweep->sweep.cells());
    send({.kind = Event::Kind::cell,
          .ticket = ticket,
          .progress = {part, "sweep"},
          .sweep_result = std::move(sweep),
          .figures = shared(std::move(figures))});
}

void Engine::serve_look(std::stop_token stop) {
    Jobs::Look look;
    Event event{.kind = Event::Kind::figures};
    std::shared_ptr<const Result> newest;
    {
        const std::lock_guard lock(mutex_);
        if (!jobs_->look) return;
        look = std::move(*jobs_->look);
        jobs_->look.reset();
        newest = jobs_->newest;
        event.ticket = serving_ = jobs_->newest_ticket;
    }
    uint64_t done = 0;  // the ticket of the newest result, if it is of the family that is looked at
    if (newest && newest->request.family == look.family) {
        done = event.ticket;
        newest = with_figure_parameters(*newest, look.figure_parameters);
        const auto figures = guarded(
            [&] { return sources_.of(newest->request).look(done, look.view, look.figure_parameters, stop); });
        if (!figures) {
            // Usually the worker is gone with its arrays: the figures stay unchanged.
            event.kind = Event::Kind::failed;
            event.error = figures.error();
            return send(std::move(event));
        }
        event.figures = *figures;
        {
            const std::lock_guard lock(mutex_);
            jobs_->newest = newest;
        }
        send(std::move(event));
    }
    for (const Kept& kept : kept_) {
        if (kept.ticket == done || kept.request.family != look.family) continue;
        const auto earlier = guarded([&] {
            return sources_.of(kept.request).look(kept.ticket, look.view, look.figure_parameters, stop);
        });
        // One whose worker is gone keeps its figures.
        if (earlier) send({.kind = Event::Kind::figures, .ticket = kept.ticket, .figures = *earlier});
    }
}

void Engine::serve_keep() {
    {
        const std::lock_guard lock(mutex_);
        if (!jobs_->keep) return;
        kept_ = std::move(*jobs_->keep);
        jobs_->keep.reset();
    }
    std::vector<ResultId> ids;
    for (const Kept& kept : kept_) ids.push_back(kept.ticket);
    sources_.keep(ids);
}

void Engine::serve_sweep_cell() {
    uint64_t ticket = 0;
    std::shared_ptr<SweepSteps> steps;
    std::shared_ptr<const Result> newest;
    std::stop_token stop;
    {
        const std::lock_guard lock(mutex_);
        if (jobs_->sweeps.empty() || jobs_->waiting || jobs_->look) return;
        ticket = jobs_->sweeps.front().ticket;
        steps = jobs_->sweeps.front().steps;
        newest = jobs_->newest;
        jobs_->cell_stop = {};
        stop = jobs_->cell_stop.get_token();
        serving_ = ticket;
    }
    const Request& base = steps->result().sweep.base;
    if (auto error = take_next_cell(*steps, sources_.of(base), stop, newest.get())) {
        // Cancelled: a Request came first, and the cell runs again later.
        if (error->kind != Error::Kind::cancelled) fail(ticket, std::move(*error));
        return;
    }
    const auto now = std::make_shared<const SweepResult>(steps->result());
    const auto figures = guarded([&]() -> Outcome<std::vector<Figure>> { return figures_of(*now); });
    if (!figures) return fail(ticket, figures.error());
    {
        const std::lock_guard lock(mutex_);
        if (jobs_->sweeps.empty() || jobs_->sweeps.front().ticket != ticket)
            return;  // was cancelled in the meantime
        if (now->complete) {
            jobs_->finished.push_back(std::move(jobs_->sweeps.front()));
            jobs_->sweeps.pop_front();
            if (jobs_->finished.size() > most_finished) jobs_->finished.pop_front();
        }
    }
    send_cell(ticket, now, *figures);
}

}  // namespace sawtooth
