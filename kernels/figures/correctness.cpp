#include "kernels/figures/correctness.h"

#include <fmt/format.h>

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
    if (output.worst && output.worst->where == changed_between_repeats)
        return fmt::format(
            "{} changed from the first run to the last repeat: {} of {}, the first at {}: {}, then {}",
            output.output, with_thousands(output.elements), count_words(output.judged, "element"),
            to_text(output.worst->index), short_text(output.worst->want, "%.7g"),
            short_text(output.worst->got, "%.7g"));
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
            return "pending";
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

int64_t broken_values(const Result& result, const OutputError& error) {
    std::optional<int64_t> of_exact;
    for (const VariantResult& variant : result.variants)
        if (const OutputError* const other = variant.exact && variant.verdict() == Verdict::right
                                                 ? error_of(variant, error.output)
                                                 : nullptr)
            of_exact = std::min(of_exact.value_or(other->nonfinite), other->nonfinite);
    return std::max<int64_t>(0, error.nonfinite - of_exact.value_or(0));
}

bool has_diverged(const Result& result, const VariantResult& variant) {
    constexpr double as_large = 0.995;  // prints as 100 %
    if (variant.exact) return false;
    const OutputError* const error = error_of(variant, result.main_output);
    return error && (broken_values(result, *error) > 0 || error->rel_l2.value_or(0) >= as_large);
}

std::string words_of_errors(const Result& result, std::string_view output) {
    const auto short_error = [](double error) {
        char number[32];
        std::snprintf(number, sizeof number, "%.2g", error);
        return std::string(number);
    };
    // What is known of all variants, or only of the exact ones, or only of the others.
    struct Known {
        int count = 0;
        double least = INFINITY, largest = 0;

        void add(double error) {
            ++count;
            least = std::min(least, error);
            largest = std::max(largest, error);
        }
    };
    std::string words, broken;
    Known all, exact, rough;
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors) {
            if (error.output != output) continue;
            const int64_t count = broken_values(result, error);
            if (count > 0)
                broken += variant.name + " has " + with_thousands(count) +
                          (count == 1 ? " value that is not finite. " : " values that are not finite. ");
            if (!error.max_abs) continue;
            words += (words.empty() ? variant.name + " is " : ", " + variant.name + " ") +
                     (count > 0 ? "elsewhere within " : "within ") + short_error(*error.max_abs);
            all.add(*error.max_abs);
            (variant.exact ? exact : rough).add(*error.max_abs);
        }
    constexpr int most_named = 2;
    const bool both = all.count == 2 && short_error(all.least) == short_error(all.largest);
    if (broken.empty() && both)
        words = "Both variants are within " + short_error(all.largest);
    else if (broken.empty() && all.count > most_named && exact.count > 0 && rough.count > 0)
        words = count_words(exact.count, "exact variant") + (exact.count == 1 ? " is" : " are") + " within " +
                short_error(exact.largest) + ", " + count_words(rough.count, "approximation") + " within " +
                short_error(rough.largest);
    else if (broken.empty() && all.count > most_named)
        words = "All " + std::to_string(all.count) + " variants are within " + short_error(all.largest);
    return broken + (words.empty() ? "" : words + " of the float64 reference.");
}

}  // namespace sawtooth
