#include "kernels/attention/cpu/prologue.h"

#include "kernels/attention/describe.h"

#include <cmath>
#include <vector>

#include "kernels/core/common_parameters.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::attention {
namespace {

using cpu::lanes;
constexpr int64_t block = 64;  // positions of an item; whole strips

// R(p): cos and sin of p 10000^(-2 m / D) for m < D / 2.
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

// An input as it is stored, and its rows in f32.
struct Given {
    std::string name;
    Storage storage = Storage::f32;
    const void* from = nullptr;
    float* to = nullptr;

    void widen(int64_t at, float* rows, int64_t count) const {
        if (storage == Storage::f32)
            std::copy_n(static_cast<const float*>(from) + at, count, rows);
        else
            cpu::widen(storage, static_cast<const uint16_t*>(from) + at, rows, count);
    }
};

struct Packed {
    std::string name;
    const float* rows = nullptr;
    float* strips = nullptr;
};

// What the prologue does to the positions of an item.
struct Preparation {
    int64_t heads = 0, length = 0, d = 0, window = 0;
    std::vector<Given> widened = {};
    Given q = {}, k = {};  // rotated, if they are given
    float *q1 = nullptr, *q2 = nullptr, *k1 = nullptr;
    std::vector<Packed> packed = {};
};

// The rotations of consecutive positions, which all heads share.
std::vector<Rotation> rotations_of(Range positions, int64_t d) {
    std::vector<Rotation> all;
    for (int64_t i = positions.first; i < positions.last; ++i) all.emplace_back(i, d);
    return all;
}

void prepare(const Preparation& job, const cpu::Item& item) {
    const Range positions = tile_at(item.index, block, job.length);
    std::vector<Rotation> near;
    if (job.q.from) near = rotations_of(positions, job.d);
    const Rotation far(job.window, job.d);
    std::vector<float> row(static_cast<size_t>(job.d));
    for (int64_t head = 0; head < job.heads; ++head) {
        const int64_t begin = (head * job.length + positions.first) * job.d;
        for (const Given& given : job.widened)
            given.widen(begin, given.to + begin, positions.count() * job.d);
        for (size_t i = 0; i < near.size(); ++i) {
            const int64_t at = begin + static_cast<int64_t>(i) * job.d;
            job.q.widen(at, row.data(), job.d);
            near[i].apply(row.data(), job.q1 + at);
            far.apply(row.data(), job.q2 + at);
            job.k.widen(at, row.data(), job.d);
            near[i].apply(row.data(), job.k1 + at);
        }
        for (const Packed& packed : job.packed)
            for (int64_t i = positions.first; i < positions.last; i += lanes) {
                const int64_t strip = head * cpu::strips_of(job.length) + i / lanes;
                cpu::transpose(packed.rows + (head * job.length + i) * job.d, job.d,
                               std::min(lanes, job.length - i), job.d, packed.strips + strip * job.d * lanes,
                               lanes);
            }
    }
}

LaunchInfo described(const Preparation& job) {
    const Shape vectors = {job.heads, job.length, job.d};
    const Shape strips = {job.heads, cpu::strips_of(job.length), job.d, lanes};
    LaunchInfo info = {.name = "prologue",
                       .meaning = job.q.from ? "Rotates queries and keys, and transposes keys and values."
                                             : "Transposes keys and values."};
    for (const Given& given : job.widened) {
        info.reads.push_back({given.name, vectors, bytes_of(given.storage)});
        info.writes.push_back({given.name, vectors});
    }
    if (job.q.from) {
        for (const Given* given : {&job.q, &job.k})
            info.reads.push_back({given->name, vectors, bytes_of(given->storage)});
        for (const char* name : {"q1", "q2", "k1"}) info.writes.push_back({name, vectors});
        info.work.operations = 18 * static_cast<double>(count_of(vectors)) / 2;
    }
    for (const Packed& packed : job.packed) info.writes.push_back({packed.name + ", transposed", strips});
    return info;
}

// Chooses where the rows of every input in f32 are: in place, or in memory of the plan.
class Inputs {
  public:
    Inputs(cpu::PlanBuilder& builder, const CpuJob& job, Preparation& preparation)
        : builder_(builder), job_(job), preparation_(preparation) {}

