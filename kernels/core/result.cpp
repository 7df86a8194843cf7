#include "kernels/core/result.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth {

const VariantResult* find(const Result& result, std::string_view variant) {
    const auto found = std::find_if(result.variants.begin(), result.variants.end(),
                                    [&](const VariantResult& own) { return own.name == variant; });
    return found == result.variants.end() ? nullptr : &*found;
}

std::optional<double> worst_error(const VariantResult& variant) {
    std::optional<double> worst;
    for (const OutputError& error : variant.errors)
        if (error.rel_l2 && !(worst && *worst >= *error.rel_l2)) worst = error.rel_l2;
    return worst;
}

std::string fault_of(const VariantResult& variant) {
    constexpr double far_off = 0.5;  // of the output
    const auto is_broken = [](const OutputError& error) { return error.nonfinite > 0; };
    if (std::any_of(variant.errors.begin(), variant.errors.end(), is_broken)) return "diverged";
    const auto worst = worst_error(variant);
    return worst && *worst >= far_off ? fmt::format("error {:.0f} %", 100 * *worst) : "";
}

const VariantResult* fastest_right(const Result& result) {
    const VariantResult* fastest = nullptr;
    for (const VariantResult& variant : result.variants)
        if (variant.time && fault_of(variant).empty() &&
            (!fastest || variant.time->median < fastest->time->median))
            fastest = &variant;
    return fastest;
}

}  // namespace sawtooth
