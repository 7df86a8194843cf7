// Chains in tiles on a GPU: chunkwise_gd, atlas_parallel and exact_chunk. A range of tiles takes three
// launches: prepare or solve (parallel over sequences and tiles), walk (over sequences and strips of rows)
// and read (over sequences and tiles). If updates do not depend on the memory, sum_tiles and scan_tiles
// replace walk, both parallel over the sequence. On Hopper walk and read may be one launch (chain_fused.cu).
// Ranges are as long as their memory allows.

#include <algorithm>

#include "kernels/cuda/occupancy.h"
#include "kernels/cuda/struct_bytes.h"
#include "kernels/memory/cuda/strategies.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

using cuda::Defines;
using cuda::KernelSource;
using cuda::PlanBuilder;
using cuda::StructBytes;

constexpr int64_t copy_warps = 4;   // warps of chain_walk.cu that copy
constexpr int64_t group_warps = 4;  // warps that walk 16 rows

// A chain, its inputs, and how they are prepared.
struct ChainJob {
    Chain chain;
    Buffer keys, values;
    bool normalises_keys = false, normalises_values = false;
    bool solves = false, rescales = false;
    bool is_fused = false;  // chain_fused.cu walks and reads

    int64_t halo() const { return chain.window - 1; }
    bool reads_memory() const { return chain.rule->reads_memory; }
    bool has_momentum() const { return chain.rule->has_momentum; }
};

// How the memory of a chain is read: the result is y, or z or r of trellis, which are nsilu of what is read
// and inputs of later launches.
struct Reader {
    launches::Reading words;
    bool normalises = false;  // the queries
    bool reads_input = true;  // otherwise the queries are r
    bool writes_y = true;     // otherwise the result is z or r
};

// The element type of product factors for a precision, and the padding of their rows (products.cuh).
struct ElementType {
    const char* precision;
    Storage storage;
    int64_t bytes, padding;
};
ElementType element_type(const std::string& precision) {
    constexpr ElementType all[] = {
        {"f32", Storage::f32, 4, 4}, {"tf32", Storage::f32, 4, 8}, {"bf16", Storage::bf16, 2, 8}};
    return *std::find_if(std::begin(all), std::end(all),
                         [&](const ElementType& type) { return type.precision == precision; });
}

// How a chain is cut into tiles. Rows, columns and tiles are padded to multiples of 16.
struct Cut {
    int64_t tile, padded_tile, tiles_a_chunk;
    int64_t sources, source_block;  // sources of a tile; sources processed together
    int64_t rows, columns;
    ElementType element;  // type of the factors of products
    int64_t groups;       // of 16 rows, which a thread block walks or sums

    int64_t strip() const { return 16 * groups; }
};

// The bytes of `Shared` in chain_walk.cu.
int64_t walk_shared_bytes(const ChainJob& job, const Cut& cut, int64_t sides) {
    const int64_t element = cut.element.bytes, padding = cut.element.padding;
    const int64_t key_stride = cut.columns + padding, error_stride = cut.source_block + padding;
    const int64_t side = StructBytes()
                             .array(cut.source_block * key_stride, element, 16)                     // k
                             .array((job.solves ? cut.source_block : 1) * key_stride, element, 16)  // x
                             .array(cut.source_block * (cut.strip() + padding), element, 16)        // v
                             .array(2 * cut.source_block, float_bytes, 16)                          // w, h
                             .array(4, float_bytes, 16)                                             // scalars
                             .total();
    return StructBytes()
        .array(sides, side, 16)
        .array((job.reads_memory() ? cut.strip() : 1) * key_stride, element, 16)    // m
        .array(cut.strip() * error_stride, element, 16)                             // added_m
        .array((job.has_momentum() ? cut.strip() : 1) * error_stride, element, 16)  // added_s
        .array((job.rescales ? group_warps : 1) * cut.strip(), 8)                   // squares
        .total();
}

// The bytes of `Shared` in chain_read.cu.
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

// The bytes of `Shared` in chain_solve.cu, whose products are tf32 if the precision is bf16.
int64_t solve_shared_bytes(const Cut& cut) {
    const int64_t tile = cut.padded_tile;
    const int64_t padding = element_type(cut.element.bytes == 2 ? "tf32" : cut.element.precision).padding;
    return StructBytes()
        .array(tile * (cut.columns + padding), float_bytes, 16)                  // k
        .array(tile * (tile + (tile < 48 ? 16 : 0) + padding), float_bytes, 16)  // t
        .array(3 * tile + tile / 16, float_bytes)                                // before, after, all, decays
        .total();
}

