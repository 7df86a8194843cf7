#include "kernels/lut_sequence/cpu/plan.h"

#include <cmath>

#include "kernels/lut_sequence/describe.h"
#include "kernels/lut_table/cpu/launches.h"

namespace sawtooth::lut_sequence {
namespace {

void check_distance(const CpuJob& job, int64_t distance) {
    const int64_t bits_each = job.sizes.positional;
    for (int64_t t = 0; t < job.detectors; ++t) {
        const int64_t at = distance * job.detectors + t;
        const float* const values = job.positional + at * bits_each;
        int32_t bits = 0, weakest = bits_each > 0 ? 0 : -1;
        for (int32_t r = 0; r < bits_each; ++r) {
            if (values[r] > 0) bits |= 1 << r;
            if (std::abs(values[r]) < std::abs(values[weakest])) weakest = r;
        }
        job.positional_lookup_index[at] = bits;
        job.positional_min_delta[at] = weakest < 0 ? 0 : values[weakest];
        job.positional_min_delta_index[at] = weakest;
    }
}

// The launches of both variants that find the bits of positions and distances.
void add_checks(cpu::PlanBuilder& builder, const CpuJob& job) {
    builder.launch(with_scratch(describe::check_detectors_for_sequence(builder.request()),
                                cpu::scratch_bytes<lut_table::CheckRooms>(job.check)),
                   pieces("B S", job.positions(), lut_table::items_a_tile), [&job](const cpu::Item& item) {
                       lut_table::check_detectors(
                           job.check, tile_at(item.index, lut_table::items_a_tile, job.positions()),
                           cpu::take_rooms<lut_table::CheckRooms>(item.scratch, job.check));
                   });
    if (job.sizes.distances() == 0) return;
    builder.launch(describe::check_positional_embeddings(builder.request()),
                   side("S - 1", job.sizes.distances()),
                   [&job](const cpu::Item& item) { check_distance(job, item.index); });
}

// All launches without a single pair, of sequences of one position: their sums are zero.
void add_launches_without_pairs(cpu::PlanBuilder& builder, const CpuJob& job) {
    const PlanRequest& request = builder.request();
    lut_table::add_clear(builder, describe::y(request), job.y);
    if (!job.dx) return;
    lut_table::add_clear(builder, describe::dx(request), job.dx);
    lut_table::add_clear(builder, describe::dweights(request), job.dweights);
    if (job.weights_after) builder.restore(job.weights_after, job.weights, 4 * job.weights_count);
}

}  // namespace

Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches of_floats, AddLaunches of_integers) {
    cpu::PlanBuilder builder(request);
    const CpuJob& job = builder.keep(CpuJob(builder));
    add_checks(builder, job);
    if (job.sizes.distances() == 0)
        add_launches_without_pairs(builder, job);
    else
        (job.integer ? of_integers : of_floats)(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::lut_sequence
