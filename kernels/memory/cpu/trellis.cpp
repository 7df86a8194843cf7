// Trellis: two chains. The output of the key slots, z = nsilu(S_K x), is the key of the value slots, and
// r = nsilu(S_K q) is their query. It runs token by token, or in chunks with both errors frozen at the
// chunk's boundary.

#include <algorithm>
#include <cmath>

#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/chain.h"

namespace sawtooth::memory {
namespace {

// The scratch to walk token by token over blocks of at most `tokens` tokens.
struct TrellisRooms {
    float *k, *v, *q, *x;
    float *z, *r, *y;  // rows of one token

    TrellisRooms(cpu::Scratch& scratch, const CpuJob& job, int64_t tokens)
        : k(scratch.take<float>(tokens * padded(job.d))),
          v(scratch.take<float>(tokens * padded(job.d))),
          q(scratch.take<float>(tokens * padded(job.d))),
          x(scratch.take<float>(tokens * padded(job.d))),
          z(scratch.take<float>(padded(job.compress))),
          r(scratch.take<float>(padded(job.compress))),
          y(scratch.take<float>(padded(job.d))) {}
};

// row = sqrt(count) silu(row) / norm(silu(row)) for `count` numbers, padded with zeros to padded(count).
void norm_silu(float* row, int64_t count) {
    cpu::silu(row, padded(count));
    cpu::normalise(row, padded(count));
    cpu::scale(row, std::sqrt(static_cast<float>(count)), padded(count));
}

// Steps M of one sequence strip by strip: e = M k - v, M = decay M - step e k^T, y = M q.
void step_matrix(const StripChain& chain, float* matrix, const TokenGate& gate, const float* k,
                 const float* v, const float* q, float* y) {
    for (int64_t strip = 0; strip < chain.strips(); ++strip) {
        float* const m = matrix + strip * chain.strip_size();
        float e[lanes];
        error_of(m, k, chain.columns, v + strip * lanes, e);
        cpu::scale(e, -gate.step, lanes);
        take_step({m, nullptr, chain.columns, gate.decay, 0, e, k, q, y + strip * lanes});
    }
}

void apply_matrix(const StripChain& chain, const float* matrix, const float* q, float* y) {
    cpu::multiply({.left = {q, 0, 1},
                   .right = {matrix, lanes, chain.strip_size()},
                   .target = {y},
                   .rows = 1,
                   .inner = chain.columns,
                   .blocks = chain.strips()});
}

int64_t size_of(const StripChain& chain) { return chain.strips() * chain.strip_size(); }

// S_K and S_V of one sequence, in strips.
struct Matrices {
    float *keys, *values;
};

// Calls act(chain, item, strip) for all strips of both.
template <class Act>
void each_strip(const CpuJob& job, int64_t sequence, const Matrices& matrices, Act&& act) {
    for (const auto& [chain, matrix] :
         {std::pair(&job.memory, matrices.keys), std::pair(&job.values, matrices.values)})
        for (int64_t strip = 0; strip < chain->strips(); ++strip)
            act(*chain, sequence * chain->strips() + strip, matrix + strip * chain->strip_size());
}

void load_initial(const StripChain& chain, int64_t item, float* strip) {
    chain.load_initial(item, strip, nullptr);
}
void put_final(const StripChain& chain, int64_t item, const float* strip) {
    chain.put_final(item, strip, nullptr);
}

void walk_tokens(const CpuJob& job, int64_t sequence, Range tokens, const TrellisRooms& rooms,
                 const std::stop_token& stop, const Matrices& matrices) {
    const StripChain &keys = job.memory, &values = job.values;
    const int64_t stride = padded(job.d);
    in_blocks(tokens, stop, [&](Range block) {
        job.load_keys(job.k, sequence, block, rooms.k);
        job.load(job.v, sequence, block, rooms.v);
        job.load_keys(job.q, sequence, block, rooms.q);
        job.load(job.x, sequence, block, rooms.x);
        for (int64_t row = 0; row < block.count(); ++row) {
            const int64_t at = row * stride, token = block.first + row;
            std::fill(rooms.k + at + job.compress, rooms.k + at + stride, 0.0f);
            step_matrix(keys, matrices.keys, keys.gate(sequence, token), rooms.x + at, rooms.k + at,
                        rooms.x + at, rooms.z);
            norm_silu(rooms.z, job.compress);
            apply_matrix(keys, matrices.keys, rooms.q + at, rooms.r);
            norm_silu(rooms.r, job.compress);
            step_matrix(values, matrices.values, values.gate(sequence, token), rooms.z, rooms.v + at, rooms.r,
                        rooms.y);
            job.put(sequence, token, 0, rooms.y, stride);
        }
    });
}

struct LocalTrellisRooms {
    TrellisRooms walk;
    Matrices matrices;

