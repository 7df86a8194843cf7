// Chains in tiles on a GPU: chunkwise_gd, atlas_parallel and exact_chunk. A range of tiles takes three
// launches: prepare or solve (parallel over sequences and tiles), walk (over sequences and strips of rows)
// and read (over sequences and tiles). If updates do not depend on the memory, sum_tiles and scan_tiles
// replace walk, both parallel over the sequence. Ranges are as long as their memory allows.

#include <algorithm>

#include "kernels/cuda/occupancy.h"
#include "kernels/cuda/struct_bytes.h"
#include "kernels/memory/cuda/strategies.h"

namespace sawtooth::memory {
namespace {

using cuda::Defines;
using cuda::KernelSource;
using cuda::PlanBuilder;
using cuda::StructBytes;

constexpr int64_t float_bytes = 4;
constexpr int64_t copy_warps = 3;  // of chain_walk.cu
constexpr int64_t walk_sides = 3;

// Input rows of a kernel: [batch, length, width].
struct Rows {
    const void* at = nullptr;
    Storage storage = Storage::f32;
    int64_t width = 0;
    bool normalises = false;
    bool is_input = true;  // otherwise written by an earlier launch
};

// A chain of a job and its inputs.
struct TiledChain {
    Chain chain;
    Rows keys, values;
    bool solves = false;

    int64_t halo() const { return chain.window - 1; }
};

// How its memory is read.
struct Reader {
    describe::Reading in_words;
    Rows queries;
    Storage y_storage = Storage::f32;
    bool bends = false;  // nsilu of y
    void* y = nullptr;
    int64_t y_stride = 0;
};

// The element type of product factors for a precision, and the padding of their rows (products.cuh).
struct Elements {
    const char* precision;
    int64_t bytes, padding;
};
Elements elements_of(const std::string& precision) {
    constexpr Elements all[] = {{"f32", 4, 4}, {"tf32", 4, 8}, {"bf16", 2, 8}};
    return *std::find_if(std::begin(all), std::end(all),
                         [&](const Elements& elements) { return elements.precision == precision; });
}

// How a chain is cut. Rows, columns and tiles are padded to multiples of 16.
struct Cut {
    int64_t tile, padded_tile, tiles_a_chunk;
    int64_t sources, source_block;  // per tile; processed together
    int64_t rows, columns;
    Elements element;  // of factors of products
    int64_t warps;     // of the walk, or of the sums
    bool keeps_boundary;

