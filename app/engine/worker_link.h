#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/runner.h"
#include "kernels/core/figure.h"

namespace sawtooth {

// Computes Requests in a worker: another process, here or behind the command that `Request.on` names. Starts
// the worker when one is needed, gives it one job at a time and waits for its end. A worker that hangs
// (worker_patience.h), ends, or says what it should not is killed, which is the one way to end a hung kernel;
// its job fails with words that say what it was, and the next job has a new worker. One that ended while
// nothing ran is replaced at the next job.
//
// For one thread at a time, but for leave_when_stopped.
class WorkerLink {
  public:
    explicit WorkerLink(std::string cache_directory);  // of workers here; those elsewhere have their own
    ~WorkerLink();                                     // ends the worker
    WorkerLink(const WorkerLink&) = delete;
    WorkerLink& operator=(const WorkerLink&) = delete;

    // A result without the data of its arrays, which stay with the worker.
    struct Seen {
        std::shared_ptr<const Result> result;
        std::shared_ptr<const std::vector<Figure>> figures;
    };
    // `partial` is null where there is nothing new to be seen.
    using OnNews = std::function<void(const Progress&, const Seen* partial)>;

    // Errors as those of Runner::run, and a failure where no worker could be started or it was ended. Without
    // a view no figures are made.
    Outcome<Seen> run(const Request& request, const std::optional<View>& view, std::stop_token stop,
                      const OnNews& news = {});
    // A worker that was ended is the reason of a refused cell. Errors: cancelled, or no worker could be
    // started.
    Outcome<SweepCell> sweep_cell(const Sweep& sweep, size_t cell, std::stop_token stop,
                                  const OnNews& news = {});
    Outcome<SweepResult> sweep(const Sweep& sweep, std::stop_token stop, const OnCell& done = {});

    // Figures of the result that was seen last, anew. Failure: its worker is gone.
    Outcome<std::shared_ptr<const std::vector<Figure>>> look(const Result& result, const View& view,
                                                             const Parameters& figure_parameters,
                                                             std::stop_token stop);
    // The result that was seen last, with its arrays. Failure: its worker is gone, or memory does not
    // suffice.
    Outcome<std::shared_ptr<const Result>> fetch_arrays(const Result& result, std::stop_token stop);

    // Starts a worker for jobs like this one where the last one was ended, and does not wait for it.
    void warm_up(const Request& request);
    // From now on the worker of a job that is stopped is not waited for. Any thread.
    void leave_when_stopped() { leaves_ = true; }

  private:
    class Worker;  // a process and what goes to and fro
    class Job;     // what is being waited for
    bool has_worker_of(const Result& result) const;
    Outcome<std::vector<uint8_t>> fetch_part(const Request& request, uint64_t array, uint64_t offset,
                                             std::stop_token stop);

    std::string cache_directory_;
    std::unique_ptr<Worker> worker_;
    bool was_ended_ = false;        // the last worker, which had been in order before
    uint64_t jobs_ = 0, seen_ = 0;  // numbers of jobs: given so far, and the one whose result was seen last
    std::atomic<bool> leaves_ = false;
};

}  // namespace sawtooth
