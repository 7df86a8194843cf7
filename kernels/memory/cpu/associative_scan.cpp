// associative_scan: (S, M) by a tree scan over matrices (Blelloch). An element maps one state to a later one,
//   M' = a M + b S + X,  S' = h S + Z,
// where X and Z are matrices. Element 1 followed by element 2 is
//   a = a2 a1, b = a2 b1 + b2 h1, h = h2 h1, X = a2 X1 + b2 Z1 + X2, Z = h2 Z1 + Z2.
// Totals go up a binary tree, states come down. One tree covers the tokens of a tile for one strip of 16
// rows. Its matrices, one or two of [columns, 16] per token, are all the memory of a worker: at most 256 KiB
// and 64 tokens. Tiles follow each other; errors are frozen at the boundary of the chunk.

#include <algorithm>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/chain.h"

namespace sawtooth::memory {
namespace {

int64_t tree_tokens(const CpuJob& job) {
    const int64_t matrices = job.rule->has_momentum ? 2 : 1;
    int64_t tokens = usual_tile;
    while (tokens > 2 && tokens * matrices * job.memory.strip_size() > (64 << 10)) tokens /= 2;
    return tokens;
}

// The scalars a, b and h of an element.
struct Scalars {
    float a = 1, b = 0, h = 0;
};

struct TreeRooms {
    float *m, *s;  // one matrix per token of a tile each; s is null without momentum
    Scalars* scalars;

    TreeRooms(cpu::Scratch& scratch, const TiledChain& tiled)
        : m(scratch.take<float>(tiled.tiling.tile() * tiled.chain.strip_size())),
          s(tiled.chain.rule->has_momentum
                ? scratch.take<float>(tiled.tiling.tile() * tiled.chain.strip_size())
                : nullptr),
          scalars(scratch.take<Scalars>(tiled.tiling.tile())) {}
};

// The matrices of a tile's tokens for one strip. At first, slot t holds the element of token t, a leaf; after
// the down sweep, it holds the state before token t.
class Tree {
  public:
    Tree(int64_t size, const TreeRooms& rooms) : size_(size), rooms_(rooms) {}

    float* m(int64_t slot) { return rooms_.m + slot * size_; }
    float* s(int64_t slot) { return rooms_.s ? rooms_.s + slot * size_ : nullptr; }
    void set_scalars(int64_t slot, TokenGate gate) { at(slot) = {gate.decay, gate.keep, gate.keep}; }
    int64_t combines() const { return combines_; }

    // Puts the total of [first, first + count) into its last slot; totals of left halves stay.
    void sweep_up(int64_t first, int64_t count) {
        if (count == 1) return;
        const int64_t left = left_of(count);
        sweep_up(first, left);
        sweep_up(first + left, count - left);
        join(first + left - 1, first + count - 1);
    }

    // On entry, the last slot of [first, first + count) holds the state before this range; on return, every
    // slot holds the state before its token.
    void sweep_down(int64_t first, int64_t count) {
        if (count == 1) return;
        const int64_t left = left_of(count);
        pass(first + left - 1, first + count - 1);
        sweep_down(first, left);
        sweep_down(first + left, count - left);
    }

  private:
    Scalars& at(int64_t slot) { return rooms_.scalars[slot]; }

    static int64_t left_of(int64_t count) {
        int64_t left = 1;
        while (2 * left < count) left *= 2;
        return left;
    }

    void join(int64_t left, int64_t right) {
        const Scalars first = at(left), second = at(right);
        cpu::combine(m(right), 1, m(right), second.a, m(left), size_);
        if (rooms_.s) {
            cpu::combine(m(right), 1, m(right), second.b, s(left), size_);
            cpu::combine(s(right), 1, s(right), second.h, s(left), size_);
        }
        at(right) = {second.a * first.a, second.a * first.b + second.b * first.h, second.h * first.h};
        ++combines_;
    }

    // On entry, `left` holds the total of an element and `right` the state before it. On return, `left` holds
    // that state and `right` the state after the element.
    void pass(int64_t left, int64_t right) {
        const Scalars element = at(left);
        cpu::combine(m(left), 1, m(left), element.a, m(right), size_);
        if (rooms_.s) {
            cpu::combine(m(left), 1, m(left), element.b, s(right), size_);
            cpu::combine(s(left), 1, s(left), element.h, s(right), size_);
            std::swap_ranges(s(left), s(left) + size_, s(right));
        }
        std::swap_ranges(m(left), m(left) + size_, m(right));
        ++combines_;
    }

    int64_t size_;
    TreeRooms rooms_;
    int64_t combines_ = 0;
};

struct ScanRooms {
    TreeRooms tree;
    float* weighted;  // weighted errors of a window
    float* queries;   // [tile, padded(columns)]
    float* boundary;  // M at the boundary of the chunk

    ScanRooms(cpu::Scratch& scratch, const TiledChain& tiled)
        : tree(scratch, tiled),
          weighted(scratch.take<float>(tiled.chain.window * lanes)),
          queries(scratch.take<float>(tiled.tiling.tile() * padded(tiled.chain.columns))),
          boundary(scratch.take<float>(tiled.chain.strip_size())) {}
};

// One strip of one tile.
struct TileStrip {
    const TiledChain& tiled;
    int64_t item, tile;
    const ScanRooms& rooms;

