#include <fmt/format.h>

#include <ctime>

#include "app/engine/run/configure.h"
#include "app/engine/session/session_fields.h"
#include "app/engine/session/session_fit.h"
#include "app/engine/wire/checked.h"
#include "app/engine/wire/figure_faults.h"
#include "app/engine/wire/mapping.h"

namespace sawtooth {
namespace {

ResultSummary::Variant summary_of(const VariantResult& variant, const std::string& main_output) {
    ResultSummary::Variant summary{variant.name, variant.index, {}, {}, variant.verdict()};
    if (variant.time) summary.median_us = variant.time->median;
    for (const OutputError& error : variant.errors)
        if (error.output == main_output) summary.rel_l2 = error.rel_l2;
    return summary;
}

ResultSummary summary_of(const Result& result, std::string date) {
    ResultSummary summary;
    summary.request = portable(result.request);
    summary.parameters = result.parameters;
    summary.main_output = result.main_output;
    summary.device = summary.machine = result.device;
    if (result.ceilings && !result.ceilings->driver.empty())
        summary.machine += (result.backend == Backend::cuda ? ", driver " : ", ") + result.ceilings->driver;
    summary.backend = result.backend;
    summary.date = date.empty() ? utc_now() : std::move(date);
    for (const VariantResult& variant : result.variants)
        if (variant.ran()) summary.variants.push_back(summary_of(variant, result.main_output));
    return summary;
}

// The result as it is stored: what the summary has is left out, and what the file will lack is said.
std::shared_ptr<const Result> stored(const Result& result) {
    auto stored = std::make_shared<Result>(result);
    if (!result.request.input.empty())
        stored->notes.emplace_back("inputs came from a file, which is not part of the session");
    if (!result.request.kernels.empty())
        stored->notes.emplace_back("kernels came from a folder, which is not part of the session");
    stored->request = {};
    stored->parameters = {};
    return stored;
}

Outcome<StoredResult> unpacked(const Deflated& content) {
    const auto bytes = inflated(content);
    if (!bytes) return Error::failure("damaged: its bytes cannot be unpacked");
    NamedReader reader(*bytes);
    StoredResult stored;
    const bool whole = reader.take(stored);
    if (reader.is_out_of_memory())
        return Error::failure(fmt::format("damaged: {} bytes decode to too many values", bytes->size()));
    if (!whole || !reader.at_end() || !stored.result)
        return Error::failure("damaged: " + (reader.fault().empty() ? "it is no result" : reader.fault()));
    if (stored.figures)
        if (const std::string words = fault_in(*stored.figures); !words.empty())
            return Error::failure("damaged: " + words);
    return stored;
}

}  // namespace

Request portable(Request request) {
    request.on.clear();
    request.kernels.clear();
    request.input.clear();
    return request;
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc = {};
    gmtime_r(&now, &utc);
    char text[24];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
    return text;
}

SessionResult::SessionResult(const Result& result, Figures figures, std::string date) {
    NamedWriter writer;
    writer.put(StoredResult{stored(result), std::move(figures)});
    packed_ = std::make_shared<const PackedResult>(
        PackedResult{summary_of(result, std::move(date)), deflated(std::move(writer).take())});
}

const ResultSummary& SessionResult::summary() const {
    static const ResultSummary none;
    return packed_ ? packed_->summary : none;
}

Outcome<SessionResult::Opened> SessionResult::open() const {
    if (!packed_) return Error::failure("there is no result");
    const ResultSummary& summary = packed_->summary;
    const auto family = find_offered_family(summary.request.family);
    if (!family) return family.error();
    const auto content = unpacked(packed_->content);
    if (!content) return content.error();
    Result answer = *content->result;
    answer.parameters = summary.parameters;
    answer.device = summary.device;
    answer.backend = summary.backend;
    answer.main_output = summary.main_output;
    fit_variants(answer, **family);
    for (VariantResult& variant : answer.variants)
        for (Metric& metric : variant.metrics)
            if (metric.id == "of_copy") metric.label = share_of_copy;  // older files have another one
    auto result = checked_result(answer, summary.request);
    if (!result) return result.error();
    return Opened{std::move(*result), content->figures};
}

}  // namespace sawtooth
