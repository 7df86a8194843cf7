// Chains in tiles on a GPU: chunkwise_gd, atlas_parallel and exact_chunk. A range of tiles is three launches,
// prepare or solve (parallel over sequences and tiles), walk (over sequences and strips of rows), read (over
// sequences and tiles); where what tokens add does not depend on the memory, walk is sum_tiles and
// scan_tiles, both parallel over the sequence. Ranges are as long as their memory allows.

#include "kernels/memory/cuda.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

using cuda::PlanBuilder;

constexpr int64_t usual_room = int64_t{1}
                               << 29;  // bytes of a range's scratch; a chunk that wants more gets it
constexpr int64_t solve_warps = 4;
constexpr int64_t copy_warps = 3;  // of chain.cu
constexpr int64_t chain_sides = 3;

// One chain of a job: the memory of a matrix rule, S_K or S_V of trellis.
struct DeviceChain {
    std::string suffix;  // of the launches' names
    int64_t rows = 0, columns = 0, halo = 0;
    bool reads_memory = true, has_momentum = false, solves = false, is_atlas = false;
    cuda::Storage key_storage = cuda::Storage::as_is, value_storage = cuda::Storage::as_is;
    bool normalises_keys = false, normalises_values = false;
    int64_t value_width = 0;
    device_side::Chain given = {};  // inputs and outputs; the rest is filled in here
};

struct DeviceReader {
    std::string suffix;
    cuda::Storage query_storage = cuda::Storage::as_is, y_storage = cuda::Storage::as_is;
    bool normalises = false, at_boundary = false, bends = false;
    device_side::Reading given = {};
};

// How a chain is cut and what its scratch takes.
struct Cut {
    int64_t tile, tiles_a_chunk;
    int64_t padded_tile, sources, source_block;
    int64_t rows, columns;  // padded
    int64_t element_bytes, padding;
    int64_t warps;  // of the walk, or of the sums where nothing is read
    bool keeps_boundary;
};

int64_t shared_of_chain(const DeviceChain& chain, const Cut& cut) {
    const int64_t strip = 16 * cut.warps, block = cut.source_block, key_stride = cut.columns + cut.padding;
    const int64_t keys = block * key_stride * cut.element_bytes;
    const int64_t side = keys + (chain.solves ? keys : key_stride * cut.element_bytes) +
                         block * (strip + cut.padding) * cut.element_bytes + 8 * block + 64;
    return chain_sides * side + 4 * (cut.keeps_boundary ? strip : 1) * (cut.columns + 4) + 64;
}

int64_t shared_of_read(const Cut& cut) {
    const int64_t stride = cut.columns + cut.padding, block = cut.source_block;
    const int64_t elements = std::max(cut.rows * stride, block * stride + cut.rows * (block + cut.padding));
    return elements * cut.element_bytes + 4 * cut.padded_tile * (block + 4) + 12 * cut.padded_tile + 64;
}

// All of it f32, whatever is stored (solve.cu).
int64_t shared_of_solve(const Cut& cut) {
    const int64_t padding = cut.padding == 4 ? 4 : 8, t = cut.padded_tile;
    return 4 * t * (cut.columns + padding + 2 * cut.columns + padding + t + padding + 20 + 4) + 64;
}

