#pragma once

#include <optional>
#include <string>

#include "kernels/core/family.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Why these axes give no Triton configuration: it has only tiling parameters.
std::optional<Error> check_triton(const Family& family, const std::vector<SweepAxis>& axes);

// The fastest correct setting of every variant as a line of Python, for triton.autotune:
//     triton.Config({"BLOCK_M": 64, "BLOCK_N": 32}, num_warps=4, num_stages=2)
// with the tiling parameters that have an effect; comments say the time and on what it was measured, and how
// many settings were not measured.
Outcome<std::string> triton_configs(const SweepResult& sweep);

}  // namespace sawtooth
