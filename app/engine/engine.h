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

#include "app/engine/check/report.h"
#include "app/engine/sources/sources.h"

namespace sawtooth {

// A result that is kept: its ticket and its Request.
struct Kept {
    uint64_t ticket = 0;
    Request request;

    bool operator==(const Kept&) const = default;
};

// An answer to the ticket that `run`, `sweep` or `check` returned.
struct Event {
    enum class Kind {
        progress,  // has `progress`
        result,  // has `result` (complete, or with outputs and errors but no times), its `figures` and `hops`
        figures,  // has new `figures` for another View, of the newest result or of a kept one
        cell,     // has `sweep_result` so far and its `figures`; sent again when a newer result renews one of
                  // its cells
        checked,  // has the `report` of a check so far
        failed,   // has `error`: refused, failed or cancelled. After the end of its ticket it is the error of
                  // a `look`
    };
    Kind kind = Kind::progress;
    uint64_t ticket = 0;
    Progress progress = {};
    std::shared_ptr<const Result> result = {};
    std::shared_ptr<const SweepResult> sweep_result = {};
    std::shared_ptr<const CheckReport> report = {};
    std::shared_ptr<const std::vector<Figure>> figures = {};
    std::vector<Hop> hops = {};  // from the call of `run` to this event
    std::optional<Error> error = {};
};

// Runs Requests and Sweeps on its own thread. CPU Requests run in this process. GPU Requests, those that
// compile for a chip and those with `on` run in a worker, so that a kernel that hangs or faults costs only
// the worker. A new Request replaces a waiting one, and cancels a running one that has shown its outputs or
// has run for 150 ms. On the CPU timing starts once the caller has had time to draw the outputs. Sweeps run
// in the background, in order, and yield to Requests. A cell with the settings of the newest result takes
// over that result.
class Engine {
  public:
    // `wake` is called when an event is available, on the engine's thread or inside a call of the caller; it
    // must only wake the caller's loop. The program must ignore SIGPIPE, because a worker may exit before it
    // is written to.
    Engine(const std::string& cache_directory, std::function<void()> wake);
    ~Engine();  // cancels and waits
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    uint64_t run(Request request, View view);
    uint64_t sweep(Sweep sweep);
    // Runs in workers of its own, beside everything else; ends an earlier check.
    uint64_t check(CheckRequest request);
    void cancel_check();
    // Makes the figures of the newest result anew, for another visible range and other values of parameters
    // that affect only figures. Runs nothing.
    void look(std::string family, View view, Parameters figure_parameters);
    // Keeps these earlier results, by their tickets, until the next call: `look` makes the figures of those
    // of the same family, too.
    void keep(std::vector<Kept> results);
    void cancel_run();  // cancels the running and the waiting Request; both fail as cancelled
    void cancel_sweep(uint64_t ticket);
    std::vector<Event> take_events();
    const std::string& cache_directory() const { return sources_.here().cache_directory(); }

  private:
    struct Jobs;
    void serve(std::stop_token stop);
    void watch(std::stop_token stop);
    void send(Event event);
    uint64_t takes();
    void wait_until_drawn(uint64_t takes_before, const std::stop_token& stop);
    void fail(uint64_t ticket, Error error);
    void serve_run();
    void serve_sweep_cell();
    void renew_sweeps(const Result& newest);
    void send_cell(uint64_t ticket, std::shared_ptr<const SweepResult> sweep, std::vector<Figure> figures);
    void serve_look(std::stop_token stop);
    void serve_keep();

    Sources sources_;
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<Event> events_;
    std::vector<Kept> kept_;               // used only by the engine's thread
    uint64_t serving_ = 0;                 // the ticket of the current step; used only by the engine's thread
    std::unique_ptr<Jobs> jobs_;           // waiting and running work; guarded by mutex_
    std::jthread watch_, thread_, check_;  // declared last, so that they start when all other members exist
};

}  // namespace sawtooth