// Warps of a block: the largest divisor of the strips, at most four, or one where strips that walk are few
// enough to have a multiprocessor each.
Cut cut_with(const DeviceChain& chain, const DeviceJob& job, int64_t most, const Chip& chip) {
    Cut cut{};
    cut.element_bytes = job.precision == "bf16" ? 2 : 4;
    cut.padding = job.precision == "f32" ? 4 : 8;
    cut.rows = padded_to(chain.rows, 16);
    cut.columns = padded_to(chain.columns, 16);
    cut.tile = std::min(job.chunk, most);
    cut.tiles_a_chunk = ceil_divide(job.chunk, cut.tile);
    cut.padded_tile = padded_to(cut.tile, 16);
    cut.sources = padded_to(cut.tile + chain.halo, 16);
    cut.source_block =
        cut.sources <= std::max<int64_t>(cut.padded_tile, 32) + 16 ? cut.sources : cut.padded_tile;
    cut.sources = padded_to(cut.sources, cut.source_block);
    const int64_t strips = cut.rows / 16;
    const bool walks_alone = chain.reads_memory && strips * job.sizes.batch <= 2 * chip.multiprocessors;
    cut.warps = walks_alone ? 1 : strips % 4 == 0 ? 4 : strips % 2 == 0 ? 2 : 1;
    cut.keeps_boundary =
        !chain.solves && chain.reads_memory && (cut.tiles_a_chunk > 1 || cut.sources > cut.source_block);
    return cut;
}

// The longest tile, up to 64 tokens, that shared memory holds.
Cut cut_of(const DeviceChain& chain, const DeviceJob& job, const Chip& chip) {
    for (int64_t most = 64;; most /= 2) {
        Cut cut = cut_with(chain, job, most, chip);
        const auto fits = [&] { return shared_of_chain(chain, cut) <= chip.shared_bytes_per_block; };
        while (!fits() && cut.warps > 1) cut.warps /= 2;
        const bool rest_fits = shared_of_read(cut) <= chip.shared_bytes_per_block &&
                               (!chain.solves || shared_of_solve(cut) <= chip.shared_bytes_per_block);
        if ((fits() && rest_fits) || most == 16) return cut;
    }
}

int64_t tiles_between(int64_t first, int64_t last, int64_t chunk, const Cut& cut) {
    const int64_t whole = (last - first) / chunk, rest = (last - first) % chunk;
    return whole * cut.tiles_a_chunk + ceil_divide(rest, cut.tile);
}

// Bytes of scratch that a tile of one sequence takes.
int64_t tile_bytes(const DeviceChain& chain, const Cut& cut) {
    const int64_t state = cut.rows * cut.columns, states = chain.has_momentum ? 2 : 1;
    const int64_t rows =
        cut.tile * (cut.columns * (chain.solves ? 2 : 1) + cut.rows) + cut.rows * cut.sources;
    return (rows + states * state) * cut.element_bytes + (chain.reads_memory ? 0 : 4 * states * state) +
           4 * (2 * cut.sources + 4);
}

// Tokens of a range of this chain: whole chunks.
int64_t tokens_a_range(const DeviceChain& chain, const DeviceJob& job, const Chip& chip) {
    const Cut cut = cut_of(chain, job, chip);
    const int64_t tiles = usual_room / (tile_bytes(chain, cut) * job.sizes.batch);
    const int64_t chunks = std::max<int64_t>(tiles / cut.tiles_a_chunk, 1);
    return std::min(chunks * job.chunk, job.sizes.length);
}

// One chain with its scratch, ready to be started range by range.
class Tiles {
  public:
    // For ranges of at most `tokens` tokens.
    Tiles(PlanBuilder& builder, const DeviceJob& job, DeviceChain chain, int64_t tokens)
        : builder_(builder),
          job_(job),
          chain_(std::move(chain)),
          cut_(cut_of(chain_, job, builder.chip())),
          tokens_(tokens) {
        take_scratch();
    }

    void add_prepare(Range range);
    void add_walk(Range range);
    void add_read(Range range, const DeviceReader& reader);

  private:
    void take_scratch();
    device_side::Chain given(Range range) const;
    Defines shape_defines() const;
    Defines chain_defines(bool parallel) const;
    void add_sums(Range range);
    int64_t tiles_of(Range range) const { return tiles_between(range.first, range.last, job_.chunk, cut_); }

