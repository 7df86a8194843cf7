// associative_scan: (S, M) by a tree scan over matrices (Blelloch). An element is what tokens do to a state,
//   M' = a M + b S + X,  S' = h S + Z, X and Z matrices: first (1) then (2) is
//   a = a2 a1, b = a2 b1 + b2 h1, h = h2 h1, X = a2 X1 + b2 Z1 + X2, Z = h2 Z1 + Z2.
// Totals go up a binary tree, states come down it. A tree stands over a tile's tokens for one strip of 16
// rows: its matrices, one or two of [columns, 16] a token, are all the memory that a worker takes, at most
// 256 KiB of them and 64 tokens. Tiles follow each other; errors are frozen at the boundary of the chunk.

#include "kernels/memory/launches.h"
#include "kernels/memory/matrix_chain.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

int64_t tree_tokens(const Job& job) {
    const int64_t matrices = job.memory.has_momentum ? 2 : 1;
    int64_t tokens = usual_tile;
    while (tokens > 2 && tokens * matrices * job.memory.strip_size() > (64 << 10)) tokens /= 2;
    return tokens;
}

// The matrices of one tile's tokens for one strip. Leaves are elements; after the sweep down slot t holds the
// state before token t.
class Tree {
  public:
    Tree(int64_t size, bool has_momentum, int64_t tokens)
        : size_(size), has_momentum_(has_momentum), scalars_(static_cast<size_t>(tokens)) {
        thread_local std::vector<float> room;
        room.resize(static_cast<size_t>((has_momentum ? 2 : 1) * tokens * size));
        m_ = room.data();
        s_ = has_momentum ? m_ + tokens * size : nullptr;
    }

    float* m(int64_t slot) { return m_ + slot * size_; }
    float* s(int64_t slot) { return s_ ? s_ + slot * size_ : nullptr; }
    void set_scalars(int64_t slot, Gate gate) { at(slot) = {gate.decay, gate.keep, gate.keep}; }
    int64_t combines() const { return combines_; }

    // The total of [first, first + count) comes to lie in its last slot; those of left halves stay.
    void sweep_up(int64_t first, int64_t count) {
        if (count == 1) return;
        const int64_t left = left_of(count);
        sweep_up(first, left);
        sweep_up(first + left, count - left);
        join(first + left - 1, first + count - 1);
    }

    // The last slot of [first, first + count) holds the state before it; every slot gets its own.
    void sweep_down(int64_t first, int64_t count) {
        if (count == 1) return;
        const int64_t left = left_of(count);
        pass(first + left - 1, first + count - 1);
        sweep_down(first, left);
        sweep_down(first + left, count - left);
    }

  private:
    struct Scalars {
        float a = 1, b = 0, h = 0;
    };
    Scalars& at(int64_t slot) { return scalars_[static_cast<size_t>(slot)]; }

    static int64_t left_of(int64_t count) {
        int64_t left = 1;
        while (2 * left < count) left *= 2;
        return left;
    }

    void join(int64_t left, int64_t right) {
        const Scalars first = at(left), second = at(right);
        combine(m(right), 1, m(right), second.a, m(left), size_);
        if (has_momentum_) {
            combine(m(right), 1, m(right), second.b, s(left), size_);
            combine(s(right), 1, s(right), second.h, s(left), size_);
        }
        at(right) = {second.a * first.a, second.a * first.b + second.b * first.h, second.h * first.h};
        ++combines_;
    }

    // left: an element's total, right: the state before it -> left: that state, right: the state after it.
    void pass(int64_t left, int64_t right) {
        const Scalars element = at(left);
        combine(m(left), 1, m(left), element.a, m(right), size_);
        if (has_momentum_) {
            combine(m(left), 1, m(left), element.b, s(right), size_);
            combine(s(left), 1, s(left), element.h, s(right), size_);
            std::swap_ranges(s(left), s(left) + size_, s(right));
        }
        std::swap_ranges(m(left), m(left) + size_, m(right));
        ++combines_;
    }

    int64_t size_;
    bool has_momentum_;
    float *m_ = nullptr, *s_ = nullptr;
    std::vector<Scalars> scalars_;
    int64_t combines_ = 0;
};

// What one token adds to S, negated: step times the sum of e_i k_i^T over its window, of one strip.
void outer_products(const TiledChain& tiled, int64_t item, int64_t tile, int64_t token, float step, float* to,
                    Into into) {
    thread_local std::vector<float> weighted;
    const Chain& chain = tiled.chain;
    const int64_t first = tiled.sources_of(tiled.tiling.at(tile)).first;
    const int64_t from = chain.first_source(token) - first, count = token + 1 - first - from;
    weighted.resize(static_cast<size_t>(count * lanes));
    std::copy_n(tiled.errors_of(tiled.strip_slot(item, tile)) + from * lanes, count * lanes, weighted.data());
    scale(weighted.data(), step, count * lanes);
    multiply({.left = {tiled.keys_of(tiled.slot(item / chain.strips(), tile)) + from, tiled.sources, 1},
              .right = {weighted.data()},
              .target = {to},
              .rows = chain.columns,
              .inner = count,
              .into = into});
}

