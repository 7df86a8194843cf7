#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/engine/check/check.h"
#include "app/engine/machine/devices.h"
#include "app/engine/sources/source.h"
#include "app/engine/wire/messages.h"

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

    // Errors: those of Runner::run, and a failure if no worker could be started or it was stopped. No figures
    // are made without a view.
    Outcome<Source::Seen> run(ResultId id, const Request& request, const std::optional<View>& view,
                              std::stop_token stop, const Source::OnNews& news = {});
    // If the worker is stopped, the cell is refused with that reason. Errors: cancelled, or no worker could
    // be started.
    Outcome<SweepCell> cell(const Sweep& sweep, size_t index, std::stop_token stop);

    // Checks one family; continues in a new worker after a launch that ended the last one. Errors: usage, no
    // such machine, cancelled, or no worker could be started.
    Outcome<CheckReport> check(const CheckRequest& request, std::stop_token stop, const OnCheck& news = {});

    // run_bench. Errors: its own, and a failure if the worker was stopped.
    Outcome<BenchReport> bench(const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress);

    // Makes new figures of a result. Failure: its worker is gone.
    Outcome<Figures> look(ResultId id, const View& view, const Parameters& figure_parameters,
                          std::stop_token stop);
    // A result together with its arrays. Failure: its worker is gone, or there is not enough memory.
    Outcome<std::shared_ptr<const Result>> fetch_arrays(ResultId id, std::stop_token stop);
    // Tells the worker which results must stay.
    void keep(const std::vector<ResultId>& ids);

    // The devices of the machine where the worker runs that `on` starts. Failure: no worker could be started,
    // or it did not find the devices within that many seconds, for example because a driver hangs.
    Outcome<Devices> devices(const DevicesJob& asked, const std::string& on, std::optional<double> seconds,
                             std::stop_token stop);

    // Starts the worker for such Requests, unless it runs, waits for its greeting and sends it the input
    // file. Errors: cancelled, usage (the file), or no worker could be started.
    std::optional<Error> connect(const Request& request, std::stop_token stop);
    // How a worker was lost since the last call, by no fault of its job: it exited, fell silent or broke the
    // protocol. Another worker may do the job.
    std::optional<std::string> take_loss() { return std::exchange(loss_, {}); }

    // If the last worker was stopped, starts one for jobs like this one without waiting for it.
    void warm_up(const Request& request);
    // Ends the worker and gives it that much time: its launcher may still have something to write.
    void finish(double seconds);
    // From now on does not wait for the worker of a stopped job. May be called on any thread.
    void leave_when_stopped() { leaves_ = true; }

  private:
    class Job;  // the current job
    std::shared_ptr<const Result> result_of(ResultId id) const;
    Outcome<CheckReport> check_part(const CheckRequest& request, const std::stop_token& stop,
                                    CheckReport& so_far, const OnCheck& news);
    Outcome<std::vector<uint8_t>> fetch_part(ResultId id, const Request& request, uint64_t array,
                                             uint64_t offset, size_t bytes, std::stop_token stop);

    std::string cache_directory_;
    Counts counts_;
    std::unique_ptr<WorkerConnection> worker_;
    ResultStore results_;     // those whose arrays the worker has
    bool was_ended_ = false;  // the last worker was stopped after it had worked
    std::optional<std::string> loss_;
    uint64_t jobs_ = 0;  // the number of the last job
    std::atomic<bool> leaves_ = false;
};

}  // namespace sawtooth