    ArrayUse keys(Range range) const { return {"keys", {job_.sizes.batch, range.count(), chain_.columns}}; }
    ArrayUse values(Range range) const { return {"values", {job_.sizes.batch, range.count(), chain_.rows}}; }
    ArrayUse errors(Range range) const { return {"errors", {job_.sizes.batch, range.count(), chain_.rows}}; }
    ArrayUse states(Range range, const char* name) const {
        return {name, {job_.sizes.batch, tiles_of(range), chain_.rows, chain_.columns}};
    }
    double tokens(Range range) const { return static_cast<double>(job_.sizes.batch * range.count()); }
    double width() const { return static_cast<double>(chain_.rows + chain_.columns); }
    double size() const { return static_cast<double>(chain_.rows * chain_.columns); }
    double matrices() const { return chain_.has_momentum ? 2 : 1; }
    double element() const { return static_cast<double>(cut_.element_bytes); }
    double state_count(Range range) const {
        return matrices() * size() * static_cast<double>(job_.sizes.batch * tiles_of(range));
    }

    PlanBuilder& builder_;
    const DeviceJob& job_;
    DeviceChain chain_;
    Cut cut_;
    int64_t tokens_;
};

void Tiles::take_scratch() {
    const int64_t batch = job_.sizes.batch, bytes = cut_.element_bytes;
    const int64_t tiles = tiles_between(0, tokens_, job_.chunk, cut_);
    const int64_t tokens = tokens_ + chain_.halo, state = cut_.rows * cut_.columns;
    const auto take = [&](int64_t elements) -> void* {
        return builder_.take<std::byte>(batch * elements * bytes);
    };
    device_side::Chain& given = chain_.given;
    given.keys = take(tokens * cut_.columns);
    if (chain_.solves) given.solved = take(tokens * cut_.columns);
    given.values = take(tokens * cut_.rows);
    given.ends = builder_.take<float>(batch * tiles * (2 * cut_.sources + 4));
    given.errors = take(tiles * cut_.rows * cut_.sources);
    given.states_m = take(tiles * state);
    if (chain_.has_momentum) given.states_s = take(tiles * state);
    if (!chain_.reads_memory) {
        given.sums_m = builder_.take<float>(batch * tiles * state);
        if (chain_.has_momentum) given.sums_s = builder_.take<float>(batch * tiles * state);
    }
    if (tokens_ >= job_.sizes.length) return;
    given.live_m = builder_.take<float>(batch * state);
    if (chain_.has_momentum) given.live_s = builder_.take<float>(batch * state);
}

device_side::Chain Tiles::given(Range range) const {
    device_side::Chain given = chain_.given;
    given.length = job_.sizes.length;
    given.boundary_chunk = job_.chunk;
    given.boundary_count = job_.boundary_count;
    given.tiling = {range.first,
                    range.last,
                    job_.chunk,
                    std::max<int64_t>(range.first - chain_.halo, 0),
                    static_cast<int>(cut_.tile),
                    static_cast<int>(cut_.tiles_a_chunk),
                    static_cast<int>(tiles_of(range)),
                    static_cast<int>(chain_.halo)};
    return given;
}

Defines Tiles::shape_defines() const {
    return {{"COLUMNS", text_of(chain_.columns)}, {"PRECISION", job_.precision}};
}

