// Time and occupancy over the grid of BLOCK_M and BLOCK_N.

#include "kernels/attention/family.h"
#include "kernels/attention/figures/sweeps.h"
#include "kernels/figures/sweep_maps.h"

namespace sawtooth::attention {

std::vector<Figure> tile_figures(const SweepResult& sweep) {
    const std::string& variant = sweep.sweep.base.variants.front();
    const std::string suffix = variant == "streaming" ? "" : "_" + variant;
    std::vector<Figure> figures = {time_map(sweep, attention_family(), "time_by_tiles" + suffix)};
    if (auto occupancy = occupancy_map(sweep, attention_family(), "occupancy_by_tiles" + suffix, "forward",
                                       "larger tiles reuse more"))
        figures.push_back(std::move(*occupancy));
    return figures;
}

}  // namespace sawtooth::attention