    int64_t strip() const { return 16 * warps; }
};

// `Shared` of chain_walk.cu.
int64_t walk_shared_bytes(const TiledChain& tiled, const Cut& cut) {
    const int64_t element = cut.element.bytes, padding = cut.element.padding;
    const int64_t key_stride = cut.columns + padding;
    const int64_t side = StructBytes()
                             .array(cut.source_block * key_stride, element, 16)                       // k
                             .array((tiled.solves ? cut.source_block : 1) * key_stride, element, 16)  // x
                             .array(cut.source_block * (cut.strip() + padding), element, 16)          // v
                             .array(2 * cut.source_block, float_bytes, 16)                            // w, h
                             .array(4, float_bytes, 16)  // scalars
                             .total();
    return StructBytes()
        .array(walk_sides, side, 16)
        .array((cut.keeps_boundary ? cut.strip() : 1) * (cut.columns + 4), float_bytes, 16)
        .total();
}

// `Shared` of chain_read.cu.
int64_t read_shared_bytes(const Cut& cut, bool at_boundary, int64_t sides) {
    const int64_t block = cut.source_block, padding = cut.element.padding, stride = cut.columns + padding;
    const int64_t state = cut.rows * stride;
    const int64_t sources = at_boundary ? 0 : block * stride + cut.rows * (block + padding);
    const int64_t side = StructBytes().array(std::max(state, sources), cut.element.bytes, 16).total();
    return StructBytes()
        .array(sides, side, 16)
        .array((at_boundary ? 1 : cut.padded_tile) * (block + 4), float_bytes, 16)  // weights
        .array(cut.padded_tile, 12, float_bytes)                                    // gates
        .total();
}

// `Shared` of chain_solve.cu: f32 for any storage.
int64_t solve_shared_bytes(const Cut& cut) {
    const int64_t tile = cut.padded_tile, padding = cut.element.padding;
    return StructBytes()
        .array(tile * (cut.columns + padding), float_bytes, 16)      // k
        .array(tile * (2 * cut.columns + padding), float_bytes, 16)  // x
        .array(tile * (tile + padding), float_bytes, 16)             // t
        .array(tile * (16 + 4), float_bytes, 16)                     // inverse
        .array(tile, 12, float_bytes)                                // gates
        .array(tile, float_bytes)                                    // decays
        .total();
}

// Two if an SM still holds two thread blocks: overlapped copies gain more than a third block.
int64_t read_sides(const Cut& cut, bool at_boundary, const Chip& chip) {
    const int64_t bytes = read_shared_bytes(cut, at_boundary, 2);
    const bool fits = bytes <= chip.shared_bytes_per_block &&
                      2 * (bytes + cuda::reserved_shared_bytes) <= chip.shared_bytes_per_multiprocessor;
    return !at_boundary && fits ? 2 : 1;
}

// Warps of a walk: the largest divisor of the strips up to four, or one if there are so few strips that each
// gets an SM of its own.
Cut cut_with(const TiledChain& tiled, const Job& job, int64_t most, const Chip& chip) {
    const Chain& chain = tiled.chain;
    Cut cut{};
    cut.element = elements_of(job.precision);
    cut.rows = round_up(chain.rows, 16);
    cut.columns = round_up(chain.columns, 16);
    cut.tile = std::min(job.chunk, most);
    cut.tiles_a_chunk = ceil_divide(job.chunk, cut.tile);
    cut.padded_tile = round_up(cut.tile, 16);
    cut.sources = round_up(cut.tile + tiled.halo(), 16);
    cut.source_block =
        cut.sources <= std::max<int64_t>(cut.padded_tile, 32) + 16 ? cut.sources : cut.padded_tile;
    cut.sources = round_up(cut.sources, cut.source_block);
    const int64_t strips = cut.rows / 16;
    const bool walks_alone = chain.reads_memory && strips * job.batch <= 2 * chip.multiprocessors;
    cut.warps = walks_alone ? 1 : strips % 4 == 0 ? 4 : strips % 2 == 0 ? 2 : 1;
    cut.keeps_boundary =
        !tiled.solves && chain.reads_memory && (cut.tiles_a_chunk > 1 || cut.sources > cut.source_block);
    return cut;
}

// The longest tile, up to 64 tokens, that fits in shared memory.
Cut cut_of(const TiledChain& tiled, const Job& job, const Chip& chip) {
    for (int64_t most = 64;; most /= 2) {
        Cut cut = cut_with(tiled, job, most, chip);
        const auto fits = [&] { return walk_shared_bytes(tiled, cut) <= chip.shared_bytes_per_block; };
        while (!fits() && cut.warps > 1) cut.warps /= 2;
        const bool rest_fits = read_shared_bytes(cut, false, 1) <= chip.shared_bytes_per_block &&
                               (!tiled.solves || solve_shared_bytes(cut) <= chip.shared_bytes_per_block);
        if ((fits() && rest_fits) || most == 16) return cut;
    }
}

// Scratch bytes per tile of one sequence.
int64_t tile_bytes(const TiledChain& tiled, const Cut& cut) {
    const int64_t states = (tiled.chain.has_momentum ? 2 : 1) * cut.rows * cut.columns;
    const int64_t rows =
        cut.tile * (cut.columns * (tiled.solves ? 2 : 1) + cut.rows) + cut.rows * cut.sources;
    return (rows + states) * cut.element.bytes + (tiled.chain.reads_memory ? 0 : float_bytes * states) +
           float_bytes * (2 * cut.sources + 4);
}

// Tokens of a range: whole chunks.
int64_t tokens_a_range(const TiledChain& tiled, const Job& job, const Chip& chip, int64_t room) {
    const Cut cut = cut_of(tiled, job, chip);
    const int64_t tiles = room / (tile_bytes(tiled, cut) * job.batch);
    const int64_t chunks = std::max<int64_t>(tiles / cut.tiles_a_chunk, 1);
    return std::min(chunks * job.chunk, job.length);
}

// One chain with its scratch; ranges are added one by one.
class Tiles {
  public:
    // For ranges of at most `tokens` tokens.
    Tiles(PlanBuilder& builder, const Job& job, TiledChain tiled, int64_t tokens)
        : builder_(builder), job_(job), tiled_(std::move(tiled)), cut_(cut_of(tiled_, job, builder.chip())) {
        static_cast<States&>(given_) = chain();
        given_.length = chain().length;
        given_.gates = chain().gates;
        given_.given_keys = tiled_.keys.at;
        given_.given_values = tiled_.values.at;
        given_.w_omega = job.w_omega;
        take_scratch(tokens);
    }