void Tiles::add_prepare(Range range) {
    Defines defines = shape_defines();
    defines.insert(defines.end(), {{"KEYS", name_of(chain_.key_storage)},
                                   {"VALUES", name_of(chain_.value_storage)},
                                   {"NORMALISE_KEYS", text_of(chain_.normalises_keys)}});
    const double pairs = tokens(range) * static_cast<double>(cut_.tile) / 2;
    const Extent grid = {tiles_of(range), job_.sizes.batch, 1};
    const double bytes = tokens(range) * width() * (static_cast<double>(word_bytes(job_)) + element());
    if (chain_.solves) {
        defines.emplace_back("TILE", text_of(cut_.padded_tile));
        // k . k of every pair, then the solve for keys and values.
        const Work work = {bytes, pairs * 2 * (static_cast<double>(chain_.columns) + width())};
        builder_.launch(
            describe_launch("solve",
                            "The triangular system of every tile of up to " + std::to_string(cut_.tile) +
                                " tokens is solved for its keys and values (WY form).",
                            "ceil(L / tile), B", vectors_of(job_, range.count()),
                            {keys(range), values(range)}, work),
            builder_.kernel({"kernels/memory/solve.cu", std::move(defines)}, "solve"), grid,
            {32 * solve_warps, 1, 1}, shared_of_solve(cut_), given(range));
        return;
    }
    defines.insert(defines.end(), {{"ROWS", text_of(chain_.rows)},
                                   {"VALUE_WIDTH", text_of(chain_.value_width)},
                                   {"NORMALISE_VALUES", text_of(chain_.normalises_values)},
                                   {"ATLAS", text_of(chain_.is_atlas)},
                                   {"TILE", text_of(cut_.padded_tile)},
                                   {"SOURCES", text_of(cut_.sources)}});
    const double of_w = chain_.is_atlas ? 4 * size() * tokens(range) : 0;
    builder_.launch(
        describe_launch("prepare" + chain_.suffix,
                        "Keys are normalised and gates multiplied up, tile by tile.", "ceil(L / tile), B",
                        vectors_of(job_, range.count()), {keys(range), values(range)},
                        {bytes, 3 * width() * tokens(range) + of_w}),
        builder_.kernel({"kernels/memory/prepare.cu", std::move(defines)}, "prepare"), grid, {128, 1, 1}, 0,
        given(range));
}

Defines Tiles::chain_defines(bool parallel) const {
    Defines defines = shape_defines();
    defines.insert(defines.end(), {{"ROWS", text_of(chain_.rows)},
                                   {"WARPS", text_of(cut_.warps)},
                                   {"COPY_WARPS", text_of(copy_warps)},
                                   {"SOURCES", text_of(cut_.sources)},
                                   {"SOURCE_BLOCK", text_of(cut_.source_block)},
                                   {"SOLVES", text_of(chain_.solves)},
                                   {"READS_MEMORY", text_of(chain_.reads_memory)},
                                   {"HAS_MOMENTUM", text_of(chain_.has_momentum)},
                                   {"KEEPS_BOUNDARY", text_of(cut_.keeps_boundary)},
                                   {"PARALLEL", text_of(parallel)}});
    return defines;
}

void Tiles::add_walk(Range range) {
    if (!chain_.reads_memory) return add_sums(range);
    const int64_t strip = 16 * cut_.warps;
    const double products = 2 * (1 + matrices()) * size() * tokens(range);
    builder_.launch(
        describe_launch(
            "walk" + chain_.suffix,
            "From boundary to boundary: errors and states, strips of rows for themselves.",
            "1, ceil(rows / " + std::to_string(strip) + "), B", {keys(range), values(range)},
            {errors(range), states(range, "states of tiles")},
            {element() * (tokens(range) * (width() + static_cast<double>(chain_.rows)) + state_count(range)),
             products}),
        builder_.kernel({"kernels/memory/chain.cu", chain_defines(false)}, "chain"),
        {1, cut_.rows / strip, job_.sizes.batch}, {32 * (cut_.warps + copy_warps), 1, 1},
        shared_of_chain(chain_, cut_), given(range));
}

