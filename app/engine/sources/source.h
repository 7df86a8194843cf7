#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/engine/run/runner.h"
#include "app/engine/store/result_store.h"
#include "app/engine/tables/bench.h"
#include "kernels/core/figure.h"

namespace sawtooth {

using Figures = std::shared_ptr<const std::vector<Figure>>;

// Where Requests are run: this process or a worker. It keeps results with their arrays, by their name, for
// new figures of them. For one thread at a time.
class Source {
  public:
    virtual ~Source() = default;

    struct Seen {
        std::shared_ptr<const Result> result;  // a worker's has arrays without data
        Figures figures;                       // empty without a view
        double figures_ms = 0;                 // what they took
    };
    // Progress, or an unfinished result that replaces earlier ones of the run: without times, or verdicts.
    using OnNews = std::function<void(const Progress&, const Seen* partial)>;

    // Errors: those of Runner::run; a worker could not be started, or was stopped.
    virtual Outcome<Seen> run(ResultId id, const Request& request, const std::optional<View>& view,
                              std::stop_token stop, const OnNews& news) = 0;
    // A cell of a sweep, without arrays. Errors: cancelled, or no further cell can run here.
    virtual Outcome<SweepCell> cell(const Sweep& sweep, size_t index, std::stop_token stop) = 0;
    // run_bench with its errors.
    virtual Outcome<BenchReport> bench(const std::vector<std::string>& families, const Request& base,
                                       std::stop_token stop, const OnProgress& progress) = 0;
    // Figures of a result for another view, with new values of parameters that only affect figures. Failure:
    // the result is gone.
    virtual Outcome<Figures> look(ResultId id, const View& view, const Parameters& figure_parameters,
                                  std::stop_token stop) = 0;
    // A result with all its arrays. Failure: it is gone, or the memory does not suffice.
    virtual Outcome<std::shared_ptr<const Result>> whole(ResultId id, std::stop_token stop) = 0;
    // Names the earlier results that must stay, as in ResultStore::keep.
    virtual void keep(const std::vector<ResultId>& ids) = 0;
};

}  // namespace sawtooth
