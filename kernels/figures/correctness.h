#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/core/result.h"

namespace sawtooth {

// Tells whether a result is right, in words shown beside its times. There are two questions: whether the
// kernel is right, that is, as close to its own definition as rounding allows; and how far its method is from
// the exact rule.

// The relative L2 distance of the main output to the reference; absent if unknown.
std::optional<double> reference_error(const Result& result, const VariantResult& variant);
// The relative L2 distance of the main output to its definition, or to the reference while an exact variant
// is not judged; absent if unknown.
std::optional<double> kernel_error(const Result& result, const VariantResult& variant);
// reference_error of a variant that approximates; absent for others.
std::optional<double> approximation_of(const Result& result, const VariantResult& variant);
// "6.6 %", and "2.6e-07" below a thousandth.
std::string error_words(double relative_error);

// "y is wrong: 12 of 32,768 elements" for a wrong variant, otherwise "".
std::string wrong_words(const VariantResult& variant);
// "wrong" or "", shown beside a time.
std::string wrong_badge(const VariantResult& variant);
// The same with the worst element: "..., the worst at [0, 65, 3]: 0.5 instead of 0.25 (...)".
std::string wrong_sentence(const OutputVerdict& output);
std::string wrong_sentence(const VariantResult& variant);
// "fused: y is wrong: …" for the first wrong variant; "" if there is none.
std::string first_wrong(const Result& result);
// "right", "wrong", "cannot judge", "pending"; "" if it did not run.
std::string verdict_words(const VariantResult& variant);
// Whether the variant ran and is right.
bool is_right(const Result& result, std::string_view variant);
// Whether the time of the variant may be compared with others: a wrong result has no speed.
bool has_speed(const VariantResult& variant);
// How many values of an output are not finite beyond those of the right exact variant that has the fewest:
// infinite inputs make some infinite in every variant. Without such a variant, all that are not finite.
int64_t broken_values(const Result& result, const OutputError& error);
// Whether a method is too far from the exact rule to compare its time: its error is not finite, or at least
// as large as the output.
bool has_diverged(const Result& result, const VariantResult& variant);

// "two_pass is within 5.9e-07, fused within 4.5e-07 of the float64 reference." for an output, "All 4 variants
// are within 5.9e-07 of the float64 reference."; "" if no error is known.
std::string words_of_errors(const Result& result, std::string_view output);

}  // namespace sawtooth