constexpr int64_t fused_tile = 64, fused_strip = 64;  // tokens and rows of chain_fused.cu

// The bytes of `Shared` in chain_fused.cu.
int64_t fused_shared_bytes(const Cut& cut, int64_t stages) {
    const int64_t matrix = fused_tile * cut.columns;
    return StructBytes()
        .array(stages * (3 * matrix + fused_tile * fused_strip), 2, 1024)                // stages
        .array(2 * fused_tile * fused_tile + 3 * fused_tile * fused_strip, 2)            // weights, y, errors
        .array(2, StructBytes().array(4 * fused_tile + 1, float_bytes, 16).total(), 16)  // coefficients
        .array(2 * (stages + 2), 8)                                                      // barriers
        .total();
}

// The sides of a walk: as many as the steps of a tile if a thread block takes one tile. If it takes all, four
// if an SM still holds the blocks that it gets, as a step may take less than half of the time of a copy.
int64_t walk_sides(const ChainJob& job, const Cut& cut, const Chip& chip) {
    if (!job.reads_memory()) return std::clamp<int64_t>(cut.sources / cut.source_block, 2, 3);
    const int64_t bytes = walk_shared_bytes(job, cut, 4);
    const int64_t blocks = ceil_divide(cut.rows / cut.strip() * job.chain.batch, chip.multiprocessors);
    const bool fits = bytes <= chip.shared_bytes_per_block &&
                      blocks * (bytes + cuda::reserved_shared_bytes) <= chip.shared_bytes_per_multiprocessor;
    return fits ? 4 : 3;
}

// Two sides if an SM still holds two thread blocks: overlapped copies gain more than a third block.
int64_t read_sides(const Cut& cut, bool at_boundary, const Chip& chip) {
    const int64_t bytes = read_shared_bytes(cut, at_boundary, 2);
    const bool fits = bytes <= chip.shared_bytes_per_block &&
                      2 * (bytes + cuda::reserved_shared_bytes) <= chip.shared_bytes_per_multiprocessor;
    return !at_boundary && fits ? 2 : 1;
}

// The cut into tiles of at most `most` tokens. A thread block walks as many groups of 16 rows as divide
// their number, up to four, or one if there are so few that each gets an SM of its own.
Cut cut_with(const ChainJob& job, int64_t most, const Chip& chip) {
    const Chain& chain = job.chain;
    Cut cut{};
    cut.element = element_type(chain.precision);
    cut.rows = round_up(chain.rows, 16);
    cut.columns = round_up(chain.columns, 16);
    cut.tile = std::min(chain.chunk, most);
    cut.tiles_a_chunk = ceil_divide(chain.chunk, cut.tile);
    cut.padded_tile = round_up(cut.tile, 16);
    cut.sources = round_up(cut.tile + job.halo(), 16);
    cut.source_block =
        cut.sources <= std::max<int64_t>(cut.padded_tile, 32) + 16 ? cut.sources : cut.padded_tile;
    cut.sources = round_up(cut.sources, cut.source_block);
    const int64_t groups = cut.rows / 16;
    const bool walks_alone = job.reads_memory() && groups * chain.batch <= 2 * chip.multiprocessors;
    cut.groups = walks_alone ? 1 : groups % 4 == 0 ? 4 : groups % 2 == 0 ? 2 : 1;
    return cut;
}

// The cut into the longest tiles, up to 64 tokens, that fit in shared memory.
Cut cut_of(const ChainJob& job, const Chip& chip) {
    for (int64_t most = 64;; most /= 2) {
        Cut cut = cut_with(job, most, chip);
        const auto fits = [&] { return walk_shared_bytes(job, cut, 3) <= chip.shared_bytes_per_block; };
        while (!fits() && cut.groups > 1) cut.groups /= 2;
        const bool rest_fits = read_shared_bytes(cut, false, 1) <= chip.shared_bytes_per_block &&
                               (!job.solves || solve_shared_bytes(cut) <= chip.shared_bytes_per_block);
        if ((fits() && rest_fits) || most == 16) return cut;
    }
}

