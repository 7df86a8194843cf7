#include "app/gui/run_rows.h"

#include <algorithm>

#include "app/engine/devices.h"
#include "app/gui/lab.h"

namespace sawtooth {

int cores() {
    static const int count = std::max(1, find_devices().cpu.cores);
    return count;
}

const std::vector<Parameter>& run_rows() {
    static const std::vector<Parameter> rows = [] {
        const Group run = Group::run;
        std::vector<Parameter> made{
            integer_parameter("seed", "What the generated inputs are drawn from.", run, "", 1, 0, 1000000,
                              Step::linear, Renews::inputs),
            integer_parameter("repeats", "How often each variant runs; its time is the median.", run, "", 9,
                              1, 999, Step::linear, Renews::kernels),
            choice_parameter("cache", "Whether a repeat finds the arrays in the caches or must fetch them.",
                             run, Value(std::string("cold")),
                             {Value(std::string("cold")), Value(std::string("hot"))}, Renews::kernels),
            integer_parameter("threads", "Workers of the pool.", run, "", 1, 1, cores(), Step::linear,
                              Renews::kernels),
        };
        Parameter& threads = made.back();
        threads.word = "auto";
        threads.initial = std::string("auto");
        return made;
    }();
    return rows;
}

Value run_value(const Request& request, std::string_view row) {
    if (row == "seed") return static_cast<int64_t>(request.seed);
    if (row == "repeats") return int64_t{request.repeats};
    if (row == "cache") return std::string(request.cache == Cache::cold ? "cold" : "hot");
    return request.threads > 0 ? Value(int64_t{request.threads}) : Value(std::string("auto"));
}

void set_run_value(Request& request, std::string_view row, const Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    if (row == "seed") request.seed = static_cast<uint64_t>(*number);
    if (row == "repeats") request.repeats = static_cast<int>(*number);
    if (row == "cache") request.cache = value == Value(std::string("cold")) ? Cache::cold : Cache::hot;
    if (row == "threads") request.threads = number ? static_cast<int>(*number) : 0;
}

}  // namespace sawtooth
