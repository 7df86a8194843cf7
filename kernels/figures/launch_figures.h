#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Figures of the launches in one repeat of every variant.

// All launches with one name, or of one step of an algorithm.
struct Kernel {
    std::string name;
    double us = 0, bytes = 0;
    int64_t count = 0;                       // number of launches
    std::vector<std::string> launches = {};  // their names

    double gigabytes_per_second() const { return bytes / us / 1e3; }
};

// The step of an algorithm that a launch with that name belongs to; "" if the launch is a step of its own.
using StepOf = std::string (*)(const std::string& launch);

// The kernels of a variant in the order of their first start; all launches of a step are one kernel.
std::vector<Kernel> kernels_of(const VariantResult& variant, StepOf step_of = nullptr);

// At most `most` kernels, those that take most time, in their order.
std::vector<Kernel> longest_of(std::vector<Kernel> kernels, size_t most);
double total_us(const std::vector<Kernel>& kernels);

// Shortens the name of a kernel.
using LabelOf = std::string (*)(const std::string& kernel);

// How figures show kernels.
struct KernelRows {
    StepOf step_of = nullptr;
    LabelOf label_of = nullptr;  // null: names stand as they are
    size_t most = 12;  // rows of all variants; if a variant has too many, its shortest kernels are one row
};

// "kernels", the time of each kernel beside a copy of the bytes that it moves, and "kernels-stacked", the
// share of each in the time of its variant.
std::vector<Figure> kernel_figures(const Result& result, const KernelRows& rows = {});

// "launches": the launches of all variants on one axis of time; if there are many, also "launches-zoom" with
// typical launches of the variant that has most.
std::vector<Figure> launches_figures(const Result& result, const View& view, std::string title);

}  // namespace sawtooth
