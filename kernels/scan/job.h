#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/integers.h"
#include "kernels/core/plan_builder.h"
#include "kernels/cpu/operators.h"

namespace sawtooth::cpu {
class PlanBuilder;
}
namespace sawtooth::cuda {
class PlanBuilder;
}

namespace sawtooth::scan {

using cpu::Operator;
using cpu::States;

// One scan along the middle axis of [batch, length, channels], channels fastest, where the launches run. A
// complex channel is two of these. Step s of the scan is position s, or length - 1 - s where `flipped`.
struct Job {
    Operator op = Operator::sum;
    bool flipped = false;
    int64_t batch = 0, length = 0, channels = 0;
    int64_t block_size = 0;          // steps a tile
    Storage storage = Storage::f32;  // of a and x
    Storage y_storage = Storage::f32;
    const void* a = nullptr;  // gates of linear
    const void* x = nullptr;
    const float* initial = nullptr;  // [batch, channels], the state before step 0 of linear; null: 0
    void* y = nullptr;
    std::string prefix = {};  // of the launches' names: "", "reverse_", "gradient_"
    std::string a_name = "a", x_name = "x", y_name = "y";

    int64_t elements() const { return batch * length * channels; }
    int64_t blocks() const { return ceil_divide(length, block_size); }
    Shape shape() const { return {batch, length, channels}; }
};

// What the backward pass of linear does beside its scan. All arrays are [batch, length, channels] but
// dinitial.
struct GateGradients {
    void* shifted;    // gates moved to the step before theirs, in the storage of the job's a
    const float* g;   // the gradient of x
    float* da;        // g_t y_(t-1)
    float* dinitial;  // a_0 g_0 [batch, channels]; null: not wanted
};

// A value of the parameter `op`.
struct Op {
    std::string name;
    Operator op;
    std::optional<Operator> compensated =
        {};  // the same, carrying what every addition loses; absent: there is none
    bool has_backward = false, is_complex = false;
};
const std::vector<Op>& ops();
const Op& op_of(const Parameters& parameters);

// A variant: how it adds its launches on each backend, and the longest chain of combines that it needs.
struct Algorithm {
    std::string name;
    std::string idea;  // one sentence
    void (*add_cpu)(cpu::PlanBuilder&, const Job&);
    void (*add_cuda)(cuda::PlanBuilder&, const Job&);
    int64_t (*depth)(int64_t length, int64_t block_size);
};
const std::vector<Algorithm>& algorithms();

Outcome<Plan> plan_cpu(const PlanRequest& request);
Outcome<Plan> plan_cuda(const PlanRequest& request);

// 256 up to length 256, 512 up to 512, then 1024.
int64_t automatic_block_size(int64_t length);
int64_t block_size_of(const Parameters& parameters);
// ceil(log2(length)): the steps of a doubling scan, the levels of a tree.
int64_t levels_of(int64_t length);

}  // namespace sawtooth::scan
