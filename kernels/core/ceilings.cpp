#include "kernels/core/ceilings.h"

namespace sawtooth {

double empty_launch_us(const Ceilings& ceilings, Follow follow) {
    if (!ceilings.gpu || follow == Follow::wait) return ceilings.launch_us;
    const Ceilings::Gpu& gpu = *ceilings.gpu;
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

}  // namespace sawtooth
