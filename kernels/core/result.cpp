#include "kernels/core/result.h"

#include <algorithm>

namespace sawtooth {

const VariantResult* find(const Result& result, std::string_view variant) {
    const auto found = std::find_if(result.variants.begin(), result.variants.end(),
                                    [&](const VariantResult& own) { return own.name == variant; });
    return found == result.variants.end() ? nullptr : &*found;
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pending:
            return "pending";
        case Verdict::right:
            return "right";
        case Verdict::wrong:
            return "wrong";
        case Verdict::cannot_judge:
            return "cannot_judge";
    }
    return "";
}

// The verdict of the variant: that of a wrong output, then of a pending one, then of a right one. It is
// cannot_judge only if no output can be judged.
Verdict VariantResult::verdict() const {
    const auto any = [&](Verdict wanted) {
        return std::any_of(verdicts.begin(), verdicts.end(),
                           [&](const OutputVerdict& output) { return output.verdict == wanted; });
    };
    for (const Verdict verdict : {Verdict::wrong, Verdict::pending, Verdict::right})
        if (any(verdict)) return verdict;
    return verdicts.empty() ? Verdict::pending : Verdict::cannot_judge;
}

}  // namespace sawtooth
