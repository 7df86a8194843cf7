#pragma once

#include <string>

#include "app/engine/sources/source.h"
#include "app/engine/sources/worker_link.h"

namespace sawtooth {

// Runs Requests in workers: other processes, here or where the command in `Request.on` starts them.
class WorkerSource : public Source {
  public:
    // With `two` workers cells have one of their own, so that one that hangs does not take the results with
    // it. With `one`, a command that starts a worker only when there is room does not wait for itself.
    enum class Workers { one, two };
    explicit WorkerSource(const std::string& cache_directory, Counts counts = Counts::everything,
                          Workers workers = Workers::two)
        : runs_(cache_directory, counts), own_cells_(cache_directory, counts), workers_(workers) {}

    Outcome<Seen> run(ResultId id, const Request& request, const std::optional<View>& view,
                      std::stop_token stop, const OnNews& news) override;
    Outcome<SweepCell> cell(const Sweep& sweep, size_t index, std::stop_token stop) override {
        return cells().cell(sweep, index, std::move(stop));
    }
    Outcome<BenchReport> bench(const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress) override {
        return cells().bench(families, base, std::move(stop), progress);
    }
    Outcome<Figures> look(ResultId id, const View& view, const Parameters& figure_parameters,
                          std::stop_token stop) override {
        return runs_.look(id, view, figure_parameters, std::move(stop));
    }
    Outcome<std::shared_ptr<const Result>> whole(ResultId id, std::stop_token stop) override {
        return runs_.fetch_arrays(id, std::move(stop));
    }
    void keep(const std::vector<ResultId>& ids) override { runs_.keep(ids); }

    // The link of cells, benches and checks.
    WorkerLink& cells() { return workers_ == Workers::one ? runs_ : own_cells_; }
    // From now on does not wait for the worker of a stopped job. Any thread.
    void leave_when_stopped();

  private:
    WorkerLink runs_, own_cells_;
    Workers workers_;
};

}  // namespace sawtooth
