#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/check/check.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/runner.h"
#include "kernels/core/figure.h"

namespace sawtooth {

class WorkerConnection;

// Runs Requests in a worker: another process, local or started by the command in `Request.on`. Starts the
// worker on demand, gives it one job at a time and waits for it. A worker that hangs (worker_patience.h),
// exits, or breaks the protocol is killed, which is the only way to stop a hung kernel; its job fails with an
// error that says what was running, and the next job gets a new worker. A worker that exits between jobs is
// replaced at the next job. Nothing that a worker sends is trusted (checked.h), and it may take only limited
// time and memory. Only one thread at a time may use it, except for leave_when_stopped.
class WorkerLink {
  public:
    // `cache_directory` is for local workers; remote ones have their own.
    explicit WorkerLink(std::string cache_directory, Counts counts = Counts::everything);
    ~WorkerLink();  // ends the worker
    WorkerLink(const WorkerLink&) = delete;
    WorkerLink& operator=(const WorkerLink&) = delete;

    // A result without array data, which stays in the worker.
    struct Seen {
        std::shared_ptr<const Result> result;
        std::shared_ptr<const std::vector<Figure>> figures;
    };
    // `partial` is null if there is nothing new to show.
    using OnNews = std::function<void(const Progress&, const Seen* partial)>;

    // Errors: those of Runner::run, and a failure if no worker could be started or it was stopped. No figures
    // are made without a view.
    Outcome<Seen> run(const Request& request, const std::optional<View>& view, std::stop_token stop,
                      const OnNews& news = {});
    // If the worker is stopped, the cell is refused with that reason. Errors: cancelled, or no worker could
    // be started.
    Outcome<SweepCell> sweep_cell(const Sweep& sweep, size_t cell, std::stop_token stop,
                                  const OnNews& news = {});
    Outcome<SweepResult> sweep(const Sweep& sweep, std::stop_token stop, const OnCell& done = {});

    // Checks one family; continues in a new worker after a launch that ended the last one. Errors: usage, no
    // such machine, cancelled, or no worker could be started.
    Outcome<CheckReport> check(const CheckRequest& request, std::stop_token stop, const OnCheck& news = {});

    // Makes new figures of the last result. Failure: its worker is gone.
    Outcome<std::shared_ptr<const std::vector<Figure>>> look(const Result& result, const View& view,
                                                             const Parameters& figure_parameters,
                                                             std::stop_token stop);
    // The last result together with its arrays. Failure: its worker is gone, or there is not enough memory.
    Outcome<std::shared_ptr<const Result>> fetch_arrays(const Result& result, std::stop_token stop);

    // The devices of this machine. Failure: no worker could be started, or it did not find the devices within
    // that many seconds, for example because a driver hangs.
    Outcome<Devices> devices(bool tries_counters, double seconds, std::stop_token stop);

    // If the last worker was stopped, starts one for jobs like this one without waiting for it.
    void warm_up(const Request& request);
    // Ends the worker and gives it that much time: its launcher may still have something to write.
    void finish(double seconds);
    // From now on does not wait for the worker of a stopped job. May be called on any thread.
    void leave_when_stopped() { leaves_ = true; }

  private:
    class Job;  // the current job
    bool has_worker_of(const Result& result) const;
    Outcome<CheckReport> check_part(const CheckRequest& request, const std::stop_token& stop,
                                    CheckReport& so_far, const OnCheck& news);
    Outcome<std::vector<uint8_t>> fetch_part(const Request& request, uint64_t array, uint64_t offset,
                                             size_t bytes, std::stop_token stop);

    std::string cache_directory_;
    Counts counts_;
    std::unique_ptr<WorkerConnection> worker_;
    bool was_ended_ = false;        // the last worker was stopped after it had worked
    uint64_t jobs_ = 0, seen_ = 0;  // job numbers: that of the last job, and that of the last result
    std::atomic<bool> leaves_ = false;
};

}  // namespace sawtooth
