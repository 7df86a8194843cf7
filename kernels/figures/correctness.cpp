#include "kernels/figures/correctness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/core/table.h"

namespace sawtooth {
namespace {

const OutputError* error_of(const VariantResult& variant, std::string_view output) {
    for (const OutputError& error : variant.errors)
        if (error.output == output) return &error;
    return nullptr;
}

// The output with the most wrong elements; null if none has any.
const OutputVerdict* most_wrong(const VariantResult& variant) {
    const OutputVerdict* most = nullptr;
    for (const OutputVerdict& verdict : variant.verdicts)
        if (verdict.verdict == Verdict::wrong && (!most || verdict.elements > most->elements))
            most = &verdict;
    return most;
}

std::string short_text(double value, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string words_of_wrong(const OutputVerdict& output) {
    return output.output + " is wrong: " + with_thousands(output.elements) + " of " +
           with_thousands(output.judged) + (output.judged == 1 ? " element" : " elements");
}

}  // namespace

std::optional<double> reference_error(const Result& result, const VariantResult& variant) {
    const OutputError* const error = error_of(variant, result.main_output);
    return error ? error->rel_l2 : std::nullopt;
}

std::optional<double> kernel_error(const Result& result, const VariantResult& variant) {
    for (const OutputVerdict& verdict : variant.verdicts)
        if (verdict.output == result.main_output && verdict.verdict != Verdict::pending)
            return verdict.rel_l2;
    return variant.exact ? reference_error(result, variant) : std::nullopt;
}

std::optional<double> approximation_of(const Result& result, const VariantResult& variant) {
    return variant.exact ? std::nullopt : reference_error(result, variant);
}

std::string error_words(double relative_error) {
    char text[32];
    std::snprintf(text, sizeof text,
                  relative_error < 1e-3  ? "%.1e"
                  : relative_error < 0.1 ? "%.2g %%"
                                         : "%.0f %%",
                  relative_error < 1e-3 ? relative_error : 100 * relative_error);
    return text;
}

std::string wrong_words(const VariantResult& variant) {
    const OutputVerdict* const worst = most_wrong(variant);
    return worst ? words_of_wrong(*worst) : "";
}

std::string wrong_badge(const VariantResult& variant) {
    return variant.verdict() == Verdict::wrong ? "wrong" : "";
}

std::string wrong_sentence(const OutputVerdict& output) {
    std::string words = words_of_wrong(output);
    if (const auto& at = output.worst) {
        words += ", the worst at " + to_text(at->index) + ": " + short_text(at->got, "%.7g") +
                 " instead of " + short_text(at->want, "%.7g") + " (rounding allows " +
                 short_text(at->bound, "%.2g") + ")";
        if (!at->where.empty()) words += "; " + at->where;
    }
    return words;
}

std::string wrong_sentence(const VariantResult& variant) {
    const OutputVerdict* const worst = most_wrong(variant);
    return worst ? wrong_sentence(*worst) : "";
}

std::string first_wrong(const Result& result) {
    for (const VariantResult& variant : result.variants)
        if (const std::string words = wrong_words(variant); !words.empty())
            return variant.name + ": " + words;
    return "";
}

std::string verdict_words(const VariantResult& variant) {
    if (!variant.ran()) return "";
    switch (variant.verdict()) {
        case Verdict::pending:
            return "judging";
        case Verdict::right:
            return "right";
        case Verdict::wrong:
            return "wrong";
        case Verdict::cannot_judge:
            return "cannot judge";
    }
    return "";
}

bool is_right(const Result& result, std::string_view variant) {
    const VariantResult* const found = find(result, variant);
    return found && found->ran() && found->verdict() == Verdict::right;
}

bool has_speed(const VariantResult& variant) { return variant.time && variant.verdict() != Verdict::wrong; }

bool has_diverged(const Result& result, const VariantResult& variant) {
    constexpr double as_large = 0.995;  // prints as 100 %
    if (variant.exact) return false;
    const OutputError* const error = error_of(variant, result.main_output);
    return error && (error->nonfinite > 0 || error->rel_l2.value_or(0) >= as_large);
}

std::string words_of_errors(const Result& result, std::string_view output) {
    std::string words, broken;
    int known = 0;
    double least = INFINITY, largest = 0;
    const auto short_error = [](double error) {
        char number[32];
        std::snprintf(number, sizeof number, "%.2g", error);
        return std::string(number);
    };
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors) {
            if (error.output != output) continue;
            if (error.nonfinite > 0)
                broken += variant.name + " has " + with_thousands(error.nonfinite) +
                          " values that are not finite. ";
            if (!error.max_abs) continue;
            words += words.empty() ? variant.name + " is within " : ", " + variant.name + " within ";
            words += short_error(*error.max_abs);
            ++known;
            least = std::min(least, *error.max_abs);
            largest = std::max(largest, *error.max_abs);
        }
    constexpr int most_named = 2;
    const bool both = known == 2 && short_error(least) == short_error(largest);
    if ((known > most_named || both) && broken.empty())
        words = (both ? std::string("Both variants") : "All " + std::to_string(known) + " variants") +
                " are within " + short_error(largest);
    return broken + (words.empty() ? "" : words + " of the float64 reference.");
}

}  // namespace sawtooth
