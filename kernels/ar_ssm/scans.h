#pragma once

#include "kernels/ar_ssm/tensors.h"
#include "kernels/scan/job.h"

namespace sawtooth::ar_ssm {

// Adds the launches that scan the sums of `from` [batch, length, channels] into `to`, from the last position
// on if `flipped`. The names of the launches begin with `prefix`.
template <class Builder>
void add_scan(Builder& builder, std::string_view variant, const char* prefix, bool flipped,
              const Buffer& from, const Buffer& to) {
    scan::Job job = {};
    job.batch = to.shape[0];
    job.length = to.shape[1];
    job.channels = to.shape[2];
    job.block_size = scan::automatic_block_size(job, Builder::backend);
    job.flipped = flipped;
    job.in = {from};
    job.y = to;
    job.prefix = prefix;
    scan::launch_scan(builder, variant, job);
}

}  // namespace sawtooth::ar_ssm