// The scratch bytes of a tile of one sequence.
int64_t tile_bytes(const ChainJob& job, const Cut& cut) {
    if (job.is_fused) return cut.tile * (cut.columns + cut.rows) * cut.element.bytes;
    const int64_t states = (job.has_momentum() ? 2 : 1) * cut.rows * cut.columns;
    const int64_t rows = cut.tile * (cut.columns * (job.solves ? 2 : 1) + cut.rows) + cut.rows * cut.sources;
    return (rows + states) * cut.element.bytes + (job.reads_memory() ? 0 : float_bytes * states) +
           float_bytes * (2 * cut.sources + 4);
}

// The tokens of a range with `room` bytes of scratch: whole chunks, at least one.
int64_t tokens_a_range(const ChainJob& job, const Chip& chip, int64_t room) {
    const Chain& chain = job.chain;
    const Cut cut = cut_of(job, chip);
    const int64_t tiles = room / (tile_bytes(job, cut) * chain.batch);
    const int64_t chunks = std::max<int64_t>(tiles / cut.tiles_a_chunk, 1);
    return std::min(chunks * chain.chunk, chain.length);
}

// Adds the launches of one chain range by range, and takes its scratch.
class ChainLaunches {
  public:
    // Takes scratch for ranges of at most `tokens` tokens.
    ChainLaunches(PlanBuilder& builder, ChainJob job, int64_t tokens)
        : builder_(builder), job_(std::move(job)), cut_(cut_of(job_, builder.chip())) {
        take_arrays(tokens);
    }

    void add_prepare(Range range);
    void add_walk(Range range);
    void add_read(Range range, const Reader& reader);
    void add_fused(Range range, const Reader& reader);

  private:
    void take_arrays(int64_t tokens);
    KernelSource chain_kernel(const char* name, int64_t threads, int64_t shared_bytes, Defines more) const;

    const Chain& chain() const { return job_.chain; }
    TiledRange tiling_of(Range range) const { return {range, chain().chunk, cut_.tile}; }
    Grid grid_of(Range range) const { return tile_grid(tiling_of(range), chain().batch); }
    TileArrays arrays_of(Range range) const {
        const int64_t origin = std::max<int64_t>(range.first - job_.halo(), 0);
        return first_of(arrays_, range.last - origin, tiling_of(range).count());
    }
    ChainArguments given(Range range) const;

    PlanBuilder& builder_;
    ChainJob job_;
    const Cut cut_;
    TileArrays arrays_;
};

void ChainLaunches::take_arrays(int64_t most_tokens) {
    const int64_t tiles = tiling_of({0, most_tokens}).count(), tokens = most_tokens + job_.halo();
    const auto take = [&](const char* name, int64_t count, Shape each, Storage storage = Storage::f32) {
        each.insert(each.begin(), {chain().batch, count});
        return builder_.take(name, std::move(each), storage);
    };
    const Storage element = cut_.element.storage;
    const Shape state = {cut_.rows, cut_.columns}, passed = {chain().batch, cut_.rows, cut_.columns};
    const bool sums = !job_.reads_memory(), passes_on = most_tokens < chain().length;
    arrays_.given_keys = job_.keys;
    arrays_.given_values = job_.values;
    if (job_.solves) arrays_.solved = take("solved keys", tokens, {cut_.columns}, element);
    arrays_.values = take("values", tokens, {cut_.rows}, element);
    if (passes_on) job_.chain.m.live = builder_.take("m between launches", passed);
    if (job_.is_fused) return;
    arrays_.keys = take("keys", tokens, {cut_.columns}, element);
    arrays_.coefficients = take("coefficients", tiles, {2 * cut_.sources + 4});
    arrays_.errors = take("errors", tiles, {cut_.rows, cut_.sources}, element);
    arrays_.states_m = take("m of tiles", tiles, state, element);
    if (sums) arrays_.sums_m = take("m added by tiles", tiles, state);
    if (!job_.has_momentum()) return;
    arrays_.states_s = take("s of tiles", tiles, state, element);
    if (sums) arrays_.sums_s = take("s added by tiles", tiles, state);
    if (passes_on) job_.chain.s.live = builder_.take("s between launches", passed);
}

ChainArguments ChainLaunches::given(Range range) const {
    const Arguments all = arguments_of(chain());
    ChainArguments given = {.m = all.m,
                            .s = all.s,
                            .boundaries = all.boundaries,
                            .chunk = all.chunk,
                            .boundary_count = all.boundary_count,
                            .tiling = arguments_of(tiling_of(range), job_.halo()),
                            .length = all.length,
                            .gates = all.gates,
                            .given_keys = arrays_.given_keys.address,
                            .given_values = arrays_.given_values.address,
                            .w_omega = all.w_omega,
                            .keys = arrays_.keys.address,
                            .solved = arrays_.solved.address,
                            .values = arrays_.values.address,
                            .ends = arrays_.coefficients.as<float>(),
                            .errors = arrays_.errors.address,
                            .states_m = arrays_.states_m.address,
                            .states_s = arrays_.states_s.address,
                            .sums_m = arrays_.sums_m.as<float>(),
                            .sums_s = arrays_.sums_s.as<float>()};
    given.gates.lambda = chain().lambda;
    return given;
}

