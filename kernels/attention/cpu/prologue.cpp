#include "kernels/attention/cpu/job.h"

#include <cmath>
#include <vector>

#include "kernels/attention/launches.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::attention {
namespace {

using cpu::lanes;
constexpr int64_t block = 64;  // positions of an item: whole strips

// R(p): turns each pair (x_m, x_(m + D/2)) by p 10000^(-2 m / D).
class Rotation {
  public:
    Rotation(int64_t position, int64_t d)
        : cosines_(static_cast<size_t>(d / 2)), sines_(static_cast<size_t>(d / 2)) {
        for (size_t m = 0; m < cosines_.size(); ++m) {
            const double turn = static_cast<double>(position) *
                                std::pow(10000.0, -2.0 * static_cast<double>(m) / static_cast<double>(d));
            cosines_[m] = static_cast<float>(std::cos(turn));
            sines_[m] = static_cast<float>(std::sin(turn));
        }
    }
    void apply(const float* from, float* to) const {
        for (size_t m = 0, half = cosines_.size(); m < half; ++m) {
            const float x = from[m], y = from[m + half];
            to[m] = x * cosines_[m] - y * sines_[m];
            to[m + half] = y * cosines_[m] + x * sines_[m];
        }
    }
    void add_inverse(const float* from, float* to) const {
        for (size_t m = 0, half = cosines_.size(); m < half; ++m) {
            const float x = from[m], y = from[m + half];
            to[m] += x * cosines_[m] + y * sines_[m];
            to[m + half] += y * cosines_[m] - x * sines_[m];
        }
    }

  private:
    std::vector<float> cosines_, sines_;
};

// The rotations of consecutive positions, which all heads share.
std::vector<Rotation> rotations_of(Range positions, int64_t d) {
    std::vector<Rotation> all;
    for (int64_t i = positions.first; i < positions.last; ++i) all.emplace_back(i, d);
    return all;
}

void prepare(const CpuJob& job, const cpu::Item& item) {
    const Range positions = tile_at(item.index, block, job.length);
    const Rotation far(job.mask.window, job.d);
    std::vector<Rotation> near;
    if (job.q) near = rotations_of(positions, job.d);
    std::vector<float> row(static_cast<size_t>(job.d));
    for (int64_t head = 0; head < job.heads; ++head) {
        const int64_t begin = job.at(head, positions.first);
        for (const auto& [given, wide] : job.widened)
            cpu::read(given, begin, positions.count() * job.d, wide.as<float>() + begin);
        for (size_t i = 0; i < near.size(); ++i) {
            const int64_t at = begin + static_cast<int64_t>(i) * job.d;
            cpu::read(job.q, at, job.d, row.data());
            near[i].apply(row.data(), job.q1.as<float>() + at);
            far.apply(row.data(), job.q2.as<float>() + at);
            cpu::read(job.k, at, job.d, row.data());
            near[i].apply(row.data(), job.k1.as<float>() + at);
        }
        for (const auto& [rows, strips] : job.transposed)
            for (int64_t i = positions.first; i < positions.last; i += lanes)
                cpu::transpose(job.vectors(rows, head, i), job.d, std::min(lanes, job.length - i), job.d,
                               job.strip(strips, head, i), lanes);
    }
}

}  // namespace

CpuJob::CpuJob(PlanBuilder& builder) : Tensors(builder, Storage::f32) {
    const auto in_strips = [&](const Buffer& rows) {
        transposed.emplace_back(
            rows, builder.take(rows.name + ", transposed", {heads, cpu::strips_of(length), d, lanes}));
        return transposed.back().second;
    };
    k1_columns = in_strips(k1);
    k2_columns = in_strips(k2);
    if (has_backward()) v_columns = in_strips(v);
    shift = builder.take("shift of the softmax", lse.shape);
    sum = builder.take("sum of the softmax", lse.shape);
    softmax = {shift, sum};
}

const CpuJob& prepared_job(cpu::PlanBuilder& builder) {
    const CpuJob& job = builder.keep(CpuJob(builder));
    builder.launch(prologue(job, job.transposed), pieces("N", job.length, block),
                   [&job](const cpu::Item& item) { prepare(job, item); });
    return job;
}

void add_epilogue(cpu::PlanBuilder& builder, const CpuJob& job) {
    const Side items = pieces("N", job.length, block);
    if (job.storage != Storage::f32)
        builder.launch({.name = "store",
                        .meaning = "Rounds o to its dtype.",
                        .reads = {job.o},
                        .writes = {job.stored_o}},
                       items, [&job](const cpu::Item& item) {
                           const Range positions = tile_at(item.index, block, job.length);
                           for (int64_t head = 0; head < job.heads; ++head) {
                               const int64_t at = job.at(head, positions.first);
                               cpu::write(job.o.as<float>() + at, positions.count() * job.d, job.stored_o,
                                          at);
                           }
                       });
    if (!job.dq) return;
    builder.launch(rotate_back(job), items, [&job](const cpu::Item& item) {
        const Range positions = tile_at(item.index, block, job.length);
        const std::vector<Rotation> near = rotations_of(positions, job.d);
        const Rotation far(job.mask.window, job.d);
        for (int64_t head = 0; head < job.heads; ++head)
            for (int64_t i = positions.first; i < positions.last; ++i) {
                const Rotation& turn = near[static_cast<size_t>(i - positions.first)];
                float *const dq = job.vectors(job.dq, head, i), *const dk = job.vectors(job.dk, head, i);
                std::fill_n(dq, job.d, 0.0f);
                turn.add_inverse(job.vectors(job.dq1, head, i), dq);
                far.add_inverse(job.vectors(job.dq2, head, i), dq);
                std::copy_n(job.vectors(job.dk2, head, i), job.d, dk);
                turn.add_inverse(job.vectors(job.dk1, head, i), dk);
            }
    });
}

}  // namespace sawtooth::attention
