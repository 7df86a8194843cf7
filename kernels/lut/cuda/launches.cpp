#include "kernels/lut/cuda/launches.h"

#include "kernels/lut/describe.h"

namespace sawtooth::lut {

Side side_y(const std::string& name, int64_t count) {
    constexpr int64_t most = 65535;
    return count <= most ? side(name, count) : Side{most, "min(" + name + ", 65535)"};
}

void add_clear(cuda::PlanBuilder& builder, const ArrayUse& array, void* at, int64_t block) {
    const Clear clear = {at, static_cast<int64_t>(array.bytes())};
    if (clear.bytes == 0) return;
    builder.launch(describe::clear(array), {pieces("bytes", clear.bytes, "(16 block_size)", 16 * block)},
                   {.file = "kernels/lut/cuda/clear.cu", .entry = "clear", .threads = block}, clear);
}

void add_convert(cuda::PlanBuilder& builder, const ArrayUse& array, const Convert& convert, int64_t block) {
    if (convert.count == 0) return;
    builder.launch(
        describe::convert_integers_to_floats(array), {pieces("n", convert.count, "block_size", block)},
        {.file = "kernels/lut/cuda/convert.cu", .entry = "convert_integers_to_floats", .threads = block},
        convert);
}

}  // namespace sawtooth::lut