KernelSource ChainLaunches::chain_kernel(const char* name, int64_t threads, int64_t shared_bytes,
                                         Defines more) const {
    more.insert(more.begin(), {{"COLUMNS", chain().columns},
                               {"ROWS", chain().rows},
                               {"SOURCES", cut_.sources},
                               {"HAS_MOMENTUM", job_.has_momentum()},
                               {"WINDOWS_VARY", static_cast<bool>(chain().omega_windows)},
                               {"PRECISION", cut_.element.precision}});
    return kernel(name, threads, shared_bytes, std::move(more));
}

void ChainLaunches::add_prepare(Range range) {
    Defines rows = {{"KEYS", name_of(job_.keys.storage)},
                    {"VALUES", name_of(job_.values.storage)},
                    {"VALUE_WIDTH", chain().d},
                    {"NORMALISE_KEYS", job_.normalises_keys},
                    {"NORMALISE_VALUES", job_.normalises_values},
                    {"READS_W_OMEGA", chain().rule->reads_w_omega},
                    {"TILE", cut_.padded_tile}};
    if (job_.solves) {
        rows.emplace_back("STORED", name_of(cut_.element.storage));
        rows.emplace_back("FUSED", job_.is_fused);
    }
    const KernelSource source = job_.solves ? chain_kernel("chain_solve", 128, solve_shared_bytes(cut_), rows)
                                            : chain_kernel("chain_prepare", 128, 0, rows);
    const auto words = job_.solves ? launches::solve : launches::prepare;
    builder_.launch(words(chain(), tiling_of(range), arrays_of(range)), grid_of(range), source, given(range));
}

void ChainLaunches::add_walk(Range range) {
    const TiledRange tiling = tiling_of(range);
    const TileArrays arrays = arrays_of(range);
    const Side strips = pieces(chain().rows_word, cut_.rows, cut_.strip()), batch = side("B", chain().batch);
    const int64_t sides = walk_sides(job_, cut_, builder_.chip());
    const KernelSource walk = chain_kernel("chain_walk", 32 * (group_warps * cut_.groups + copy_warps),
                                           walk_shared_bytes(job_, cut_, sides),
                                           {{"GROUPS", cut_.groups},
                                            {"SIDES", sides},
                                            {"SOURCE_BLOCK", cut_.source_block},
                                            {"SOLVES", job_.solves},
                                            {"READS_MEMORY", job_.reads_memory()},
                                            {"RESCALES", job_.rescales}});
    if (job_.reads_memory())
        return builder_.launch(launches::walk(chain(), tiling, arrays), {.y = strips, .z = batch}, walk,
                               given(range));
    builder_.launch(launches::sum_tiles(chain(), tiling, arrays), {grid_of(range).x, strips, batch}, walk,
                    given(range));
    const KernelSource scan = chain_kernel("chain_scan", 64, 0, {});
    builder_.launch(launches::scan_tiles(chain(), tiling, arrays),
                    {pieces("rows * columns", cut_.rows * cut_.columns, scan.threads), batch}, scan,
                    given(range));
}

void ChainLaunches::add_read(Range range, const Reader& reader) {
    const auto& [queries, result, at_boundary, suffix] = reader.words;
    const int64_t sides = read_sides(cut_, at_boundary, builder_.chip());
    const KernelSource read =
        chain_kernel("chain_read", 2 * cut_.padded_tile, read_shared_bytes(cut_, at_boundary, sides),
                     {{"QUERIES", name_of(queries.storage)},
                      {"QUERIES_ARE_INPUT", reader.reads_input},
                      {"Y", name_of(result.storage)},
                      {"NORMALISE_QUERIES", reader.normalises},
                      {"SIDES", sides},
                      {"SOURCE_BLOCK", cut_.source_block},
                      {"AT_BOUNDARY", at_boundary},
                      {"NORM_SILU", !reader.writes_y}});
    const Arguments all = arguments_of(chain());
    builder_.launch(
        launches::read(chain(), tiling_of(range), arrays_of(range), reader.words), grid_of(range), read,
        ChainReadArguments{given(range), queries.address, reader.writes_y ? all.y : result.address,
                           reader.writes_y ? all.y_stride : chain().length * chain().rows});
}

