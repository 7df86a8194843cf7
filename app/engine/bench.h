#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/engine/runner.h"
#include "kernels/core/result.h"

namespace sawtooth {

struct Spread {
    double median = 0, q1 = 0, q3 = 0;
};

// What keeps a variant from being faster: the bytes that must move, the arithmetic that must be done, or
// steps that wait for one another.
struct Bound {
    enum class By { bytes, arithmetic, steps };
    By by = By::bytes;
    std::optional<double> share;  // 0 to 1, of the bandwidth of the limit or of the peak; absent for steps
    // Of a family with a sequence axis: time for one position, and how many empty launches it is worth.
    std::optional<double> step_us, empty_launches;
};
std::string_view name_of(Bound::By by);

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
    std::optional<Bound> bound = {};
};

struct BenchReport {
    std::string device, date, version;
    std::vector<BenchRow> rows;
    std::vector<std::string> notes = {};  // why a family ran where it was not asked to
    int repeats = 0;
    Cache cache = Cache::cold;
};

// The fixed cases of the family, every one checked against the reference in the same run. Cancelled, or a
// failure.
Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress);

}  // namespace sawtooth
