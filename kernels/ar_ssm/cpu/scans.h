#pragma once

#include <string>

#include "kernels/ar_ssm/cpu/tokens.h"
#include "kernels/scan/job.h"

namespace sawtooth::ar_ssm {

// Adds the sum scan of [batch, length, stride], along the sequence or from its end.
struct SumScan {
    std::string prefix;  // of launch names
    bool flipped = false;
    Buffer from;
    std::string from_name;
    Buffer to;
    std::string to_name;
};
inline void add_scan(cpu::PlanBuilder& builder, std::string_view variant, int64_t batch, int64_t length,
                     const SumScan& sum) {
    scan::Job job = {};
    job.batch = batch;
    job.length = length;
    job.channels = sum.to.stride;
    job.block_size = scan::automatic_block_size(length);
    job.flipped = sum.flipped;
    job.prefix = sum.prefix;
    const Shape shape = {batch, length, sum.to.stride};
    job.in = {{sum.from_name, shape, 4, Storage::f32, sum.from.values}};
    job.y = {sum.to_name, shape, 4, Storage::f32, sum.to.values};
    scan::launch_scan(builder, variant, job);
}

}  // namespace sawtooth::ar_ssm
