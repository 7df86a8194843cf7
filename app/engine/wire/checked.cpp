#include "app/engine/wire/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "app/engine/run/configure.h"
#include "app/engine/wire/figure_faults.h"

namespace sawtooth {
namespace {

// What is wrong with a value; "" if all are accepted.
std::string fault_in_values(const Parameters& parameters, const Family& family) {
    for (const auto& [name, value] : parameters.values) {
        const Parameter* const row = family.parameter(name);
        if (!row) return "unknown parameter " + name;
        if (const auto refusal = row->check(value)) return refusal->sentence();
    }
    return "";
}

std::string fault_in(const Parameters& parameters, const Family& family) {
    if (std::string words = fault_in_values(parameters, family); !words.empty()) return words;
    for (const Parameter& row : family.parameters)
        if (!parameters.has(row.name)) return "no value of parameter " + row.name;
    return "";
}

// Names end up in files, so they must be those of the schema. A reference may also be named "VARIANT/NAME".
bool is_known(const std::string& name, bool is_output, const Family& family) {
    const size_t slash = is_output ? name.find('/') : std::string::npos;
    if (slash != std::string::npos && !family.variant(name.substr(0, slash))) return false;
    const ArraySpec* const row = family.array(slash == std::string::npos ? name : name.substr(slash + 1));
    return row && (row->role == Role::output) == is_output;
}

// Returns whether an array lists the rows that a reference has: "rows", "key_rows".
bool lists_rows(const Array& array) {
    const auto plain = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
    return array.dtype == Dtype::int32 && array.name.ends_with("rows") &&
           std::all_of(array.name.begin(), array.name.end(), plain);
}

std::string fault_in(const Arrays& arrays, bool are_outputs, const Family& family) {
    std::set<std::string> names;
    for (const Array& array : arrays) {
        if (!is_known(array.name, are_outputs, family) && !(are_outputs && lists_rows(array)))
            return (are_outputs ? "unknown output " : "unknown input ") + array.name;
        if (!names.insert(array.name).second) return "array " + array.name + " twice";
        int64_t bytes = bytes_of(array.dtype);
        for (const int64_t length : array.shape)
            if (length < 0 || __builtin_mul_overflow(bytes, length, &bytes))
                return "array " + array.name + " with an impossible shape";
    }
    return "";
}

bool is_duration(double us) { return std::isfinite(us) && us >= 0; }

std::string fault_in(const TimeStatistics& time) {
    const bool right = is_duration(time.median) && is_duration(time.q1) && is_duration(time.q3) &&
                       std::all_of(time.samples.begin(), time.samples.end(), is_duration);
    if (!right) return "times that are no durations";
    const bool known = std::all_of(time.disturbed.begin(), time.disturbed.end(), [&](int64_t sample) {
        return sample >= 0 && std::cmp_less(sample, time.samples.size());
    });
    return known ? "" : "a disturbed repeat that it does not have";
}

std::string fault_in(const std::vector<LaunchRecord>& launches) {
    for (const LaunchRecord& launch : launches) {
        if (!std::isfinite(launch.start_us) || !is_duration(launch.duration_us))
            return "a launch without a duration";
        for (const BusySpan& span : launch.busy)
            if (!std::isfinite(span.start_us) || !std::isfinite(span.end_us))
                return "a worker that is busy at no time";
    }
    return "";
}

std::string fault_in(const OutputError& error, const Family& family) {
    if (!family.array(error.output)) return "an error of unknown output " + error.output;
    const auto is_distance = [](double value) { return std::isfinite(value) && value >= 0; };
    const bool right = is_distance(error.max_abs.value_or(0)) && is_distance(error.rel_l2.value_or(0)) &&
                       error.nonfinite >= 0 && error.first_nonfinite.value_or(0) >= 0 &&
                       std::none_of(error.by_position.begin(), error.by_position.end(),
                                    [](float value) { return value < 0; });
    return right ? "" : "an error of " + error.output + " that is no distance";
}

std::string fault_in(const OutputVerdict& verdict, const Family& family) {
    if (!family.array(verdict.output)) return "a verdict on unknown output " + verdict.output;
    const bool counts = verdict.elements >= 0 && verdict.judged >= verdict.elements;
    return counts ? "" : "more wrong elements than it judged";
}

std::string fault_in(const VariantResult& variant, const Family& family) {
    const Variant* const row = family.variant(variant.name);
    if (!row) return "unknown variant";
    if (variant.index != row - family.variants.data()) return "an index of another variant";
    if (variant.launch_count < 0 || std::cmp_greater(variant.launches.size(), variant.launch_count))
        return "more launches than it counts";
    for (const OutputError& error : variant.errors)
        if (std::string words = fault_in(error, family); !words.empty()) return words;
    for (const OutputVerdict& verdict : variant.verdicts)
        if (std::string words = fault_in(verdict, family); !words.empty()) return words;
    if (std::string words = fault_in(variant.outputs, true, family); !words.empty()) return words;
    if (std::string words = fault_in(variant.launches); !words.empty()) return words;
    return variant.time ? fault_in(*variant.time) : "";
}

std::string fault_in(const std::vector<VariantResult>& variants, const Family& family) {
    int last = -1;
    for (const VariantResult& variant : variants) {
        if (const std::string words = fault_in(variant, family); !words.empty())
            return fmt::format("variant \"{}\" has {}", variant.name, words);
        if (variant.index <= last) return "variants that are not in order";
        last = variant.index;
    }
    return "";
}

std::string fault_in(const Result& result, const Family& family) {
    if (std::string words = fault_in(result.parameters, family); !words.empty()) return words;
    if (result.processors < 0) return "a negative number of processors";
    if (std::string words = fault_in(result.inputs, false, family); !words.empty()) return words;
    if (std::string words = fault_in(result.reference, true, family); !words.empty()) return words;
    if (result.copy)
        if (const std::string words = fault_in(result.copy->time); !words.empty())
            return "a copy with " + words;
    return fault_in(result.variants, family);
}

// Checks a Request that a worker drew for one variant, and replaces what it did not draw by that of `base`.
std::string fault_in_drawn(Request& drawn, const Request& base, const Family& family) {
    if (drawn.variants.size() != 1 || !family.variant(drawn.variants.front())) return "unknown variant";
    if (std::string words = fault_in_values(drawn.parameters, family); !words.empty()) return words;
    Request own = base;
    own.variants = drawn.variants;
    own.parameters = drawn.parameters;
    own.seed = drawn.seed;
    own.jitter = drawn.jitter;
    own.multiprocessors = drawn.multiprocessors;
    own.values = drawn.values;
    own.optional = drawn.optional;
    own.extras = drawn.extras;
    drawn = std::move(own);
    return "";
}

}  // namespace

Outcome<std::shared_ptr<const Result>> checked_result(const Result& answer, const Request& asked) {
    const auto family = find_offered_family(asked.family);
    if (!family) return family.error();
    if (const std::string words = fault_in(answer, **family); !words.empty())
        return Error::failure("the result has " + words);
    auto result = std::make_shared<Result>(answer);
    result->request = asked;
    return std::shared_ptr<const Result>(std::move(result));
}

Outcome<SweepCell> checked_cell(const SweepCell& answer, const Sweep& sweep, size_t cell) {
    SweepCell checked{sweep.cell(cell), answer.refused, nullptr};
    if (!answer.result) return checked;
    auto result = checked_result(*answer.result, sweep.request(cell));
    if (!result) return result.error();
    checked.result = std::move(*result);
    return checked;
}

Outcome<CheckReport> checked_report(const CheckReport& answer, const CheckRequest& asked) {
    const auto found = find_offered_family(asked.base.family);
    if (!found) return found.error();
    const Family& family = **found;
    CheckReport report = answer;
    const auto refuse = [](const std::string& words) { return Error::failure("the report has " + words); };
    if (report.family != family.name) return refuse("another family");
    if (report.tried < 0 || report.next < 0 || report.trying_number < 0 || report.size < 0 ||
        report.given_up < 0 || report.cannot_judge < 0 || report.judged < report.cannot_judge ||
        !is_duration(report.seconds))
        return refuse("impossible counts");
    const auto take = [&](Request& request) { return fault_in_drawn(request, asked.base, family); };
    if (report.trying)
        if (const std::string words = take(*report.trying); !words.empty()) return refuse(words);
    for (Finding& finding : report.findings) {
        std::string words = take(finding.request);
        if (words.empty() && finding.variant != finding.request.variants.front()) words = "two variants";
        if (words.empty() && finding.problem.empty()) words = fault_in(finding.verdict, family);
        if (words.empty()) words = fault_in(finding.figures);
        if (!words.empty()) return refuse(words);
        if (!is_duration(finding.seconds)) return refuse("impossible counts");
    }
    return report;
}

Outcome<BenchReport> checked_bench(const BenchReport& answer) {
    const auto refuse = [](const std::string& words) { return Error::failure("the report has " + words); };
    for (const BenchRow& row : answer.rows) {
        const auto found = find_offered_family(row.family);
        if (!found) return found.error();
        const Family& family = **found;
        if (!family.variant(row.variant)) return refuse("unknown variant");
        if (std::string words = fault_in_values(row.parameters, family); !words.empty()) return refuse(words);
        for (const auto* time : {&row.time, &row.limit})
            if (*time)
                if (std::string words = fault_in(**time); !words.empty()) return refuse(words);
        for (const LaunchCost& cost : row.costs)
            if (std::string words = fault_in(cost.time); !words.empty()) return refuse(words);
        for (const OutputError& error : row.errors)
            if (std::string words = fault_in(error, family); !words.empty()) return refuse(words);
        for (const OutputVerdict& verdict : row.verdicts)
            if (std::string words = fault_in(verdict, family); !words.empty()) return refuse(words);
    }
    return answer;
}

std::optional<Error> check_numbers(const Request& request) {
    const auto refuse = [](const char* option, int64_t value, int64_t low, int64_t high) {
        return Error::usage(fmt::format("{} = {} is out of range ({} to {})", option, value, low, high));
    };
    if (request.threads < 0 || request.threads > most_threads)
        return refuse("threads", request.threads, 1, most_threads);
    if (request.repeats < 0 || request.repeats > most_repeats)
        return refuse("repeats", request.repeats, 1, most_repeats);
    if (request.device < 0 || request.device > most_device)
        return refuse("device", request.device, 0, most_device);
    if (request.jitter < 0 || request.jitter > most_jitter)
        return refuse("jitter", request.jitter, 0, most_jitter);
    if (request.multiprocessors < 0 || request.multiprocessors > most_multiprocessors)
        return refuse("multiprocessors", request.multiprocessors, 0, most_multiprocessors);
    return {};
}

std::optional<Error> check_look(const Family& family, const View& view, const Parameters& figure_parameters) {
    for (const auto& [name, value] : figure_parameters.values) {
        const Parameter* const row = family.parameter(name);
        if (!row || row->renews != Renews::figures)
            return Error::usage(name + " does not choose what figures show");
        if (const auto refusal = row->check(value)) return Error::usage(*refusal);
    }
    constexpr int most_columns = 1 << 16;
    if (view.columns < 1 || view.columns > most_columns)
        return Error::usage(
            fmt::format("columns = {} is out of range (1 to {})", view.columns, most_columns));
    for (const auto& [axis, range] : view.visible)
        if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low >= range.high)
            return Error::usage("the visible range of " + axis + " is empty");
    return {};
}

}  // namespace sawtooth
