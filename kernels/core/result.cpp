#include "kernels/core/result.h"

#include <algorithm>

namespace sawtooth {

const VariantResult* find(const Result& result, std::string_view variant) {
    const auto found = std::find_if(result.variants.begin(), result.variants.end(),
                                    [&](const VariantResult& own) { return own.name == variant; });
    return found == result.variants.end() ? nullptr : &*found;
}

}  // namespace sawtooth
