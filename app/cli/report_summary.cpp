#include "app/cli/report_summary.h"

#include <fmt/format.h>

#include "app/engine/tables.h"
#include "kernels/core/correctness.h"
#include "kernels/core/table.h"
#include "kernels/core/timeline.h"

namespace sawtooth::cli {
namespace {

std::string error_of(const Result& result, const VariantResult& variant) {
    const auto error = reference_error(result, variant);
    return error ? ", relative error " + error_words(*error) : "";
}

// ", 9.04x faster than sequential": the first variant with a time is the baseline.
std::string speed_up_of(const Result& result, const VariantResult& variant) {
    for (const VariantResult& first : result.variants) {
        if (!first.time) continue;
        if (&first == &variant || variant.time->median <= 0) return "";
        return fmt::format(", {} faster than {}", speed_up_words(first.time->median / variant.time->median),
                           first.name);
    }
    return "";
}

const VariantResult* fastest_approximation(const Result& result) {
    const VariantResult* fastest = nullptr;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || variant.exact || has_diverged(result, variant)) continue;
        if (variant.verdict() != Verdict::right) continue;
        if (!fastest || variant.time->median < fastest->time->median) fastest = &variant;
    }
    return fastest;
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
    const VariantResult* const fastest = fastest_right(result);
    if (fastest)
        lines.push_back({fmt::format("Fastest correct result: {}, {}{}{}.", fastest->name,
                                     short_time(fastest->time->median), speed_up_of(result, *fastest),
                                     error_of(result, *fastest))});
    const VariantResult* const rough = fastest_approximation(result);
    if (rough && (!fastest || rough->time->median < fastest->time->median))
        lines.push_back({fmt::format("Fastest approximation: {}, {}{}.", rough->name,
                                     short_time(rough->time->median), error_of(result, *rough))});
    if (const std::string idle = idle_sentence(result); !idle.empty()) lines.push_back({idle});
    for (const VariantResult& variant : result.variants)
        if (const std::string words = wrong_sentence(variant); !words.empty())
            lines.push_back({variant.name + ": " + words, true});
    return lines;
}

}  // namespace sawtooth::cli
