#pragma once

#include "kernels/core/integers.h"
#include "kernels/lut_table/schema.h"

namespace sawtooth::lut_table {

// The neighbouring outputs of full tables that a thread of fused sums on CUDA (groups.cuh).
constexpr int64_t outputs_of_thread = 4;

// The sizes of a request of either family. A neuron is a row of a detector's table: detector * rows + row.
struct Sizes {
    explicit Sizes(const Parameters& p)
        : batch(p.integer("batch")),
          inputs(p.integer("inputs")),
          outputs(p.integer("outputs")),
          detectors(p.integer("detectors")),
          anchors(p.integer("anchors_per_detector")),
          rows(int64_t{1} << row_bits(p)),
          sparse(is_sparse(p)),
          integer(p.is("arithmetic", "integer")),
          eps(static_cast<float>(p.real("eps"))) {}

    int64_t neurons() const { return detectors * rows; }

    int64_t batch, inputs, outputs, detectors;
    int64_t anchors;  // per detector
    int64_t rows;     // per table
    bool sparse, integer;
    float eps;  // a bit is set where a difference is above it
};

}  // namespace sawtooth::lut_table
