#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/core/result.h"

namespace sawtooth {

// Whether a result is correct, in words shown beside its times.

// The largest relative L2 error over the outputs of the variant; absent if unknown.
std::optional<double> largest_error(const VariantResult& variant);
// "6.6 %", and "2.6e-07" below a thousandth.
std::string error_words(double relative_error);

// What is wrong with the outputs of a variant: "diverged" (not finite, or an error of ten times the output),
// "error 120 %" (as large as the output), "error 0.4 %" (more than rounding explains, for an exact
// variant); "" if they are correct.
std::string wrong_words(const Result& result, const VariantResult& variant);
// Whether that variant ran and its outputs are correct.
bool is_right(const Result& result, std::string_view variant);
// "two_pass is within 5.9e-07, fused within 4.5e-07 of the f64 reference." for an output; "" if no error is
// known.
std::string words_of_errors(const Result& result, std::string_view output);
// The fastest variant that is exact and correct; null if there is none.
const VariantResult* fastest_right(const Result& result);

}  // namespace sawtooth
