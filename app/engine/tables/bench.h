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
    // The share of copy bandwidth or peak arithmetic, 0 to 1; absent for steps and above 1.
    std::optional<double> share;
    // The time for one position of the sequence, and the number of empty launches that take as long.
    std::optional<double> step_us, empty_launches;
};
std::string_view name_of(Bound::By by);

// The launches of a plan with the same name and meaning.
struct LaunchCost {
    std::string name, meaning;
    int64_t count = 0;  // number of launches in one repeat
    double bytes = 0;   // for all of them together, and so is the time
    TimeStatistics time = {};
    // The time divided by that of copying `bytes` at the measured bandwidth; absent if `bytes` is small.
    std::optional<double> over_copy = {};

    std::optional<double> gigabytes_per_second() const {
        if (bytes <= 0 || time.median <= 0) return {};
        return bytes / time.median / 1e3;
    }
};

// The costs of the launches of one plan, in order, recorded in several repeats.
std::vector<LaunchCost> costs_of(const std::vector<std::vector<LaunchRecord>>& repeats,
                                 double copy_bytes_per_second);

// What counters say limits the main launch: "forward, compute: the SMs at 83 % of their peak"; "" if they
// were not read. `processors`: the SMs of the GPU.
std::string counted_words(const VariantResult& variant, int processors);

// One variant of one case, and the limit measured alternately with it.
struct BenchRow {
    std::string family, name, variant;
    Parameters parameters;
    std::optional<TimeStatistics> time;  // absent if the check failed or the variant was refused
    std::string limit_name;
    std::optional<TimeStatistics> limit;
    std::optional<Spread> ratio;  // the ratio time / limit over the pairs of repeats
    std::vector<OutputError> errors;
    std::string note;      // why `time` is absent
    int64_t launches = 0;  // in one repeat; 0 if `time` is absent
    std::optional<Bound> bound = {};
    std::vector<LaunchCost> costs = {};  // only of a case `by_launch`, from separate repeats
    Verdict verdict = Verdict::pending;  // a wrong variant has no time
    std::vector<OutputVerdict> verdicts = {};
    std::string counted = "";                   // counted_words, with Profile::counters
    std::vector<CompiledLaunch> compiled = {};  // for Request::arch
    std::string device = "", host = "";  // where it was measured; the report may be of several machines
};

struct BenchReport {
    std::string device, date, version;
    std::vector<BenchRow> rows;
    // The notes of the runs, each once: "btp: verdicts on x, carry: over …".
    std::vector<std::string> notes = {};
    int repeats = 0;
    Cache cache = Cache::cold;
    std::optional<Error> ended = {};  // the error that ended it before all cases had rows
};

// Runs the fixed cases of the families and checks each one against the reference. Errors: cancelled, or a
// failure before any case was done.
Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& families, const Request& base,
                               std::stop_token stop, const OnProgress& progress);

}  // namespace sawtooth
