#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/engine/run/runner.h"
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
    std::optional<double>
        share;  // 0 to 1, of copy bandwidth or peak arithmetic; absent for steps, and above it
    // Time for one position of the sequence, and the number of empty launches that take as long.
    std::optional<double> step_us, empty_launches;
};
std::string_view name_of(Bound::By by);

// The launches of a plan with the same name and meaning.
struct LaunchCost {
    std::string name, meaning;
    int64_t count = 0;  // in one repeat
    double bytes = 0;   // of all of them together, as is the time
    TimeStatistics time = {};
    // The time over that of `bytes` at the measured copy bandwidth, unless they are few.
    std::optional<double> over_copy = {};

    std::optional<double> gigabytes_per_second() const {
        if (bytes <= 0 || time.median <= 0) return {};
        return bytes / time.median / 1e3;
    }
};

// Those of the launches of one plan, in order, recorded in several repeats.
std::vector<LaunchCost> costs_of(const std::vector<std::vector<LaunchRecord>>& repeats,
                                 double copy_bytes_per_second);

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
    std::vector<LaunchCost> costs = {};  // of a case `by_launch`, from repeats of their own
    Verdict verdict = Verdict::pending;  // a wrong variant has no time
    std::vector<OutputVerdict> verdicts = {};
};

struct BenchReport {
    std::string device, date, version;
    std::vector<BenchRow> rows;
    std::vector<std::string> notes = {};  // of the runs, each once: "btp: verdicts on x, carry: over …"
    int repeats = 0;
    Cache cache = Cache::cold;
    std::optional<Error> ended = {};  // what ended it before all cases had rows
};

// Runs the fixed cases of the families and checks each against the reference. Errors: cancelled, or a
// failure, before any case was done.
Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress);

}  // namespace sawtooth
