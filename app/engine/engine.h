#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/engine/runner.h"
#include "app/engine/worker_link.h"

namespace sawtooth {

// What comes back, for the ticket that `run` or `sweep` gave.
struct Event {
    enum class Kind {
        progress,  // `progress`
        result,    // `result` (complete, or with outputs and errors but no times), its `figures` and `hops`
        figures,   // `figures` anew for another View
        cell,      // `sweep_result` so far and its `figures`
        failed,  // `error`: refused, failed or cancelled; after the end of a ticket, of a look at its result
    };
    Kind kind = Kind::progress;
    uint64_t ticket = 0;
    Progress progress = {};
    std::shared_ptr<const Result> result = {};
    std::shared_ptr<const SweepResult> sweep_result = {};
    std::shared_ptr<const std::vector<Figure>> figures = {};
    std::vector<Hop> hops = {};  // from the call of `run` to this event
    std::optional<Error> error = {};
};

// Runs Requests and Sweeps on a thread of its own: those of the CPU in this process, those of a GPU and those
// with `on` in a worker, so that a kernel that hangs or faults costs a worker and an error. A waiting Request
// is replaced by the newest. When a newer one waits, a running one is cancelled as soon as its outputs were
// shown or it has run 150 ms. On the CPU timing begins once the caller has had time to draw the outputs.
// Sweeps run in the background, in order, and yield to Requests.
class Engine {
  public:
    // `wake` is called when an event can be taken, on the engine's thread or within a call of the caller's;
    // it must only wake the caller's loop. The program must ignore SIGPIPE: a worker may be gone when it is
    // written to.
    Engine(std::string cache_directory, std::function<void()> wake);
    ~Engine();  // cancels and waits
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    uint64_t run(Request request, View view);
    uint64_t sweep(Sweep sweep);
    // Figures of the newest result, for another range in sight and with these values of the parameters whose
    // change renews figures only; nothing runs.
    void look(View view, Parameters figure_parameters);
    void cancel_run();  // the Request that runs and the one that waits: each fails as cancelled
    void cancel_sweep(uint64_t ticket);
    std::vector<Event> take_events();

  private:
    struct Job;
    void serve(std::stop_token stop);
    void watch(std::stop_token stop);
    void send(Event event);
    uint64_t takes();
    void wait_until_drawn(uint64_t takes_before, const std::stop_token& stop);
    void serve_run();
    void serve_sweep_cell();
    void serve_look(std::stop_token stop);

    Runner runner_, background_;  // two, so that a sweep leaves the inputs and the reference of the live run
    WorkerLink link_;
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<Event> events_;
    std::unique_ptr<Job> job_;     // what waits and what runs; guarded by mutex_
    std::jthread watch_, thread_;  // last: they start when all else stands
};

// The result with other values of parameters that only figures depend on.
std::shared_ptr<const Result> with_figure_parameters(const Result& result, const Parameters& parameters);
// All figures of a result: the family's and those of profiling (times, timeline, occupancy).
std::vector<Figure> figures_of(const Result& result, const View& view);
// Those of a sweep: the ones of the family that asked for it, else time and error of every variant against
// its axis.
std::vector<Figure> figures_of(const SweepResult& result);
// The sweeps that the family's figures need, around a Request whose parameters are all in force and that runs
// there.
std::vector<Sweep> figure_sweeps(const Request& request, const Parameters& parameters, Backend backend);

}  // namespace sawtooth