void Tiles::add_sums(Range range) {
    const int64_t strip = 16 * cut_.warps, padded = cut_.rows * cut_.columns;
    const double sums = 4 * state_count(range);
    builder_.launch(
        describe_launch("sum_tiles", "What every tile adds to memory and momentum, all at once.",
                        "ceil(L / tile), ceil(d / " + std::to_string(strip) + "), B",
                        {keys(range), values(range)}, {errors(range), states(range, "sums of tiles")},
                        {element() * tokens(range) * (width() + static_cast<double>(chain_.rows)) + sums,
                         2 * matrices() * size() * tokens(range)}),
        builder_.kernel({"kernels/memory/chain.cu", chain_defines(true)}, "chain"),
        {tiles_of(range), cut_.rows / strip, job_.sizes.batch}, {32 * (cut_.warps + copy_warps), 1, 1},
        shared_of_chain(chain_, cut_), given(range));
    Defines defines = shape_defines();
    defines.insert(defines.end(), {{"ROWS", text_of(chain_.rows)},
                                   {"SOURCES", text_of(cut_.sources)},
                                   {"HAS_MOMENTUM", text_of(chain_.has_momentum)}});
    builder_.launch(
        describe_launch("scan_tiles", "The sums of tiles are scanned, memory and momentum together.",
                        "ceil(d^2 / 64), B", {states(range, "sums of tiles")},
                        {states(range, "states of tiles")},
                        {sums + element() * state_count(range), 2 * state_count(range)}),
        builder_.kernel({"kernels/memory/scan_tiles.cu", std::move(defines)}, "scan_tiles"),
        {padded / 64, job_.sizes.batch, 1}, {64, 1, 1}, 0, given(range));
}

void Tiles::add_read(Range range, const DeviceReader& reader) {
    Defines defines = shape_defines();
    defines.insert(defines.end(), {{"QUERIES", name_of(reader.query_storage)},
                                   {"Y", name_of(reader.y_storage)},
                                   {"ROWS", text_of(chain_.rows)},
                                   {"NORMALISE_QUERIES", text_of(reader.normalises)},
                                   {"WARPS", text_of(cut_.padded_tile / 16)},
                                   {"SOURCES", text_of(cut_.sources)},
                                   {"SOURCE_BLOCK", text_of(cut_.source_block)},
                                   {"HAS_MOMENTUM", text_of(chain_.has_momentum)},
                                   {"AT_BOUNDARY", text_of(reader.at_boundary)},
                                   {"NORM_SILU", text_of(reader.bends)}});
    const double memories = reader.at_boundary ? 1 : matrices();
    const double pairs =
        reader.at_boundary ? 0 : tokens(range) * static_cast<double>(cut_.tile + 2 * chain_.halo) / 2;
    const ArrayUse queries = {"queries", keys(range).shape};
    builder_.launch(describe_launch("read" + reader.suffix, "All tokens of all tiles read their memory.",
                                    "ceil(L / tile), B",
                                    {queries, keys(range), errors(range), states(range, "states of tiles")},
                                    {{"y", values(range).shape}},
                                    {element() * (state_count(range) + tokens(range) * width()) +
                                         static_cast<double>(word_bytes(job_)) * tokens(range) * width(),
                                     2 * memories * size() * tokens(range) + 2 * pairs * width()}),
                    builder_.kernel({"kernels/memory/read.cu", std::move(defines)}, "read"),
                    {tiles_of(range), job_.sizes.batch, 1}, {2 * cut_.padded_tile, 1, 1},
                    shared_of_read(cut_), given(range), reader.given);
}

DeviceChain matrix_chain(const DeviceJob& job, bool solves) {
    const Job& sizes = job.sizes;
    DeviceChain chain;
    chain.rows = chain.columns = chain.value_width = sizes.width;
    chain.halo = sizes.memory.window - 1;
    chain.reads_memory = sizes.memory.reads_memory;
    chain.has_momentum = sizes.memory.has_momentum;
    chain.solves = solves;
    chain.is_atlas = sizes.rule == UpdateRule::atlas;
    chain.key_storage = chain.value_storage = job.storage;
    chain.normalises_keys = sizes.normalises;
    device_side::Chain& given = chain.given;
    given.gates = job.gates;
    given.given_keys = job.k;
    given.given_values = job.v;
    given.w_omega = job.w_omega;
    given.m0 = job.m0, given.s0 = job.s0;
    given.final_m = job.final_m, given.final_s = job.final_s;
    given.boundaries = job.boundaries;
    return chain;
}

