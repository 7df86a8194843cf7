#include "kernels/attention/cpu/job.h"

#include <cmath>
#include <optional>
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

// The queries at these positions.
Range queries_among(const CpuJob& job, Range positions) {
    return {std::max(positions.first, job.first_query()), positions.last};
}

// Calls act(row, rows) for the rows of head `head` of an array of queries or of keys at these positions: for
// all at once, or one by one where their copies are padded.
template <class Act>
void for_each_row(const CpuJob& job, const Buffer& array, int64_t head, Range positions, Act act) {
    const int64_t of_head = array.shape[2], first = job.length - of_head;
    const int64_t begin = std::max(positions.first, first), count = positions.last - begin;
    if (head >= array.shape[0] * array.shape[1] || count <= 0) return;
    const int64_t step = job.width == job.d ? count : 1;
    for (int64_t i = 0; i < count; i += step) act(head * of_head + begin - first + i, step);
}

void clear_padding(const CpuJob& job, float* row) { std::fill(row + job.d, row + job.width, 0.0f); }

void widen(const CpuJob& job, int64_t head, Range positions) {
    for (const auto& [given, wide] : job.widened)
        for_each_row(job, given, head, positions,
                     [&, &given = given, &wide = wide](int64_t row, int64_t rows) {
                         float* const to = wide.as<float>() + row * job.width;
                         cpu::read(given, row * job.d, rows * job.d, to);
                         clear_padding(job, to);
                     });
}

// Rotates a vector of `from`, whose number is `row`.
void rotate(const CpuJob& job, const Buffer& from, int64_t row, float* room, const Rotation& rotation,
            const Buffer& to) {
    float* const rotated = to.as<float>() + row * job.width;
    cpu::read(from, row * job.d, job.d, room);
    rotation.apply(room, rotated);
    clear_padding(job, rotated);
}

void rotate_queries(const CpuJob& job, const Rotations& rotations, int64_t head) {
    std::vector<float> room(static_cast<size_t>(job.d));
    const Range queries = queries_among(job, rotations.positions);
    for (int64_t i = queries.first; i < queries.last; ++i) {
        rotate(job, job.q, job.query_row(head, i), room.data(), rotations.near(i), job.q1);
        rotate(job, job.q, job.query_row(head, i), room.data(), rotations.far, job.q2);
    }
}

// `head` is the first head of queries that has these keys, here and below.
void rotate_keys(const CpuJob& job, const Rotations& rotations, int64_t head) {
    std::vector<float> room(static_cast<size_t>(job.d));
    for (int64_t i = rotations.positions.first; i < rotations.positions.last; ++i)
        rotate(job, job.k, job.key_row(head, i), room.data(), rotations.near(i), job.k1);
}

void transpose_keys(const CpuJob& job, Range positions, int64_t head) {
    for (const auto& [rows, strips] : job.transposed)
        for (int64_t i = positions.first; i < positions.last; i += lanes)
            cpu::transpose(job.key_vectors(rows, head, i), job.width, std::min(lanes, job.length - i),
                           job.width, job.strip(strips, head, i), lanes);
}

void prepare(const CpuJob& job, const cpu::Item& item) {
    const Range positions = tile_at(item.index, block, job.length);
    const auto rotations = job.q ? std::optional(Rotations(job, positions)) : std::nullopt;
    for (int64_t head = 0; head < job.heads; ++head) {
        widen(job, head, positions);
        if (rotations) rotate_queries(job, *rotations, head);
        if (head >= job.key_heads) continue;
        if (rotations) rotate_keys(job, *rotations, head * job.sharing());
        transpose_keys(job, positions, head * job.sharing());
    }
}

// dq = R(i)^-1 dq1 + R(window)^-1 dq2
void rotate_back_queries(const CpuJob& job, const Rotations& rotations, int64_t head) {
    const Range queries = queries_among(job, rotations.positions);
    for (int64_t i = queries.first; i < queries.last; ++i) {
        float* const dq = job.dq.as<float>() + job.query_row(head, i) * job.d;
        std::fill_n(dq, job.d, 0.0f);
        rotations.near(i).add_inverse(job.query_vectors(job.dq1, head, i), dq);
        rotations.far.add_inverse(job.query_vectors(job.dq2, head, i), dq);
    }
}

// dk = R(i)^-1 dk1 + dk2
void rotate_back_keys(const CpuJob& job, const Rotations& rotations, int64_t head) {
    for (int64_t i = rotations.positions.first; i < rotations.positions.last; ++i) {
        float* const dk = job.dk.as<float>() + job.key_row(head, i) * job.d;
        std::copy_n(job.key_vectors(job.dk2, head, i), job.d, dk);
        rotations.near(i).add_inverse(job.key_vectors(job.dk1, head, i), dk);
    }
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
            const Range positions = tile_at(item.index, block, job.length);
            for (int64_t head = 0; head < job.heads; ++head)
                for (const auto& [kept, output] : job.stored)
                    for_each_row(job, output, head, positions,
                                 [&, &kept = kept, &output = output](int64_t row, int64_t rows) {
                                     cpu::write(kept.as<float>() + row * job.width, rows * job.d, output,
                                                row * job.d);
                                 });
        });
    if (!job.dq) return;
    builder.launch(rotate_back(job), items, [&job](const cpu::Item& item) {
        const Rotations rotations(job, tile_at(item.index, block, job.length));
        for (int64_t head = 0; head < job.heads; ++head) rotate_back_queries(job, rotations, head);
        for (int64_t head = 0; head < job.heads; head += job.sharing())
            rotate_back_keys(job, rotations, head);
    });
}

}  // namespace sawtooth::attention
