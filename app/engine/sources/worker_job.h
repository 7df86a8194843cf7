#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "app/engine/sources/worker_connection.h"
#include "app/engine/sources/worker_link.h"
#include "app/engine/sources/worker_patience.h"
#include "app/engine/wire/messages.h"

namespace sawtooth {

// One job: gives it to a worker and waits for its answers. After an error the worker is either usable or has
// ended.
class WorkerLink::Job {
  public:
    Job(WorkerLink& link, const Request& request, std::stop_token stop, Source::OnNews news)
        : number(++link.jobs_),
          link_(link),
          request_(request),
          stop_(std::move(stop)),
          news_(std::move(news)),
          patience_(request.time_limit_seconds, link.counts_, std::chrono::steady_clock::now()) {}

    const JobNumber number;

    // Provides a greeted worker that has the input file. Errors: cancelled, usage (the file), failure.
    std::optional<Error> prepare();
    bool sends_input() const { return !request_.on.empty() && !request_.input.empty(); }

    void give(const ToWorker& message);

    // The next answer other than progress.
    Outcome<FromWorker> answer();

    // The error of a Failed message. A worker that cannot continue is dropped.
    Error failure(const Failed& failed);

    // The error for an answer that does not fit the job.
    Error garbled(const std::string& reason);

  private:
    WorkerConnection& worker() { return *link_.worker_; }

    // Keeps the worker if it was started by the same command and is alive; starts a new one otherwise.
    std::optional<Error> find_worker();

    // The seconds that the worker has for its greeting; nullopt: as long as the user waits.
    std::optional<double> seconds_to_answer() const;
    std::optional<Error> greet();
    std::optional<Error> send_file();

    // Waits a short time for the worker. Errors: cancelled, or the worker was stopped.
    std::optional<Error> wait();
    void take(Progress progress);
    void tell(const Progress& progress);

    // A worker that has not received the job yet is kept.
    Error cancelled();
    Error died();

    // Stops the worker and says what it was doing. At fault is the job if another worker would end in the
    // same way.
    enum class Fault { job, worker };
    Error given_up(const std::string& reason, Fault fault);
    Error lost(const std::string& reason, const char* consequence);
    Error not_started();
    std::string last_words();
    Error no_worker(const std::string& reason);

    WorkerLink& link_;
    const Request& request_;
    std::stop_token stop_;
    Source::OnNews news_;
    WorkerPatience patience_;
    bool runs_ = false;  // whether the worker received the job
};

}  // namespace sawtooth