void add_matrix(PlanBuilder& builder, const DeviceJob& job, bool solves) {
    const DeviceChain chain = matrix_chain(job, solves);
    const int64_t step = tokens_a_range(chain, job, builder.chip());
    Tiles tiles(builder, job, chain, step);
    const DeviceReader reader = {"",
                                 job.storage,
                                 job.storage,
                                 job.sizes.normalises,
                                 job.sizes.reads_boundary,
                                 false,
                                 {job.q, job.y, job.y_stride}};
    for (int64_t first = 0; first < job.sizes.length; first += step) {
        const Range range{first, std::min(first + step, job.sizes.length)};
        tiles.add_prepare(range);
        tiles.add_walk(range);
        tiles.add_read(range, reader);
    }
}

// What the keys' memory of trellis makes for the values': z = nsilu(S_K x), r = nsilu(S_K q), [batch, length,
// c].
void add_trellis(PlanBuilder& builder, const DeviceJob& job) {
    const Job& sizes = job.sizes;
    const int64_t between = sizes.batch * sizes.length * sizes.compress;
    float* const z = builder.take<float>(between);
    float* const r = builder.take<float>(between);
    DeviceChain keys = matrix_chain(job, false), values = keys;
    keys.suffix = "_keys";
    keys.rows = sizes.compress;
    keys.normalises_keys = false;
    keys.normalises_values = sizes.normalises;
    keys.given.given_keys = job.x;
    keys.given.given_values = job.k;
    keys.given.s0 = nullptr;
    keys.given.final_s = nullptr;
    values.suffix = "_values";
    values.columns = sizes.compress;
    values.key_storage = cuda::Storage::as_is;
    values.normalises_keys = false;
    values.given.given_keys = z;
    values.given.gates.lambda = job.lambda_values;
    values.given.m0 = job.s0;
    values.given.s0 = nullptr;
    values.given.final_m = job.final_s;
    values.given.final_s = nullptr;
    const int64_t step =
        std::min(tokens_a_range(keys, job, builder.chip()), tokens_a_range(values, job, builder.chip()));
    Tiles of_keys(builder, job, std::move(keys), step), of_values(builder, job, std::move(values), step);
    const int64_t stride = sizes.length * sizes.compress;
    const cuda::Storage plain = cuda::Storage::as_is;
    // z is of the evolving memory whatever is read, as one chunk of a token must be the exact step.
    const DeviceReader compress = {"_keys", job.storage, plain, false, false, true, {job.x, z, stride}};
    const DeviceReader ask = {"_queries", job.storage,       plain, sizes.normalises, sizes.reads_boundary,
                              true,       {job.q, r, stride}};
    const DeviceReader answer = {
        "_values", plain, job.storage, false, sizes.reads_boundary, false, {r, job.y, job.y_stride}};
    for (int64_t first = 0; first < sizes.length; first += step) {
        const Range range{first, std::min(first + step, sizes.length)};
        of_keys.add_prepare(range);
        of_keys.add_walk(range);
        of_keys.add_read(range, compress);
        of_keys.add_read(range, ask);
        of_values.add_prepare(range);
        of_values.add_walk(range);
        of_values.add_read(range, answer);
    }
}

}  // namespace

void add_chunkwise_gd(PlanBuilder& builder, const DeviceJob& job) {
    if (job.sizes.rule == UpdateRule::trellis) return add_trellis(builder, job);
    if (job.sizes.rule == UpdateRule::lattice) return add_frozen_slots(builder, job, SlotChunks::sums);
    add_matrix(builder, job, false);
}

void add_exact_chunk(PlanBuilder& builder, const DeviceJob& job) { add_matrix(builder, job, true); }

}  // namespace sawtooth::memory