    Given given(const char* name) {
        const Storage storage = storage_named(builder_.parameters().text("dtype"));
        return {name, storage, builder_.input(name, storage)};
    }
    const float* rows(const char* name) {
        Given one = given(name);
        if (one.storage == Storage::f32) return static_cast<const float*>(one.from);
        one.to = take();
        preparation_.widened.push_back(one);
        return one.to;
    }
    float* take() { return builder_.take<float>(job_.heads * job_.length * job_.d); }
    float* strips(const char* name, const float* rows) {
        float* const to = builder_.take<float>(job_.heads * cpu::strips_of(job_.length) * job_.d * lanes);
        preparation_.packed.push_back({name, rows, to});
        return to;
    }

  private:
    cpu::PlanBuilder& builder_;
    const CpuJob& job_;
    Preparation& preparation_;
};

void take_outputs(cpu::PlanBuilder& builder, CpuJob& job) {
    const Storage storage = storage_named(builder.parameters().text("dtype"));
    const int64_t rows = job.heads * job.length;
    job.stored_o = builder.output("o", storage);
    job.storage = storage;
    job.o = storage == Storage::f32 ? static_cast<float*>(job.stored_o) : builder.take<float>(rows * job.d);
    job.shift = builder.take<float>(rows);
    job.sum = builder.take<float>(rows);
    job.take(builder);
}

}  // namespace

CpuJob prepared_job(cpu::PlanBuilder& builder) {
    const Parameters& p = builder.parameters();
    CpuJob job;
    job.mask = mask_of(p);
    job.heads = p.integer("Z") * p.integer("H");
    job.length = p.integer("N");
    job.d = p.integer("D");
    job.block_m = p.integer("BLOCK_M");
    job.block_n = p.integer("BLOCK_N");
    job.scale = static_cast<float>(p.real("scale"));
    job.runs_backward = runs_backward(p);

    Preparation preparation{job.heads, job.length, job.d, job.mask.window};
    Inputs inputs(builder, job, preparation);
    if (p.is("form", "qkv")) {
        preparation.q = inputs.given("q");
        preparation.k = inputs.given("k");
        job.q1 = preparation.q1 = inputs.take();
        job.q2 = preparation.q2 = inputs.take();
        job.k1 = preparation.k1 = inputs.take();
        job.k2 = inputs.rows("k");
    } else {
        job.q1 = inputs.rows("q1");
        job.q2 = inputs.rows("q2");
        job.k1 = inputs.rows("k1");
        job.k2 = inputs.rows("k2");
    }
    job.v = inputs.rows("v");
    job.k1_strips = inputs.strips("k1", job.k1);
    job.k2_strips = inputs.strips("k2", job.k2);
    if (job.runs_backward) {
        job.dout = inputs.rows("do");
        job.v_strips = inputs.strips("v", job.v);
    }
    take_outputs(builder, job);
    builder.launch(described(preparation), pieces("N", job.length, block),
                   [preparation](const cpu::Item& item) { prepare(preparation, item); });
    return job;
}

void add_epilogue(cpu::PlanBuilder& builder, const CpuJob& job) {
    const Shape vectors = {job.heads, job.length, job.d};
    const Side items = pieces("N", job.length, block);
    if (job.storage != Storage::f32)
        builder.launch({.name = "store",
                        .meaning = "Rounds o to its dtype.",
                        .reads = {{"o", vectors}},
                        .writes = {{"o", vectors, bytes_of(job.storage)}}},
                       items, [job](const cpu::Item& item) {
                           const Range positions = tile_at(item.index, block, job.length);
                           for (int64_t head = 0; head < job.heads; ++head) {
                               const int64_t at = job.at(head, positions.first);
                               cpu::narrow(job.storage, job.o + at, static_cast<uint16_t*>(job.stored_o) + at,
                                           positions.count() * job.d);
                           }
                       });
    if (!job.dq) return;
    builder.launch(describe::rotate_back(builder.request()), items, [job](const cpu::Item& item) {
        const Range positions = tile_at(item.index, block, job.length);
        const std::vector<Rotation> near = rotations_of(positions, job.d);
        const Rotation far(job.mask.window, job.d);
        for (int64_t head = 0; head < job.heads; ++head)
            for (size_t i = 0; i < near.size(); ++i) {
                const int64_t at = job.at(head, positions.first + static_cast<int64_t>(i));
                std::fill_n(job.dq + at, job.d, 0.0f);
                near[i].add_inverse(job.dq1 + at, job.dq + at);
                far.add_inverse(job.dq2 + at, job.dq + at);
                std::copy_n(job.dk2 + at, job.d, job.dk + at);
                near[i].add_inverse(job.dk1 + at, job.dk + at);
            }
    });
}

}  // namespace sawtooth::attention
