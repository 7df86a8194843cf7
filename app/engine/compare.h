#pragma once

#include <string>

#include "kernels/core/result.h"

namespace sawtooth {

// The errors of an output against its reference, of the same shape. `sequence_axis` is the axis along which
// they are reported by position, -1 for none. A value that is not finite is no error where the reference has
// the same one; it is counted either way, and so is a finite value in place of one that is not.
OutputError compare(const Array& output, const Array& reference, int sequence_axis);

// The largest relative L2 error of the variant's outputs; absent where none is known.
std::optional<double> largest_error(const VariantResult& variant);
// "6.6 %", and "2.6e-07" below a thousandth.
std::string error_words(double relative_error);

// What is wrong with the outputs of a variant: "diverged" (not finite, or ten times as far off as the output
// is large), "error 120 %" (as large as the output), "error 0.4 %" (more than rounding explains, of a variant
// that approximates nothing); "" where they are right.
std::string wrong_words(const Result& result, const VariantResult& variant);
// Does the variant compute what the reference does, but for rounding?
bool is_exact(const Result& result, const VariantResult& variant);
// The variant with the shortest time among those that are exact and right; null where there is none.
const VariantResult* fastest_right(const Result& result);

}  // namespace sawtooth
