#pragma once

#include <string>

#include "app/engine/recordings/recordings.h"
#include "app/engine/sources/source.h"

namespace sawtooth {

// Runs Requests in this process. A worker serves its client with one.
class LocalSource : public Source {
  public:
    explicit LocalSource(const std::string& cache_directory, Counts counts = Counts::everything)
        : live_(cache_directory, counts), cells_(cache_directory, counts) {}
    // Runner::on_deaf.
    void on_deaf(const OnDeaf& deaf);

    Outcome<Seen> run(ResultId id, const Request& request, const std::optional<View>& view,
                      std::stop_token stop, const OnNews& news) override;
    Outcome<SweepCell> cell(const Sweep& sweep, size_t index, std::stop_token stop) override {
        return cell(sweep, index, std::move(stop), {});
    }
    Outcome<SweepCell> cell(const Sweep& sweep, size_t index, std::stop_token stop,
                            const OnProgress& progress);
    Outcome<BenchReport> bench(const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress) override {
        return run_bench(cells_, families, base, std::move(stop), progress);
    }
    Outcome<Figures> look(ResultId id, const View& view, const Parameters& figure_parameters,
                          std::stop_token stop) override;
    Outcome<std::shared_ptr<const Result>> whole(ResultId id, std::stop_token stop) override;
    void keep(const std::vector<ResultId>& ids) override { store_.keep(ids); }

    // Returns whether a GPU error makes every later call of this process fail.
    bool is_broken() const { return live_.broken() || cells_.broken(); }
    Runner& cells() { return cells_; }
    const std::string& cache_directory() const { return live_.cache_directory(); }

  private:
    Runner live_, cells_;  // two, so that sweeps keep the inputs and reference of the live run
    ResultStore store_;
    OpenRecording recording_;
};

}  // namespace sawtooth
