#include "kernels/lut_sequence/cpu/plan.h"

#include <cmath>

#include "kernels/lut_table/cpu/launches.h"

namespace sawtooth::lut_sequence {
namespace {

void check_distance(const CpuJob& job, int64_t distance) {
    const int64_t bits_each = job.sizes.positional;
    const float* const all = job.positional.as<float>();
    for (int64_t t = 0; t < job.detectors; ++t) {
        const int64_t at = distance * job.detectors + t;
        const float* const values = all + at * bits_each;
        int32_t bits = 0, weakest = bits_each > 0 ? 0 : -1;
        for (int32_t r = 0; r < bits_each; ++r) {
            if (values[r] > job.eps) bits |= 1 << r;
            if (std::abs(values[r]) < std::abs(values[weakest])) weakest = r;
        }
        job.distance_bits.lookup_index[at] = bits;
        job.distance_bits.min_delta[at] = weakest < 0 ? 0 : values[weakest];
        job.distance_bits.min_delta_index[at] = weakest;
    }
}

// Adds the launches of both variants that find the bits of positions and distances.
void add_checks(cpu::PlanBuilder& builder, const CpuJob& job) {
    builder.launch(with_scratch(check_detectors_for_sequence(job), cpu::scratch_bytes<CheckRooms>(job)),
                   pieces("B S", job.items, items_a_tile), [&job](const cpu::Item& item) {
                       check_detectors(job, tile_at(item.index, items_a_tile, job.items),
                                       cpu::take_rooms<CheckRooms>(item.scratch, job));
                   });
    if (job.sizes.distances() == 0) return;
    builder.launch(check_positional_embeddings(job), side("S - 1", job.sizes.distances()),
                   [&job](const cpu::Item& item) { check_distance(job, item.index); });
}

// Adds the launches for sequences of one position, which have no pair: all sums are zero.
void add_launches_without_pairs(cpu::PlanBuilder& builder, const CpuJob& job) {
    for (const Buffer& array : {job.y, job.dx, job.dweights})
        if (array) add_clear(builder, array);
    if (job.weights_after) job.restore_weights(builder);
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
    finish_gradients(builder, job, {job.dweights, job.dpositional});
    return builder.finish();
}

}  // namespace sawtooth::lut_sequence
