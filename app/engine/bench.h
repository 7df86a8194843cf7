#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/runner.h"
#include "kernels/core/result.h"
#include "kernels/core/table.h"

namespace sawtooth {

struct Spread {
    double median = 0, q1 = 0, q3 = 0;
};

// One variant of one case, and the limit measured alternately with it in the same run.
struct BenchRow {
    std::string family, name, variant;
    Parameters parameters;
    std::optional<TimeStatistics> time;  // absent where the check failed or it was refused
    std::string limit_name;
    std::optional<TimeStatistics> limit;
    std::optional<Spread> ratio;  // of the pairs: time / limit
    std::vector<OutputError> errors;
    std::string note;      // why there is no time
    int64_t launches = 0;  // of one repeat; 0 where there is no time
};

struct BenchReport {
    std::string device, date, version;
    std::vector<BenchRow> rows;
    std::vector<std::string> notes = {};  // why a family ran where it was not asked to
};

// The fixed cases of the family, every one checked against the reference in the same run. Cancelled, or a
// failure.
Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress);
Table bench_table(const BenchReport& report);

}  // namespace sawtooth
