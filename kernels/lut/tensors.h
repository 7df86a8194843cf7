#pragma once

#include "kernels/lut/records.cuh"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut {

using namespace lut_table;

// The arrays that launches of unfused pass on, in addition to those of the request. Full tables have no
// events; without a backward pass there are no gradients and no alternative events.
struct Passed {
    // `groups` is the largest number of groups of events.
    Passed(PlanBuilder& builder, const Tensors& t, int64_t groups)
        : y(t.sums_of(builder, t.y)), dx(t.sums_of(builder, t.dx)), dweights(t.sums_of(builder, t.dweights)) {
        const int64_t most = t.batch * t.detectors;
        if (t.sparse) events = EventArrays::take<Event>(builder, "", most, {groups});
        if (t.sparse && t.dx) alternative = EventArrays::take<Event>(builder, "alternative_", most, {groups});
        if (t.dx) gradient_sums = t.take_zeroed_sums(builder, "gradient_sums", {t.batch, 2, t.detectors});
    }

    Buffer y, dx, dweights;           // sums
    Buffer gradient_sums;             // [batch, 2, detectors]: chosen row, alternative row
    EventArrays events, alternative;  // of chosen and of alternative rows
};

}  // namespace sawtooth::lut
