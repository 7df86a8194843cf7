#include "kernels/core/correctness.h"

#include <cstdio>

#include "kernels/core/family.h"
#include "kernels/core/table.h"

namespace sawtooth {
namespace {

// If inputs, outputs or products are rounded to fewer bits, errors of a few thousandths are rounding.
double tolerance_of(const Parameters& parameters) {
    for (const char* name : {"dtype", "precision"})
        if (parameters.has(name) && !parameters.is(name, "f32")) return 2e-2;
    return BenchCase{}.tolerance;
}

}  // namespace

std::optional<double> largest_error(const VariantResult& variant) {
    std::optional<double> largest;
    for (const OutputError& error : variant.errors)
        if (error.rel_l2 && !(largest && *largest >= *error.rel_l2)) largest = error.rel_l2;
    return largest;
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

std::string wrong_words(const Result& result, const VariantResult& variant) {
    constexpr double lost = 10, as_large = 0.995;  // prints as 100 %
    for (const OutputError& error : variant.errors)
        if (error.nonfinite > 0) return "diverged";
    const std::optional<double> error = largest_error(variant);
    if (!error) return "";
    if (*error >= lost) return "diverged";
    const double accepted = variant.exact ? tolerance_of(result.parameters) : as_large;
    return *error >= accepted ? "error " + error_words(*error) : "";
}

bool is_right(const Result& result, std::string_view variant) {
    const VariantResult* const found = find(result, variant);
    return found && found->ran() && wrong_words(result, *found).empty();
}

std::string words_of_errors(const Result& result, std::string_view output) {
    std::string words, broken;
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors) {
            if (error.output != output) continue;
            if (error.nonfinite > 0)
                broken += variant.name + " has " + with_thousands(error.nonfinite) +
                          " values that are not finite. ";
            if (!error.max_abs) continue;
            char number[32];
            std::snprintf(number, sizeof number, "%.2g", *error.max_abs);
            words += words.empty() ? variant.name + " is within " : ", " + variant.name + " within ";
            words += number;
        }
    return broken + (words.empty() ? "" : words + " of the f64 reference.");
}

const VariantResult* fastest_right(const Result& result) {
    const VariantResult* fastest = nullptr;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || !variant.exact || !wrong_words(result, variant).empty()) continue;
        if (!fastest || variant.time->median < fastest->time->median) fastest = &variant;
    }
    return fastest;
}

}  // namespace sawtooth
