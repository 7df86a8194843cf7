#include "app/cli/report_summary.h"

#include <fmt/format.h>

#include "kernels/core/comparison.h"
#include "kernels/core/correctness.h"
#include "kernels/core/timeline.h"

namespace sawtooth::cli {
namespace {

std::string error_of(const Result& result, const VariantResult& variant) {
    const auto error = reference_error(result, variant);
    return error ? ", relative error " + error_words(*error) : "";
}

// ", 9x faster than sequential": the first variant with a time is the baseline.
std::string speed_up_of(const Result& result, const VariantResult& variant) {
    for (const VariantResult& first : result.variants) {
        if (!first.time) continue;
        if (&first == &variant) return "";
        const Comparison comparison = compare(result, variant, first);
        return comparison.pace == Pace::faster ? ", " + ratio_words(comparison) + " faster than " + first.name
                                               : "";
    }
    return "";
}

// Of the approximations that are right, those that may be the fastest of all variants.
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

// "" for a single launch, which has no gaps.
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
                         speed_up_of(result, *fastest.front()) + error_of(result, *fastest.front()) + "."});
    if (const auto rough = fastest_approximations(result); !rough.empty())
        lines.push_back(
            {"Fastest approximation: " + fastest_words(rough) + error_of(result, *rough.front()) + "."});
    if (const std::string idle = idle_sentence(result); !idle.empty()) lines.push_back({idle});
    for (const VariantResult& variant : result.variants)
        if (const std::string words = wrong_sentence(variant); !words.empty())
            lines.push_back({variant.name + ": " + words, true});
    return lines;
}

}  // namespace sawtooth::cli
