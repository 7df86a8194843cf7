#include "app/cli/report_summary.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/timeline.h"

namespace sawtooth::cli {
namespace {

std::string error_of(const Result& result, const VariantResult& variant) {
    const auto error = reference_error(result, variant);
    return error ? ", relative error " + error_words(*error) : "";
}

// ", relative error 4.1 %", or of several variants "; relative errors: chunkwise_gd 4.1 %, tnt 92 %".
std::string errors_of(const Result& result, const std::vector<const VariantResult*>& variants) {
    if (variants.size() == 1) return error_of(result, *variants.front());
    std::string words;
    for (const VariantResult* variant : variants)
        if (const auto error = reference_error(result, *variant))
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", variant->name, error_words(*error));
    return words.empty() ? "" : "; relative errors: " + words;
}

// The baseline of all comparisons: the first variant with a time.
const VariantResult* baseline_of(const Result& result) {
    for (const VariantResult& variant : result.variants)
        if (variant.time) return &variant;
    return nullptr;
}

// The end of an interval in words; "" if it is unknown.
std::string end_words(double end) {
    if (end <= 0 || !std::isfinite(end)) return "";
    return (end < 1000 ? rounded(end, 3) : with_thousands(std::llround(end))) + "x";
}

// The speed-up in words: ", 9x faster than sequential (interval 8.5x to 9.4x)".
std::string speed_up_of(const Result& result, const VariantResult& variant) {
    const VariantResult& first = *baseline_of(result);
    if (&first == &variant) return "";
    const Comparison comparison = compare(result, variant, first);
    if (comparison.pace != Pace::faster) return "";
    const std::string ratio = ratio_words(comparison);
    const bool is_interval = ratio.find(" to ") != std::string::npos;
    return ", " + ratio + " faster than " + first.name +
           (is_interval
                ? ""
                : " (interval " + end_words(comparison.low) + " to " + end_words(comparison.high) + ")");
}

// The correct approximations that may be the fastest of all variants.
std::vector<const VariantResult*> fastest_approximations(const Result& result) {
    std::vector<const VariantResult*> usable, rough;
    std::vector<const TimeStatistics*> times;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || has_diverged(result, variant) || variant.verdict() != Verdict::right) continue;
        usable.push_back(&variant);
        times.push_back(&*variant.time);
    }
    for (const size_t i : may_be_fastest(times, result.in_turns))
        if (usable[i]->exact)
            return {};  // it may be as fast
        else
            rough.push_back(usable[i]);
    return rough;
}

// How long the device was idle; "" for a single launch, which has no gaps.
std::string idle_sentence(const Result& result) {
    const VariantResult* const sequential = find(result, "sequential");
    if (!sequential || sequential->launches.size() < 2) return "";
    return fmt::format("sequential leaves the {} idle {:.0f} % of the time, between {} launches.",
                       result.backend == Backend::cuda ? "GPU" : "CPU",
                       100 * idle_share(sequential->launches), sequential->launch_count);
}

}  // namespace

std::vector<SummaryLine> summary_of(const Result& result) {
    std::vector<SummaryLine> lines;
    if (const auto fastest = fastest_right(result); !fastest.empty())
        lines.push_back({"Fastest correct result: " + fastest_words(fastest) +
                         speed_up_of(result, *fastest.front()) + errors_of(result, fastest) + "."});
    if (const auto rough = fastest_approximations(result); !rough.empty())
        lines.push_back({"Fastest approximation: " + fastest_words(rough) + errors_of(result, rough) + "."});
    if (const std::string idle = idle_sentence(result); !idle.empty()) lines.push_back({idle});
    for (const VariantResult& variant : result.variants)
        if (const std::string words = wrong_sentence(variant); !words.empty())
            lines.push_back({variant.name + ": " + words, true});
    return lines;
}

Table speed_table(const Result& result) {
    const VariantResult* const base = baseline_of(result);
    if (!base) return {};
    Table table{{{"variant", "", false},
                 {"than " + base->name, "", false},
                 {"ratio", ""},
                 {"at least", ""},
                 {"at most", ""},
                 {"disturbed repeats", ""}},
                {}};
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || &variant == base || variant.verdict() == Verdict::wrong) continue;
        const Comparison comparison = compare(result, variant, *base);
        const bool is_told = comparison.pace != Pace::cannot_tell;
        table.rows.push_back({variant.name, is_told ? std::string(name_of(comparison.pace)) : "cannot tell",
                              is_told ? ratio_words(comparison) : "", end_words(comparison.low),
                              end_words(comparison.high), std::to_string(variant.time->disturbed.size())});
    }
    return table;
}

}  // namespace sawtooth::cli