    void add_prepare(Range range);
    void add_walk(Range range);
    void add_read(Range range, const Reader& reader);

  private:
    void take_scratch(int64_t tokens);
    KernelSource chain_kernel(const char* name, int64_t threads, int64_t shared_bytes, Defines more) const;

    const Chain& chain() const { return tiled_.chain; }
    Tiling tiling_of(Range range) const { return {range, job_.chunk, cut_.tile}; }
    Grid grid_of(Range range) const { return tile_grid(tiling_of(range), chain().batch); }
    describe::TiledRange described(Range range) const {
        return {job_, chain(), tiling_of(range), cut_.element.bytes};
    }
    ChainArguments given(Range range) const {
        ChainArguments given = given_;
        given.tiling = arguments_of(tiling_of(range), tiled_.halo());
        return given;
    }

    PlanBuilder& builder_;
    const Job& job_;
    const TiledChain tiled_;
    const Cut cut_;
    ChainArguments given_ = {};  // without the tiling
};

void Tiles::take_scratch(int64_t of_range) {
    const int64_t tiles = tiling_of({0, of_range}).count();
    const int64_t tokens = of_range + tiled_.halo(), state = cut_.rows * cut_.columns;
    const auto take = [&](int64_t numbers) { return builder_.take<float>(chain().batch * numbers); };
    const auto take_elements = [&](int64_t count) -> void* {
        return builder_.take<std::byte>(chain().batch * count * cut_.element.bytes);
    };
    given_.keys = take_elements(tokens * cut_.columns);
    if (tiled_.solves) given_.solved = take_elements(tokens * cut_.columns);
    given_.values = take_elements(tokens * cut_.rows);
    given_.ends = take(tiles * (2 * cut_.sources + 4));
    given_.errors = take_elements(tiles * cut_.rows * cut_.sources);
    const bool sums = !chain().reads_memory, passes_on = of_range < chain().length;
    given_.states_m = take_elements(tiles * state);
    if (sums) given_.sums_m = take(tiles * state);
    if (passes_on) given_.m.live = take(state);
    if (!chain().has_momentum) return;
    given_.states_s = take_elements(tiles * state);
    if (sums) given_.sums_s = take(tiles * state);
    if (passes_on) given_.s.live = take(state);
}

KernelSource Tiles::chain_kernel(const char* name, int64_t threads, int64_t shared_bytes,
                                 Defines more) const {
    more.insert(more.begin(), {{"COLUMNS", chain().columns},
                               {"ROWS", chain().rows},
                               {"SOURCES", cut_.sources},
                               {"HAS_MOMENTUM", chain().has_momentum},
                               {"PRECISION", cut_.element.precision}});
    return kernel(name, threads, shared_bytes, std::move(more));
}

void Tiles::add_prepare(Range range) {
    const Defines rows = {{"KEYS", name_of(tiled_.keys.storage)},
                          {"VALUES", name_of(tiled_.values.storage)},
                          {"VALUE_WIDTH", tiled_.values.width},
                          {"NORMALISE_KEYS", tiled_.keys.normalises},
                          {"NORMALISE_VALUES", tiled_.values.normalises},
                          {"READS_W_OMEGA", job_.rule->reads_w_omega},
                          {"TILE", cut_.padded_tile}};
    const KernelSource source = tiled_.solves
                                    ? chain_kernel("chain_solve", 128, solve_shared_bytes(cut_), rows)
                                    : chain_kernel("chain_prepare", 128, 0, rows);
    const auto words = tiled_.solves ? describe::solve : describe::prepare;
    builder_.launch(words(described(range)), grid_of(range), source, given(range));
}

void Tiles::add_walk(Range range) {
    const Side strips = pieces(chain().rows_word, cut_.rows, cut_.strip()), batch = side("B", chain().batch);
    const KernelSource walk =
        chain_kernel("chain_walk", 32 * (cut_.warps + copy_warps), walk_shared_bytes(tiled_, cut_),
                     {{"WARPS", cut_.warps},
                      {"SOURCE_BLOCK", cut_.source_block},
                      {"SOLVES", tiled_.solves},
                      {"READS_MEMORY", chain().reads_memory},
                      {"KEEPS_BOUNDARY", cut_.keeps_boundary}});
    if (chain().reads_memory)
        return builder_.launch(describe::walk(described(range)), {.y = strips, .z = batch}, walk,
                               given(range));
    builder_.launch(describe::sum_tiles(described(range)), {grid_of(range).x, strips, batch}, walk,
                    given(range));
    const KernelSource scan = chain_kernel("chain_scan", 64, 0, {});
    builder_.launch(describe::scan_tiles(described(range)),
                    {pieces("rows * columns", cut_.rows * cut_.columns, scan.threads), batch}, scan,
                    given(range));
}

void Tiles::add_read(Range range, const Reader& reader) {
    const bool at_boundary = reader.in_words.at_boundary;
    const int64_t sides = read_sides(cut_, at_boundary, builder_.chip());
    const KernelSource read =
        chain_kernel("chain_read", 2 * cut_.padded_tile, read_shared_bytes(cut_, at_boundary, sides),
                     {{"QUERIES", name_of(reader.queries.storage)},
                      {"QUERIES_ARE_INPUT", reader.queries.is_input},
                      {"Y", name_of(reader.y_storage)},
                      {"NORMALISE_QUERIES", reader.queries.normalises},
                      {"SIDES", sides},
                      {"SOURCE_BLOCK", cut_.source_block},
                      {"AT_BOUNDARY", at_boundary},
                      {"NORM_SILU", reader.bends}});
    builder_.launch(describe::read(described(range), reader.in_words), grid_of(range), read,
                    ChainReadArguments{given(range), reader.queries.at, reader.y, reader.y_stride});
}

}  // namespace

void add_matrix_tiles(PlanBuilder& builder, const Job& job, bool solves, int64_t room) {
    const TiledChain tiled = {
        matrix_chain(job), {job.k, job.storage, job.d, job.normalises}, {job.v, job.storage, job.d}, solves};
    const Reader reader = {{"", "q", job.y_name, job.reads_boundary},
                           {job.q, job.storage, job.d, job.normalises},
                           job.storage,
                           false,
                           job.y,
                           job.y_stride};
    const int64_t step = tokens_a_range(tiled, job, builder.chip(), room);
    Tiles tiles(builder, job, tiled, step);
    each_range(builder, {0, job.length}, step, [&](Range range) {
        tiles.add_prepare(range);
        tiles.add_walk(range);
        tiles.add_read(range, reader);
    });
}

// The key slots feed the value slots: z = nsilu(S_K x), r = nsilu(S_K q), [batch, length, c] in f32.
void add_trellis_tiles(PlanBuilder& builder, const Job& job, int64_t room) {
    const int64_t c = job.compress, stride = job.length * c;
    float* const z = builder.take<float>(job.batch * stride);
    float* const r = builder.take<float>(job.batch * stride);
    const Rows x = {job.x, job.storage, job.d}, q = {job.q, job.storage, job.d, job.normalises};
    const Rows of_z = {z, Storage::f32, c, false, false}, of_r = {r, Storage::f32, c, false, false};
    const TiledChain keys = {key_chain(job), x, {job.k, job.storage, job.d, job.normalises}};
    const TiledChain values = {value_chain(job), of_z, {job.v, job.storage, job.d}};
    // z always reads the evolving memory: with a chunk of one token the step must be exact.
    const Reader compress = {{"_keys", "x", "z"}, x, Storage::f32, true, z, stride};
    const Reader ask = {{"_queries", "q", "r", job.reads_boundary}, q, Storage::f32, true, r, stride};
    const Reader answer = {
        {"_values", "r", job.y_name, job.reads_boundary}, of_r, job.storage, false, job.y, job.y_stride};
    const int64_t step = std::min(tokens_a_range(keys, job, builder.chip(), room),
                                  tokens_a_range(values, job, builder.chip(), room));
    Tiles of_keys(builder, job, keys, step), of_values(builder, job, values, step);
    each_range(builder, {0, job.length}, step, [&](Range range) {
        of_keys.add_prepare(range);
        of_keys.add_walk(range);
        of_keys.add_read(range, compress);
        of_keys.add_read(range, ask);
        of_values.add_prepare(range);
        of_values.add_walk(range);
        of_values.add_read(range, answer);
    });
}

}  // namespace sawtooth::memory
