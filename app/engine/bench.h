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

// What limits a variant: the bytes it must move, its arithmetic, or steps that wait for
// one another.
struct Bound {
    enum class By { bytes, arithmetic, steps };
    By by = By::bytes;
    std::optional<double> share;  // 0 to 1, of copy bandwidth or peak arithmetic; absent for steps
    // Time for one position of the sequence, and the number of empty launches that take as long.
    std::optional<double> step_us, empty_launches;
};
std::string_view name_of(Bound::By by);

// One variant of one case, and the limit measured alternately with it.
struct BenchRow {
    std::string family, name, variant;
    Parameters parameters;
    std::optional<TimeStatistics> time;  // absent if the check failed or the variant was refused
    std::string limit_name;
    std::optional<TimeStatistics> limit;
    std::optional<Spread> ratio;  // of the pairs: time / limit
    std::vector<OutputError> errors;
    std::string note;      // why `time` is absent
    int64_t launches = 0;  // of one repeat; 0 if `time` is absent
    std::optional<Bound> bound = {};
};

struct BenchReport {
    std::string device, date, version;
    std::vector<BenchRow> rows;
    std::vector<std::string> notes = {};  // why a family ran on another backend than requested
    int repeats = 0;
    Cache cache = Cache::cold;
};

// Runs the fixed cases of the families and checks each against the reference. Errors: cancelled, or a
// failure.
Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress);

}  // namespace sawtooth