void fill_leaf(const TiledChain& tiled, int64_t item, int64_t tile, int64_t leaf, Tree& tree) {
    const Chain& chain = tiled.chain;
    const int64_t token = tiled.tiling.at(tile).first + leaf;
    const Gate gate = chain.gates.at(item / chain.strips(), token);
    outer_products(tiled, item, tile, token, -gate.step, tree.m(leaf), Into::set);
    if (chain.has_momentum) std::copy_n(tree.m(leaf), chain.strip_size(), tree.s(leaf));
    tree.set_scalars(leaf, gate);
}

// The state before a token becomes that after it, and is read.
void finish_leaf(const TiledChain& tiled, int64_t item, int64_t tile, int64_t leaf, Tree& tree,
                 const float* boundary, const Job& job) {
    static constexpr float zeros[lanes] = {};
    const Chain& chain = tiled.chain;
    const int64_t batch = item / chain.strips(), token = tiled.tiling.at(tile).first + leaf;
    const Gate gate = chain.gates.at(batch, token);
    float *const m = tree.m(leaf), *const s = tree.s(leaf);
    if (chain.has_momentum) {
        scale(s, gate.keep, chain.strip_size());
        outer_products(tiled, item, tile, token, gate.step, s, Into::subtract);
        combine(m, gate.decay, m, 1, s, chain.strip_size());
    } else {
        scale(m, gate.decay, chain.strip_size());
        outer_products(tiled, item, tile, token, gate.step, m, Into::subtract);
    }
    const float* const query = tiled.queries_of(0, tiled.slot(batch, tile)) + leaf * padded(chain.columns);
    float y[lanes];
    error_of(job.reads_boundary ? boundary : m, query, chain.columns, zeros, y);
    job.y.put(batch, token, item % chain.strips() * lanes, y, lanes);
}

void scan_tile(const TiledChain& tiled, const cpu::Item& item, int64_t tile, const float* boundary,
               const Job& job) {
    const Chain& chain = tiled.chain;
    const int64_t at = item.index, size = chain.strip_size();
    const int64_t count = tiled.tiling.at(tile).count(), last = count - 1;
    float* const m = chain.strip_of(chain.m, at);
    float* const s = chain.s ? chain.strip_of(chain.s, at) : nullptr;
    Tree tree(size, chain.has_momentum, count);
    make_errors(tiled, at, tile, boundary);
    for (int64_t leaf = 0; leaf < count; ++leaf) fill_leaf(tiled, at, tile, leaf, tree);
    tree.sweep_up(0, count);
    std::copy_n(m, size, tree.m(last));
    if (s) std::copy_n(s, size, tree.s(last));
    tree.sweep_down(0, count);
    for (int64_t leaf = 0; leaf < count; ++leaf) finish_leaf(tiled, at, tile, leaf, tree, boundary, job);
    std::copy_n(tree.m(last), size, m);
    if (s) std::copy_n(tree.s(last), size, s);
    item.tally.combines += tree.combines() + count;
}

void scan_item(const TiledChain& tiled, const Job& job, const cpu::Item& item) {
    thread_local std::vector<float> boundary;
    const Chain& chain = tiled.chain;
    const Tiling& tiling = tiled.tiling;
    if (tiling.tokens().first == 0) chain.load_initial(item.index);
    const float* const m = chain.strip_of(chain.m, item.index);
    for (int64_t tile = 0; tile < tiled.tiles() && !item.stop.stop_requested(); ++tile) {
        if (tiling.opening(tile) == tile) {
            chain.put_boundary(item.index, tiling.at(tile).first, m);
            boundary.assign(m, m + chain.strip_size());
        }
        scan_tile(tiled, item, tile, boundary.data(), job);
    }
    if (tiling.tokens().last == chain.length) chain.put_final(item.index);
}

}  // namespace

void forward::associative_scan(Plan& plan, const Job& state, Range tokens, Pulse pulse, float* room) {
    Pieces pieces(room);
    const SharedChain tiled = std::make_shared<const TiledChain>(
        tile_matrix(state, tokens, pulse, tree_tokens(state), false, pieces));
    const Chain& chain = state.memory;
    add_prepare(plan, tiled, "prepare", "Keys and queries are normalised, keys transposed, tile by tile.");
    const double count = static_cast<double>(state.batch * tokens.count()),
                 size = static_cast<double>(chain.rows * chain.columns);
    // Two elements made a token, joined once up and once down: each reads two matrices and writes one.
    const double matrices = chain.has_momentum ? 2 : 1;
    add_launch(plan,
               describe("tree", "In every tile totals go up a tree and states come down; then tokens read.",
                        chain.items(), "B * ceil(d / 16)", tokens_read(state, tokens.count()),
                        tokens_written(state, tokens.count()),
                        {32 * matrices * count * size, (8 * matrices + 6) * count * size}),
               [tiled, job = &state](const cpu::Item& item) { scan_item(*tiled, *job, item); });
}

int64_t room::associative_scan(const Job& job, Range tokens, Pulse pulse) {
    return job.is_matrix() ? matrix_room(job, tokens, pulse, tree_tokens(job), false) : 0;
}

}  // namespace sawtooth::memory
