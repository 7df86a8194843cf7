#pragma once

#include <string>

#include "kernels/core/plan.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/row_scan.h"

namespace sawtooth::scan {

using cpu::Operator;

// One scan along the middle axis of [batch, length, channels], channels fastest. A complex channel is two of
// these. Step s of the scan is position s, or length - 1 - s where `flipped`.
struct Job {
    Operator op = Operator::sum;
    bool flipped = false;
    int64_t batch = 0, length = 0, channels = 0;
    int64_t block_size = 0;                          // steps a tile
    cpu::Precision precision = cpu::Precision::f32;  // of a and x
    cpu::Precision y_precision = cpu::Precision::f32;
    const void* a = nullptr;  // gates of linear
    const void* x = nullptr;
    const float* initial = nullptr;  // [batch, channels], the state before step 0 of linear; null: 0
    void* y = nullptr;
    std::string prefix;  // of the launches' names: "", "reverse_", "gradient_"
    std::string a_name = "a", x_name = "x", y_name = "y";
};

// The five variants. Each adds its launches, in order, and takes the memory it needs between them.
void add_sequential(Plan& plan, const Job& job);
void add_hillis_steele(Plan& plan, const Job& job);
void add_blelloch(Plan& plan, const Job& job);
void add_three_phase(Plan& plan, const Job& job);
void add_lookback(Plan& plan, const Job& job);

// 256 up to length 256, 512 up to 512, then 1024.
int64_t automatic_block_size(int64_t length);
// ceil(log2(length)): the steps of a doubling scan, the levels of a tree.
int64_t levels_of(int64_t length);

}  // namespace sawtooth::scan
