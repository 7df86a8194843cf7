#include "app/gui/state/column_widths.h"

#include <algorithm>
#include <numeric>

namespace sawtooth {

std::vector<float> fitted_widths(std::vector<float> widths, float room, float between, size_t wanted,
                                 float least) {
    if (widths.empty()) return widths;
    wanted = std::min(wanted, widths.size());
    const auto spare = [&](size_t count) {
        const float texts =
            std::accumulate(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(count), 0.0f);
        return room - texts - between * static_cast<float>(count - 1);
    };
    if (spare(wanted) < 0) widths[0] = std::max(std::min(widths[0], least), widths[0] + spare(wanted));
    size_t fit = widths.size();
    while (fit > 1 && spare(fit) < 0) --fit;
    const float each = spare(fit) / static_cast<float>(fit);
    for (size_t i = 0; i < fit && fit < widths.size() && each > 0; ++i) widths[i] += each;
    return widths;
}

}  // namespace sawtooth
