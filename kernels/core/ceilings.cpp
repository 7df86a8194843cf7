#include "kernels/core/ceilings.h"

#include <algorithm>

#include "kernels/core/table.h"

namespace sawtooth {

double empty_launch_us(const Ceilings& ceilings, Follow follow) {
    if (!ceilings.gpu || follow == Follow::wait) return ceilings.launch_us;
    const GpuCeilings& gpu = *ceilings.gpu;
    if (follow == Follow::stream) return gpu.launch_stream_us;
    if (follow == Follow::graph) return gpu.launch_graph_us;
    return gpu.launch_programmatic_us.value_or(gpu.launch_graph_us);
}

double peak_operations_per_second(const Ceilings& ceilings, const Parameters& parameters) {
    if (!ceilings.gpu || !parameters.has("precision") || parameters.is("precision", "f32"))
        return ceilings.operations_per_second;
    const double bf16 = ceilings.gpu->bf16_operations_per_second;
    return parameters.is("precision", "bf16") ? bf16 : bf16 / 2;
}

std::optional<double> share_of_limit(double rate, double limit) {
    constexpr double most = 1.05;  // by as much two measurements may differ
    if (!(limit > 0) || !(rate <= most * limit)) return {};
    return rate / limit;
}

std::string share_words(double rate, double limit, const std::string& name) {
    const auto share = share_of_limit(rate, limit);
    return share ? percent_number(*share) + " % of " + name : "above " + name;
}

Ceilings best_of(const Ceilings& earlier, const Ceilings& later) {
    Ceilings best = later;
    const auto most = [](double& to, double other) { to = std::max(to, other); };
    const auto least = [](double& to, double other) { to = std::min(to, other); };
    most(best.copy_bytes_per_second, earlier.copy_bytes_per_second);
    most(best.triad_bytes_per_second, earlier.triad_bytes_per_second);
    most(best.operations_per_second, earlier.operations_per_second);
    least(best.launch_us, earlier.launch_us);
    if (!best.gpu || !earlier.gpu) return best;
    most(best.gpu->bf16_operations_per_second, earlier.gpu->bf16_operations_per_second);
    most(best.gpu->l2_read_bytes_per_second, earlier.gpu->l2_read_bytes_per_second);
    least(best.gpu->launch_stream_us, earlier.gpu->launch_stream_us);
    least(best.gpu->launch_graph_us, earlier.gpu->launch_graph_us);
    if (best.gpu->launch_programmatic_us && earlier.gpu->launch_programmatic_us)
        least(*best.gpu->launch_programmatic_us, *earlier.gpu->launch_programmatic_us);
    return best;
}

}  // namespace sawtooth