    LocalTrellisRooms(cpu::Scratch& scratch, const CpuJob& job)
        : walk(scratch, job, tokens_together(job.local_tokens)),
          matrices{scratch.take<float>(size_of(job.memory)), scratch.take<float>(size_of(job.values))} {}
};

}  // namespace

int64_t scratch_of_trellis(const CpuJob& job, int64_t tokens) {
    return cpu::scratch_bytes<TrellisRooms>(job, tokens_together(tokens));
}

void walk_trellis(const CpuJob& job, Range tokens, const cpu::Item& item) {
    const int64_t sequence = item.index;
    const auto rooms = cpu::take_rooms<TrellisRooms>(item.scratch, job, tokens_together(tokens.count()));
    const Matrices matrices{job.memory.m_of(sequence * job.memory.strips()),
                            job.values.m_of(sequence * job.values.strips())};
    if (tokens.first == 0) each_strip(job, sequence, matrices, load_initial);
    walk_tokens(job, sequence, tokens, rooms, item.stop, matrices);
    if (tokens.last == job.length) each_strip(job, sequence, matrices, put_final);
}

int64_t scratch_of_local_trellis(const CpuJob& job) { return cpu::scratch_bytes<LocalTrellisRooms>(job); }

void run_local_trellis(const CpuJob& job, const LocalSlots& local, const cpu::Item& item) {
    const auto [rooms, matrices] = cpu::take_rooms<LocalTrellisRooms>(item.scratch, job);
    const int64_t keys = size_of(job.memory), values = size_of(job.values);
    if (local.shard.first == 0) {
        each_strip(job, local.sequence, matrices, load_initial);
    } else {
        std::copy_n(local.before.m + local.sequence * keys, keys, matrices.keys);
        std::copy_n(local.before.s + local.sequence * values, values, matrices.values);
    }
    walk_tokens(job, local.sequence, local.tokens, rooms, item.stop, matrices);
    if (!local.is_last()) return;
    if (local.shard.last == job.length) {
        each_strip(job, local.sequence, matrices, put_final);
    } else {
        std::copy_n(matrices.keys, keys, local.after.m + local.sequence * keys);
        std::copy_n(matrices.values, values, local.after.s + local.sequence * values);
    }
}

namespace {

// Rows that the key slots pass to the value slots: z or r, [batch, tokens, padded(c)].
struct PassedRows {
    Buffer rows;
    Range tokens;
    int64_t width;

    PassedRows(const char* name, const CpuJob& job, Range range, Room& room)
        : rows(room.take(name, {job.batch, range.count(), padded(job.compress)})),
          tokens(range),
          width(job.compress) {}
    PassedRows in(Range range) const {
        PassedRows ranged = *this;
        ranged.rows = first_of(rows, range.count());
        ranged.tokens = range;
        return ranged;
    }
    float* row(int64_t sequence, int64_t token) const {
        return rows.as<float>() + (sequence * tokens.count() + token - tokens.first) * padded(width);
    }
    LoadRows loader() const {
        return [here = *this](int64_t sequence, Range range, float* to) {
            std::copy_n(here.row(sequence, range.first), range.count() * padded(here.width), to);
        };
    }
    PutRows putter() const {
        return [here = *this](int64_t sequence, Range range, const float* from) {
            const int64_t stride = padded(here.width);
            float* const to = here.row(sequence, range.first);
            std::copy_n(from, range.count() * stride, to);
            for (int64_t row = 0; row < range.count(); ++row) norm_silu(to + row * stride, here.width);
        };
    }
};

// Loads the targets of the key slots, the first c numbers of the normalised keys. The whole keys go to
// `keys`.
void load_compressed(const CpuJob& job, int64_t sequence, Range tokens, float* keys, float* to) {
    const int64_t from = padded(job.d), stride = padded(job.compress);
    job.load_keys(job.k, sequence, tokens, keys);
    for (int64_t row = 0; row < tokens.count(); ++row, to += stride) {
        std::copy_n(keys + row * from, job.compress, to);
        std::fill(to + job.compress, to + stride, 0.0f);
    }
}

struct TiledTrellis {
    PassedRows z, r;
    TiledChain keys, values;

    TiledTrellis(const CpuJob& job, Range longest, bool rescales, Room& room)
        : z("z", job, longest, room),
          r("r", job, longest, room),
          keys(job, job.memory, longest, usual_tile, room),
          values(job, job.values, longest, usual_tile, room) {
        keys.rescales = values.rescales = rescales;
        keys.given_keys = job.x;
        keys.given_values = job.k;
        keys.load_keys = [&job](int64_t sequence, Range tokens, float* to) {
            job.load(job.x, sequence, tokens, to);
        };
        keys.load_values = [&job](int64_t sequence, Range tokens, float* space, float* to) {
            load_compressed(job, sequence, tokens, space, to);
        };
        keys.room_of_values = padded(job.d);
        values.given_values = job.v;
        values.load_values = [&job](int64_t sequence, Range tokens, float*, float* to) {
            job.load(job.v, sequence, tokens, to);
        };
    }
    // These chains for another range, in the same arrays.
    TiledTrellis(const TiledTrellis& all, Range tokens)
        : z(all.z.in(tokens)), r(all.r.in(tokens)), keys(all.keys.in(tokens)), values(all.values.in(tokens)) {
        values.given_keys = z.rows;
        values.load_keys = z.loader();
    }
};

}  // namespace

AddRange trellis_chunks(const CpuJob& job, Range longest, bool rescales, Room& room) {
    return [all = TiledTrellis(job, longest, rescales, room)](cpu::PlanBuilder& builder, Range range) {
        const auto& [z, r, keys, values] = builder.keep(TiledTrellis(all, range));
        const CpuJob& job = keys.job;
        Reader asks = reader_of_y(job), answers = asks;
        asks.words.result = r.rows;
        asks.words.suffix = "_queries";
        asks.put = r.putter();
        answers.words.queries = r.rows;
        answers.words.suffix = "_values";
        answers.load = r.loader();
        add_prepare(builder, keys);
        add_walk(builder, keys);
        // z always reads the evolving memory: with a chunk of one token the step must be exact.
        add_read(builder, keys, {{job.x, z.rows, false, "_keys"}, keys.load_keys, z.putter()});
        add_read(builder, keys, asks);
        add_prepare(builder, values);
        add_walk(builder, values);
        add_read(builder, values, answers);
    };
}

}  // namespace sawtooth::memory
