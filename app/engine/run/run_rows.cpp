#include "app/engine/run/run_rows.h"

#include <algorithm>

#include "app/engine/run/configure.h"

namespace sawtooth {
namespace {

struct ProfileName {
    Profile profile;
    const char* name;
};
constexpr ProfileName profile_names[] = {{Profile::none, "none"},
                                         {Profile::timeline, "timeline"},
                                         {Profile::counters, "counters"},
                                         {Profile::sampling, "sampling"}};

// The limit as a value: whole seconds become an integer, as the slider sets it.
Value limit_value(std::optional<double> seconds) {
    if (!seconds) return std::string("none");
    const auto whole = static_cast<int64_t>(*seconds);
    return static_cast<double>(whole) == *seconds ? Value(whole) : Value(*seconds);
}

std::vector<Value> names_of_values() {
    std::vector<Value> names;
    for (const auto& [name, values] : value_names) names.emplace_back(std::string(name));
    return names;
}

}  // namespace

int cores() {
    static const int count = std::max(1, cpu_chip().multiprocessors);
    return count;
}

const std::vector<Parameter>& run_rows() {
    static const std::vector<Parameter> rows = [] {
        const Group run = Group::run;
        const auto word = [](const char* text) { return Value(std::string(text)); };
        std::vector<Parameter> made{
            integer_parameter("seed", "Seed of the generated inputs.", run, "", 1, 0, 1000000, Step::linear,
                              Renews::inputs),
            choice_parameter("values",
                             "What stands among the numbers of generated inputs: zeros in place of half of "
                             "them, a few denormals, a few huge numbers, one infinity, or one NaN.",
                             run, word("usual"), names_of_values(), Renews::inputs),
            flag_parameter("optional", "Generates optional inputs too, such as initial states.", run, false,
                           Renews::inputs),
            integer_parameter("repeats", "Timed repeats of each variant; its time is the median.", run, "", 9,
                              1, 999, Step::linear, Renews::kernels),
            choice_parameter("cache", "cold: arrays are not in the caches before a repeat. hot: they may be.",
                             run, word("cold"), {word("cold"), word("hot")}, Renews::kernels),
            choice_parameter("profile",
                             "Measurements beside times: launches on a time axis; on a GPU also hardware "
                             "counters, for achieved occupancy, or samples over time, each in separate runs.",
                             run, word("timeline"),
                             {word("none"), word("timeline"), word("counters"), word("sampling")},
                             Renews::kernels),
            integer_parameter("threads", "CPU worker threads.", run, "", 1, 1, cores(), Step::linear,
                              Renews::kernels),
            integer_parameter(
                "time_limit",
                "Longest time of a run before it is stopped, on a GPU together with its worker. "
                "Compiling kernels, which happens once, does not count.",
                run, "s", 10, 1, 3600, Step::linear, Renews::kernels),
        };
        made[6].word = "auto";
        made[6].initial = word("auto");
        made[7].word = "none";
        return made;
    }();
    return rows;
}

bool is_run_row(const Parameter& row) {
    const auto& rows = run_rows();
    return std::any_of(rows.begin(), rows.end(), [&](const Parameter& own) { return &own == &row; });
}

Value run_value(const Request& request, std::string_view row) {
    if (row == "seed") return static_cast<int64_t>(request.seed);
    if (row == "values") return std::string(name_of(request.values));
    if (row == "optional") return request.optional;
    if (row == "repeats") return int64_t{request.repeats};
    if (row == "cache") return std::string(request.cache == Cache::cold ? "cold" : "hot");
    if (row == "time_limit") return limit_value(request.time_limit_seconds);
    if (row == "profile")
        for (const auto& [profile, name] : profile_names)
            if (request.profile == profile) return std::string(name);
    return request.threads > 0 ? Value(int64_t{request.threads}) : Value(std::string("auto"));
}

void set_run_value(Request& request, std::string_view row, const Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    if (row == "seed") request.seed = static_cast<uint64_t>(*number);
    if (row == "values")
        for (const auto& [name, values] : value_names)
            if (value == Value(std::string(name))) request.values = values;
    if (row == "optional") request.optional = std::get<bool>(value);
    if (row == "repeats") request.repeats = static_cast<int>(*number);
    if (row == "cache") request.cache = value == Value(std::string("cold")) ? Cache::cold : Cache::hot;
    if (row == "threads") request.threads = number ? static_cast<int>(*number) : 0;
    if (row == "profile")
        for (const auto& [profile, name] : profile_names)
            if (value == Value(std::string(name))) request.profile = profile;
    if (row == "time_limit") {
        request.time_limit_seconds.reset();
        if (number) request.time_limit_seconds = static_cast<double>(*number);
    }
}

}  // namespace sawtooth
