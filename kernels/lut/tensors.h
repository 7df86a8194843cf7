#pragma once

#include "kernels/lut/records.cuh"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut {

using namespace lut_table;

// What the launches of unfused pass on, beside the arrays of the request. Events are absent with full tables,
// gradients and alternative events without a backward pass.
struct Passed {
    // `groups`: the most groups of events.
    Passed(PlanBuilder& builder, const Tensors& t, int64_t groups)
        : y(t.sums_of(builder, t.y)), dx(t.sums_of(builder, t.dx)), dweights(t.sums_of(builder, t.dweights)) {
        const int64_t most = t.batch * t.detectors;
        if (t.sparse) events = EventArrays::take<Event>(builder, "", most, {groups});
        if (t.sparse && t.dx) alternative = EventArrays::take<Event>(builder, "alternative_", most, {groups});
        if (t.dx) gradient_sums = t.take_zeroed_sums(builder, "gradient_sums", {t.batch, 2, t.detectors});
    }

    Buffer y, dx, dweights;           // sums
    Buffer gradient_sums;             // of the chosen rows, then of the alternative ones
    EventArrays events, alternative;  // of the chosen rows and of the alternative ones
};

}  // namespace sawtooth::lut
