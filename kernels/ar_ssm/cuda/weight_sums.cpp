#include <algorithm>

#include "kernels/ar_ssm/cuda/job.h"
#include "kernels/ar_ssm/launches.h"

namespace sawtooth::ar_ssm {
namespace {

// The tile sizes of weight_gradients.cu.
constexpr int64_t rows = 64, columns = 128, lanes = 32;

// The arguments of both kernels, without the partial gradients.
struct WeightSumArguments {
    WeightGradients summing = {};
    GradientParts adding = {};

    WeightSumArguments(const CudaJob& job, const std::vector<WeightGradient>& gradients) {
        summing.tokens = job.tokens();
        summing.length = job.length;
        for (const WeightGradient& gradient : gradients) {
            const int64_t offset = summing.total, count = count_of(gradient.to.shape);
            summing.total += count;
            adding.gradients[adding.gradient_count++] = {gradient.to.as<float>(), offset, count};
            adding.adds = gradient.adds;
            add(gradient, offset);
        }
        adding.total = summing.total;
    }

    // The thread blocks for one part of the tokens.
    Side tiles(int64_t channels_together) const {
        Side all = {0, ""};
        const auto add = [&](const Side& more) { all = all.count == 0 ? more : all + more; };
        for (int i = 0; i < summing.product_count; ++i)
            add(pieces("rows", summing.products[i].rows, rows) *
                pieces("columns", summing.products[i].columns, columns));
        for (int i = 0; i < summing.sum_count; ++i) add(pieces("columns", summing.sums[i].columns, lanes));
        if (summing.conv_width > 0) add(pieces("D", summing.conv_width, 8 * channels_together));
        return all;
    }

  private:
    void add(const WeightGradient& gradient, int64_t offset) {
        const Shape& shape = gradient.to.shape;
        if (gradient.takes_neighbours) {
            summing.x = gradient.right.address;
            summing.dy = gradient.left.address;
            summing.conv_width = shape.front();
            summing.conv_scale = gradient.scale;
            summing.conv_offset = offset;
        } else if (!gradient.left) {
            summing.sums[summing.sum_count++] = {gradient.right.address, shape.back(), offset};
        } else {
            const bool swapped = gradient.transposed;
            const Buffer &left = swapped ? gradient.right : gradient.left,
                         &right = swapped ? gradient.left : gradient.right;
            summing.products[summing.product_count++] = {left.address, right.address,  shape.front(),
                                                         shape.back(), gradient.scale, offset};
        }
    }
};

// The number of parts of the tokens: enough for two thread blocks per SM, unless the parts would be too short
// to fill a pipeline.
int64_t parts_for(const CudaJob& job, int64_t tiles) {
    constexpr int64_t fewest_tokens = 64, most_parts = 64;
    const int64_t wanted = ceil_divide(int64_t{2} * job.builder.chip().multiprocessors, tiles);
    return std::clamp<int64_t>(wanted, 1, std::min(most_parts, ceil_divide(job.tokens(), fewest_tokens)));
}

}  // namespace

void add_weight_gradients(const CudaJob& job, LaunchInfo info, const std::vector<WeightGradient>& gradients) {
    WeightSumArguments sums(job, gradients);
    WeightGradients& summing = sums.summing;
    GradientParts& adding = sums.adding;
    const Side tiles = sums.tiles(job.channels_together());
    summing.part_tokens = ceil_divide(summing.tokens, parts_for(job, tiles.count));
    adding.parts = ceil_divide(summing.tokens, summing.part_tokens);
    const Buffer partial = job.builder.take("partial_gradients", {adding.parts, adding.total});
    adding.partial = summing.partial = partial.as<float>();
    auto [first, second] = in_parts(std::move(info), partial);
    const int64_t shared = job.product_bytes(job.depth(), rows, job.depth(), columns);
    job.builder.launch(
        std::move(first), {tiles, side("parts", adding.parts)},
        job.source("weight_gradients.cu", "weight_gradients", shared, {{"DEPTH", job.depth()}}), summing);
    job.builder.launch(std::move(second), {pieces("weights", adding.total, threads)},
                       {.file = "kernels/ar_ssm/cuda/sum_parts.cu", .entry = "sum_parts", .threads = threads},
                       adding);
}

}  // namespace sawtooth::ar_ssm
