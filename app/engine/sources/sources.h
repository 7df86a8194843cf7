#pragma once

#include <string>

#include "app/engine/sources/local_source.h"
#include "app/engine/sources/worker_source.h"

namespace sawtooth {

// This process and its workers: the only place that decides where a Request runs.
class Sources {
  public:
    // Which Requests without `on` go to a worker of this machine: none, or those that compile kernels or run
    // them on a GPU, so that a kernel that hangs or faults costs only the worker.
    enum class Isolated { none, kernels };
    explicit Sources(const std::string& cache_directory, Isolated isolated = Isolated::none,
                     Counts counts = Counts::everything)
        : isolated_(isolated), here_(cache_directory, counts), workers_(cache_directory, counts) {}

    bool is_here(const Request& request) const;
    Source& of(const Request& request);
    LocalSource& here() { return here_; }
    const LocalSource& here() const { return here_; }
    // Source::keep, here and in workers.
    void keep(const std::vector<ResultId>& ids);
    // WorkerSource::leave_when_stopped.
    void leave_when_stopped() { workers_.leave_when_stopped(); }

  private:
    Isolated isolated_;
    LocalSource here_;
    WorkerSource workers_;
};

}  // namespace sawtooth
