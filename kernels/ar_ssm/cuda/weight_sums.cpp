#include <algorithm>

#include "kernels/ar_ssm/cuda/job.h"
#include "kernels/ar_ssm/describe.h"

namespace sawtooth::ar_ssm {
namespace {

// Of weight_gradients.cu.
constexpr int64_t rows = 64, columns = 128, lanes = 32;

}  // namespace

WeightSums::WeightSums(CudaJob& job) : job_(job) {
    of_.tokens = job.tokens();
    of_.length = job.length;
}

int64_t WeightSums::place(const char* weight, int64_t count) {
    const int64_t offset = of_.total;
    of_.total += count;
    to_.gradients[to_.gradient_count++] = {job_.gradient(weight), offset, count};
    return offset;
}

void WeightSums::product(const char* weight, const void* left, int64_t left_columns, const void* right,
                         int64_t right_columns, float scale) {
    of_.products[of_.product_count++] = {left,          right, left_columns,
                                         right_columns, scale, place(weight, left_columns * right_columns)};
}

void WeightSums::sum(const char* weight, const void* values, int64_t of_columns) {
    of_.sums[of_.sum_count++] = {values, of_columns, place(weight, of_columns)};
}

void WeightSums::taps() {
    of_.x = job_.given.x;
    of_.dy = job_.given.dy;
    of_.conv_width = job_.width;
    of_.conv_scale = job_.scale();
    of_.conv_offset = place("conv", 3 * job_.width);
}

Side WeightSums::tiles() const {
    Side all = {0, ""};
    const auto add = [&](const Side& more) { all = all.count == 0 ? more : all + more; };
    for (int i = 0; i < of_.product_count; ++i)
        add(pieces("rows", of_.products[i].rows, rows) * pieces("columns", of_.products[i].columns, columns));
    for (int i = 0; i < of_.sum_count; ++i) add(pieces("columns", of_.sums[i].columns, lanes));
    const int64_t tap_columns = 8 * job_.channels_together();
    if (of_.conv_width > 0) add(pieces("D", of_.conv_width, tap_columns));
    return all;
}

// Two thread blocks for every SM, but no part shorter than it takes to fill a pipeline.
int64_t WeightSums::parts() const {
    constexpr int64_t fewest_tokens = 64, most_parts = 64;
    const int64_t wanted = ceil_divide(int64_t{2} * job_.builder.chip().multiprocessors, tiles().count);
    return std::clamp<int64_t>(wanted, 1, std::min(most_parts, ceil_divide(of_.tokens, fewest_tokens)));
}

void WeightSums::launch(LaunchInfo info, bool adds) const {
    WeightGradients of = of_;
    GradientParts to = to_;
    of.part_tokens = ceil_divide(of.tokens, parts());
    of.partial = job_.builder.take<float>(parts() * of.total);
    to.partial = of.partial;
    to.parts = ceil_divide(of.tokens, of.part_tokens);
    to.total = of.total;
    to.adds = adds;
    const int64_t shared = job_.product_bytes(job_.depth(), rows, job_.depth(), columns);
    auto [summing, adding] = describe::in_parts(std::move(info), to.parts);
    job_.builder.launch(
        std::move(summing), {tiles(), side("parts", to.parts)},
        job_.source("weight_gradients.cu", "weight_gradients", shared, {{"DEPTH", job_.depth()}}), of);
    job_.builder.launch(
        std::move(adding), {pieces("weights", of.total, threads)},
        {.file = "kernels/ar_ssm/cuda/sum_parts.cu", .entry = "sum_parts", .threads = threads}, to);
}

}  // namespace sawtooth::ar_ssm