void ChainLaunches::add_fused(Range range, const Reader& reader) {
    const TileArrays arrays = arrays_of(range);
    const auto map = [&](const Buffer& array, int64_t tokens) {
        return builder_.tensor_map(array.address, array.storage, {chain().batch, tokens, chain().columns},
                                   fused_tile);
    };
    const int64_t length = chain().length, tokens = range.count(), threads = 3 * 128, stages = 3;
    Buffer y = reader.words.result;
    y.address = arguments_of(chain()).y;  // of the level that is read
    builder_.launch(
        launches::walk_and_read(chain(), tiling_of(range), arrays, reader.words),
        {pieces(chain().rows_word, cut_.rows, fused_strip), side("B", chain().batch)},
        kernel("chain_fused", threads, fused_shared_bytes(cut_, stages),
               {{"COLUMNS", chain().columns}, {"NORMALISE", reader.normalises}, {"STAGES", stages}}),
        ChainFusedArguments{given(range), map(job_.keys, length), map(reader.words.queries, length),
                            map(arrays.solved, tokens), map(arrays.values, tokens), map(y, length)});
}

// Whether chain_fused.cu can walk and read the chain.
bool can_fuse(const ChainJob& job, const Tensors& t, const Chip& chip) {
    const Chain& chain = job.chain;
    const bool has_shape = (chain.columns == 64 || chain.columns == 128) && chain.rows == chain.columns &&
                           (chain.chunk % fused_tile == 0 || chain.chunk >= chain.length);
    const bool has_types = chain.precision == std::string_view("bf16") && t.storage == Storage::bf16;
    // A thread block with 64 rows takes longer for a tile than blocks with fewer rows do, so that this pays
    // where blocks use a good part of the chip.
    const int64_t blocks = chain.batch * ceil_divide(chain.rows, fused_strip);
    return chip.architecture == "sm_90a" && 3 * blocks >= chip.multiprocessors && job.solves && has_shape &&
           has_types && !t.reads_boundary && t.y_stride == t.length * t.d;
}

}  // namespace

void add_matrix_tiles(PlanBuilder& builder, const Tensors& t, bool solves, int64_t room) {
    ChainJob job = {matrix_chain(t), t.k, t.v, t.normalises, false, solves};
    job.is_fused = can_fuse(job, t, builder.chip());
    const int64_t step = tokens_a_range(job, builder.chip(), room);
    ChainLaunches chain_launches(builder, job, step);
    each_range(builder, {0, t.length}, step, [&](Range range) {
        const Reader reader = {{t.q, t.y, t.reads_boundary}, t.normalises};
        chain_launches.add_prepare(range);
        if (job.is_fused) return chain_launches.add_fused(range, reader);
        chain_launches.add_walk(range);
        chain_launches.add_read(range, reader);
    });
}

// The key slots feed the value slots: z = nsilu(S_K x), r = nsilu(S_K q), [batch, length, c] in f32.
void add_trellis_tiles(PlanBuilder& builder, const Tensors& t, bool rescales, int64_t room) {
    const Buffer z = builder.take("z", {t.batch, t.length, t.compress}), r = builder.take("r", z.shape);
    const ChainJob keys = {key_chain(t), t.x, t.k, false, t.normalises, false, rescales};
    const ChainJob values = {value_chain(t), z, t.v, false, false, false, rescales};
    const int64_t step =
        std::min(tokens_a_range(keys, builder.chip(), room), tokens_a_range(values, builder.chip(), room));
    ChainLaunches key_launches(builder, keys, step), value_launches(builder, values, step);
    each_range(builder, {0, t.length}, step, [&](Range range) {
        key_launches.add_prepare(range);
        key_launches.add_walk(range);
        // z always reads the evolving memory: with a chunk of one token the step must be exact.
        key_launches.add_read(range, {{t.x, z, false, "_keys"}, false, true, false});
        key_launches.add_read(range, {{t.q, r, t.reads_boundary, "_queries"}, t.normalises, true, false});
        value_launches.add_prepare(range);
        value_launches.add_walk(range);
        value_launches.add_read(range, {{r, t.y, t.reads_boundary, "_values"}, false, false});
    });
}

}  // namespace sawtooth::memory
