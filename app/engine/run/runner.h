#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "app/engine/machine/machine.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/time_limit.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

struct Prepared;
class SingleRun;
class Stopwatch;

struct Progress {
    double fraction = 0;  // 0 to 1
    std::string words;    // the current step: "reference", "lookback, repeat 3 of 9"
    // A reference, compiling, counters or limits of the machine: such a step is left out with
    // Counts::launches.
    bool excused = false;
    // The time at which the worker is stopped if the run has not finished; absent without a time limit.
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
};
// Called on the running thread. `partial` is null except twice per run: before timing it has the outputs and
// errors but no times; after timing it may still lack the verdicts.
using OnProgress = std::function<void(const Progress&, std::shared_ptr<const Result> partial)>;
// Called after each cell.
using OnCell = std::function<void(const SweepResult&)>;

// Runs Requests, one at a time, on the calling thread. Keeps the pool, the inputs and the reference between
// calls, so that a Request that changes none of them reuses them.
class Runner {
  public:
    // The cache directory "" is $XDG_CACHE_HOME/sawtooth.
    explicit Runner(std::string cache_directory, Counts counts = Counts::everything);
    ~Runner();

    // Called when a run does not react to its stop; without it such a run lasts until the call that hangs
    // returns. GPUs are then left for the system to close when the program ends, as closing one may hang,
    // too.
    void on_deaf(OnDeaf deaf) { deaf_ = std::move(deaf); }

    // Errors: usage (the request or its file), failure (memory, time limit, overflow), cancelled.
    Outcome<std::shared_ptr<const Result>> run(const Request& request, std::stop_token stop,
                                               const OnProgress& progress = {});
    // Runs one cell, without keeping its arrays: the engine runs cells between live requests. Cancelled is
    // the only error.
    Outcome<SweepCell> sweep_cell(const Sweep& sweep, size_t index, std::stop_token stop,
                                  const OnProgress& progress = {});

    // Returns whether a GPU error makes every later call in this process fail, so that only a new process
    // helps.
    bool broken() const { return broken_; }
    void give_up() { broken_ = true; }

    // Where the launches of the Request run: the CPU, a GPU, or the choice of "auto". Failure: no usable GPU,
    // or the family has no CUDA implementation. Usage: no GPU with that number.
    Outcome<Machine> machine(const Request& request, const Family& family);

    // The ceilings, measured on first use (0.5 s) and kept in the cache directory. With `anew` they are
    // measured again, and the best of both is kept. Errors: cancelled; a failure of the GPU.
    Outcome<Ceilings> ceilings(const Machine& machine, std::stop_token stop, bool anew = false);
    const std::string& cache_directory() const { return cache_directory_; }

    // The pool with this many threads (0: one per core), created when the number changes.
    cpu::Pool& pool(int threads);

  private:
    struct Kept;
    // `is_cell`: of a sweep.
    Outcome<std::shared_ptr<const Result>> run_guarded(const Request& request, std::stop_token stop,
                                                       const OnProgress& progress, bool is_cell);
    Outcome<std::shared_ptr<const Result>> run_within(const Request& request, TimeLimit& limit,
                                                      const OnProgress& progress, bool is_cell);
    Outcome<std::shared_ptr<const Result>> run_prepared(const Prepared& prepared, TimeLimit& limit,
                                                        const OnProgress& progress);
    std::optional<Error> read_input(const Request& request, const Family& family, std::stop_token stop);
    std::optional<Error> renew_inputs(const Request& request, const Configuration& configuration,
                                      TimeLimit& limit, const OnProgress& progress, Stopwatch& clock);
    std::optional<Error> renew_kernel_reference(const Configuration& configuration, bool with_extras,
                                                TimeLimit& limit, const OnProgress& progress);
    // Compiles for this cell together with the next ones.
    void compile_cells(const Sweep& sweep, size_t first, const std::stop_token& stop,
                       const OnProgress& progress);
    void add_theory_for(const Request& request, TimeLimit& limit, const OnProgress& progress, Result& result);
    std::optional<Ceilings> kept_ceilings(const std::string& path, const std::string& processor, int threads);
    Ceilings keep_ceilings(const std::string& path, const Ceilings& measured);
    Outcome<Ceilings> cpu_ceilings(cpu::Pool& pool, std::stop_token stop, bool anew);
    Outcome<Ceilings> gpu_ceilings(GpuTimer& timer, std::stop_token stop, bool anew);

    std::string cache_directory_;
    Counts counts_;
    OnDeaf deaf_;
    std::unique_ptr<cpu::Pool> pool_;
    Gpus gpus_;
    std::shared_ptr<Kept> kept_;
    std::optional<Ceilings> ceilings_;
    struct CompiledCells {
        Sweep sweep;
        size_t first = 0, end = 0;
    };
    CompiledCells compiled_cells_;
    // Whether the limits were measured again because a variant beat one; once is enough.
    bool measured_anew_ = false;
    bool broken_ = false;
};

}  // namespace sawtooth