    int64_t sequence() const { return item / tiled.chain.strips(); }
    int64_t strip() const { return item % tiled.chain.strips(); }
    Range tokens() const { return tiled.tiling.at(tile); }
};

// Computes what one token subtracts from S, step times the sum of e_i k_i^T over its window, and stores, adds
// or subtracts it as `into` says.
void outer_products(const TileStrip& at, int64_t token, float step, float* to, cpu::Into into) {
    const TiledChain& tiled = at.tiled;
    const int64_t first = tiled.sources_of(at.tokens()).first;
    const int64_t from = tiled.chain.first_of_window(at.sequence(), token) - first;
    const int64_t count = token + 1 - first - from;
    float* const weighted = at.rooms.weighted;
    std::copy_n(tiled.errors_of(tiled.strip_slot(at.item, at.tile)) + from * lanes, count * lanes, weighted);
    cpu::scale(weighted, step, count * lanes);
    cpu::multiply({.left = {tiled.keys_of(tiled.slot(at.sequence(), at.tile)) + from, tiled.sources, 1},
                   .right = {weighted},
                   .target = {to},
                   .rows = tiled.chain.columns,
                   .inner = count,
                   .into = into});
}

void fill_leaf(const TileStrip& at, int64_t leaf, Tree& tree) {
    const StripChain& chain = at.tiled.chain;
    const int64_t token = at.tokens().first + leaf;
    const TokenGate gate = chain.gate(at.sequence(), token);
    outer_products(at, token, -gate.step, tree.m(leaf), cpu::Into::set);
    if (chain.rule->has_momentum) std::copy_n(tree.m(leaf), chain.strip_size(), tree.s(leaf));
    tree.set_scalars(leaf, gate);
}

// Turns the state before a token into the state after it, and reads it.
void finish_leaf(const TileStrip& at, int64_t leaf, Tree& tree) {
    static constexpr float zeros[lanes] = {};
    const CpuJob& job = at.tiled.job;
    const StripChain& chain = at.tiled.chain;
    const int64_t token = at.tokens().first + leaf;
    const TokenGate gate = chain.gate(at.sequence(), token);
    float *const m = tree.m(leaf), *const s = tree.s(leaf);
    if (chain.rule->has_momentum) {
        cpu::scale(s, gate.keep, chain.strip_size());
        outer_products(at, token, gate.step, s, cpu::Into::subtract);
        cpu::combine(m, gate.decay, m, 1, s, chain.strip_size());
    } else {
        cpu::scale(m, gate.decay, chain.strip_size());
        outer_products(at, token, gate.step, m, cpu::Into::subtract);
    }
    float y[lanes];
    error_of(job.reads_boundary ? at.rooms.boundary : m, at.rooms.queries + leaf * padded(chain.columns),
             chain.columns, zeros, y);
    job.put(at.sequence(), token, at.strip() * lanes, y, lanes);
}

void scan_tile(const TiledChain& tiled, const cpu::Item& item, int64_t tile, const ScanRooms& rooms) {
    const CpuJob& job = tiled.job;
    const StripChain& chain = tiled.chain;
    const int64_t size = chain.strip_size();
    const Range tokens = tiled.tiling.at(tile);
    const int64_t count = tokens.count(), last = count - 1;
    const TileStrip at{tiled, item.index, tile, rooms};
    float *const m = chain.m_of(item.index), *const s = chain.s_of(item.index);
    job.load_keys(job.q, at.sequence(), tokens, rooms.queries);
    Tree tree(size, rooms.tree);
    make_errors(tiled, item.index, tile, rooms.boundary);
    for (int64_t leaf = 0; leaf < count; ++leaf) fill_leaf(at, leaf, tree);
    tree.sweep_up(0, count);
    std::copy_n(m, size, tree.m(last));
    if (s) std::copy_n(s, size, tree.s(last));
    tree.sweep_down(0, count);
    for (int64_t leaf = 0; leaf < count; ++leaf) finish_leaf(at, leaf, tree);
    std::copy_n(tree.m(last), size, m);
    if (s) std::copy_n(tree.s(last), size, s);
    item.tally.combines += tree.combines() + count;
}

void scan_tree(const TiledChain& tiled, const cpu::Item& item) {
    const int64_t size = tiled.chain.strip_size();
    const auto rooms = cpu::take_rooms<ScanRooms>(item.scratch, tiled);
    walk_tiles(tiled, item, [&](int64_t tile) {
        if (tiled.tiling.opening(tile) == tile)
            std::copy_n(tiled.chain.m_of(item.index), size, rooms.boundary);
        scan_tile(tiled, item, tile, rooms);
    });
}

}  // namespace

AddRange on_cpu::associative_scan(const CpuJob& job, Range longest, Room& room) {
    return [all = tile_matrix(job, longest, tree_tokens(job), room)](cpu::PlanBuilder& builder, Range range) {
        const TiledChain& tiled = builder.keep(all.in(range));
        const CpuJob& job = tiled.job;
        const int64_t tokens = range.count();
        add_prepare(builder, tiled);
        LaunchInfo info = launches::tree(
            job, range,
            launches::gates(job, tokens) + Buffers{tiled.keys, tiled.values, first_of(job.q, tokens)});
        info.writes.push_back(tiled.errors);
        builder.launch(with_scratch(std::move(info), cpu::scratch_bytes<ScanRooms>(tiled)),
                       tiled.chain.sides(), [&tiled](const cpu::Item& item) { scan_tree(tiled, item); });
    };
}

}  // namespace sawtooth::memory
