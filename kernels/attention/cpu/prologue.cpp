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

// R(p): turns each pair (x_m, x_(m + D/2)) by p base^(-2 m / D).
class Rotation {
  public:
    Rotation(int64_t position, int64_t d, double base)
        : cosines_(static_cast<size_t>(d / 2)), sines_(static_cast<size_t>(d / 2)) {
        for (size_t m = 0; m < cosines_.size(); ++m) {
            const double turn = static_cast<double>(position) *
                                std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(d));
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

// R(i) of consecutive positions, which all heads share, and R(window).
struct Rotations {
    Range positions;
    std::vector<Rotation> of_positions;
    Rotation far;

    Rotations(const CpuJob& job, Range at) : positions(at), far(job.mask.window, job.d, job.base) {
        for (int64_t i = at.first; i < at.last; ++i) of_positions.emplace_back(i, job.d, job.base);
    }
    const Rotation& near(int64_t position) const {
        return of_positions[static_cast<size_t>(position - positions.first)];
    }
};

// Calls act(head, position) for the queries at these positions, or for the keys of every head of keys, which
// is named by the first head of queries that shares it.
template <class Act>
void for_each_query(const CpuJob& job, Range positions, Act act) {
    for (int64_t head = 0; head < job.heads; ++head)
        for (int64_t i = std::max(positions.first, job.first_query()); i < positions.last; ++i) act(head, i);
}
template <class Act>
void for_each_key(const CpuJob& job, Range positions, Act act) {
    for (int64_t head = 0; head < job.heads; head += job.sharing())
        for (int64_t i = positions.first; i < positions.last; ++i) act(head, i);
}

// Calls act(row, rows) for the rows of an array of queries or of keys at these positions: for all of a head
// at once, or one by one where their copies are padded.
template <class Act>
void for_each_row(const CpuJob& job, const Buffer& array, Range positions, Act act) {
    const int64_t of_head = array.shape[2], first = job.length - of_head;
    const int64_t begin = std::max(positions.first, first), count = positions.last - begin;
    const int64_t step = job.width == job.d ? count : 1;
    if (count <= 0) return;
    for (int64_t head = 0; head < array.shape[0] * array.shape[1]; ++head)
        for (int64_t i = 0; i < count; i += step) act(head * of_head + begin - first + i, step);
}

void clear_padding(const CpuJob& job, float* row) { std::fill(row + job.d, row + job.width, 0.0f); }

void widen(const CpuJob& job, const Buffer& given, const Buffer& wide, Range positions) {
    for_each_row(job, given, positions, [&](int64_t row, int64_t rows) {
        float* const to = wide.as<float>() + row * job.width;
        cpu::read(given, row * job.d, rows * job.d, to);
        clear_padding(job, to);
    });
}

void rotate(const CpuJob& job, Range positions) {
    const Rotations rotations(job, positions);
    std::vector<float> row(static_cast<size_t>(job.d));
    const auto apply = [&](const Rotation& rotation, float* to) {
        rotation.apply(row.data(), to);
        clear_padding(job, to);
    };
    for_each_query(job, positions, [&](int64_t head, int64_t i) {
        cpu::read(job.q, job.query_row(head, i) * job.d, job.d, row.data());
        apply(rotations.near(i), job.query_vectors(job.q1, head, i));
        apply(rotations.far, job.query_vectors(job.q2, head, i));
    });
    for_each_key(job, positions, [&](int64_t head, int64_t i) {
        cpu::read(job.k, job.key_row(head, i) * job.d, job.d, row.data());
        apply(rotations.near(i), job.key_vectors(job.k1, head, i));
    });
}

void prepare(const CpuJob& job, const cpu::Item& item) {
    const Range positions = tile_at(item.index, block, job.length);
    for (const auto& [given, wide] : job.widened) widen(job, given, wide, positions);
    if (job.q) rotate(job, positions);
    for (int64_t head = 0; head < job.heads; head += job.sharing())
        for (const auto& [rows, strips] : job.transposed)
            for (int64_t i = positions.first; i < positions.last; i += lanes)
                cpu::transpose(job.key_vectors(rows, head, i), job.width, std::min(lanes, job.length - i),
                               job.width, job.strip(strips, head, i), lanes);
}

// dq = R(i)^-1 dq1 + R(window)^-1 dq2, dk = R(i)^-1 dk1 + dk2
void rotate_gradients_back(const CpuJob& job, Range positions) {
    const Rotations rotations(job, positions);
    for_each_query(job, positions, [&](int64_t head, int64_t i) {
        float* const dq = job.dq.as<float>() + job.query_row(head, i) * job.d;
        std::fill_n(dq, job.d, 0.0f);
        rotations.near(i).add_inverse(job.query_vectors(job.dq1, head, i), dq);
        rotations.far.add_inverse(job.query_vectors(job.dq2, head, i), dq);
    });
    for_each_key(job, positions, [&](int64_t head, int64_t i) {
        float* const dk = job.dk.as<float>() + job.key_row(head, i) * job.d;
        std::copy_n(job.key_vectors(job.dk2, head, i), job.d, dk);
        rotations.near(i).add_inverse(job.key_vectors(job.dk1, head, i), dk);
    });
}

}  // namespace

CpuJob::CpuJob(PlanBuilder& builder) : Tensors(builder, Storage::f32, lanes) {
    const auto in_strips = [&](const Buffer& rows) {
        transposed.emplace_back(rows, builder.take(rows.name + ", transposed",
                                                   {key_heads, cpu::strips_of(length), width, lanes}));
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
    if (!job.stored.empty())
        builder.launch(store(job), items, [&job](const cpu::Item& item) {
            for (const auto& [kept, output] : job.stored)
                for_each_row(
                    job, output, tile_at(item.index, block, job.length), [&](int64_t row, int64_t rows) {
                        cpu::write(kept.as<float>() + row * job.width, rows * job.d, output, row * job.d);
                    });
        });
    if (job.dq)
        builder.launch(rotate_back(job), items, [&job](const cpu::Item& item) {
            rotate_gradients_back(job, tile_at(item.index, block, job.length));
        });
}

}  // namespace sawtooth::attention
