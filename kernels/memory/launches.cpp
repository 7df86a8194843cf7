#include "kernels/memory/launches.h"

#include "kernels/core/launch_info.h"

namespace sawtooth::memory::describe {
namespace {

double number(int64_t count) { return static_cast<double>(count); }

// An input or output in its storage type, [batch, tokens, d].
Buffer vectors_of(const Job& job, const char* name, int64_t tokens) {
    return {name, {job.batch, tokens, job.d}, bytes_of(job.storage)};
}

Buffer y_of(const Job& job, int64_t tokens) { return vectors_of(job, job.y_name, tokens); }

Uses w_omega_of(const Job& job) {
    return job.rule->reads_w_omega ? Uses{{"w_omega", {job.d, 2 * job.d}}} : Uses{};
}

// The most boundaries that a launch stores for a range: those in it and the one after the last token.
int64_t boundaries_of(const Job& job, Range range) { return ceil_divide(range.count(), job.chunk) + 1; }

// The state that a launch starts from, and the state that it leaves.
void add_state(LaunchInfo& info, const Job& job, const Chain& chain, Range range) {
    const Shape shape = {chain.batch, chain.rows, chain.columns};
    const auto pass = [&](const PassedState& state, const std::string& given, const std::string& name) {
        if (range.first > 0 || state.from) info.reads.push_back({range.first > 0 ? name : given, shape});
        info.writes.push_back({name, shape});
    };
    pass(chain.m, chain.given, chain.name);
    if (chain.has_momentum) pass(chain.s, "s0", "s");
    if (chain.boundaries)
        info.writes.push_back(
            {"boundaries", {job.batch, boundaries_of(job, range), chain.rows, chain.columns}});
}

void add_states(LaunchInfo& info, const Job& job, Range range) {
    switch (job.rule->state) {
        case State::matrix:
            return add_state(info, job, matrix_chain(job), range);
        case State::slots:
            return add_state(info, job, slot_chain(job), range);
        case State::trellis:
            add_state(info, job, key_chain(job), range);
            return add_state(info, job, value_chain(job), range);
    }
}

}  // namespace

Uses gates_of(const Job& job, int64_t tokens) {
    const Shape shape = {job.batch, tokens};
    Uses uses;
    if (job.rule->forgets) uses.push_back({"alpha", shape});
    if (job.rule->has_momentum) uses.push_back({"eta", shape});
    if (job.rule->has_step) uses.push_back({"theta", shape});
    return uses;
}

Uses inputs_of(const Job& job, int64_t tokens) {
    Uses uses = {vectors_of(job, "k", tokens), vectors_of(job, "v", tokens), vectors_of(job, "q", tokens)};
    if (job.rule->reads_x) uses.push_back(vectors_of(job, "x", tokens));
    return uses + gates_of(job, tokens) + w_omega_of(job);
}

LaunchInfo tokens(const Job& job, int64_t tokens) {
    LaunchInfo info =
        launch_info(tokens == 1 ? "token" : "tokens",
                    tokens == 1 ? "One token updates the memory and reads it."
                                : "Each token in turn updates the memory and reads it.",
                    inputs_of(job, tokens), {y_of(job, tokens)}, number(tokens) * job.operations_a_token());
    add_states(info, job, {0, tokens});
    return info;
}

namespace {

// Totals over all tiles of all sequences: tokens, the tokens inside their windows, and pairs of a reading
// token and the token that it reads.
struct Counts {
    double tokens = 0, sources = 0, pairs = 0;
    double size = 0, width = 0;  // of a matrix: rows * columns, rows + columns
    double matrices = 1;         // M, and S if there is one
    double states = 0;           // numbers in the states of all tiles
};

Counts counts_of(const TiledRange& range) {
    const Chain& chain = range.chain;
    const int64_t all = range.tiling.tokens().count(), chunk = range.tiling.chunk();
    const double batch = number(chain.batch), halo = number(chain.window - 1);
    // The sum of squared tile sizes when this many tokens of a chunk are cut into tiles.
    const auto squares = [tile = range.tiling.tile()](int64_t tokens) {
        return number(tokens / tile) * number(tile * tile) + number((tokens % tile) * (tokens % tile));
    };
    const double all_squares = number(all / chunk) * squares(chunk) + squares(all % chunk);
    Counts counts;
    counts.tokens = batch * number(all);
    counts.sources = batch * (number(all) + number(range.tiling.count()) * halo);
    counts.pairs = batch * ((all_squares + number(all)) / 2 + number(all) * halo);
    counts.size = number(chain.rows * chain.columns);
    counts.width = number(chain.rows + chain.columns);
    counts.matrices = chain.has_momentum ? 2 : 1;
    counts.states = counts.matrices * counts.size * number(chain.batch * range.tiling.count());
    return counts;
}

// Rows of an input, of an output, or of an array between two chains.
Buffer stored_rows(const TiledRange& range, const std::string& name, int64_t width) {
    const bool is_between = name == "z" || name == "r";
    return {name,
            {range.chain.batch, range.tiling.tokens().count(), width},
            is_between ? 4 : bytes_of(range.job.storage)};
}

// An array between the launches of a range.
Buffer rows_of(const TiledRange& range, const char* name, int64_t width) {
    return {name, {range.chain.batch, range.tiling.tokens().count(), width}, range.element_bytes};
}
Buffer keys_of(const TiledRange& range) { return rows_of(range, "keys", range.chain.columns); }
Buffer values_of(const TiledRange& range) { return rows_of(range, "values", range.chain.rows); }
Buffer errors_of(const TiledRange& range) { return rows_of(range, "errors", range.chain.rows); }
Buffer coefficients_of(const TiledRange& range) {
    return {"coefficients",
            {range.chain.batch, range.tiling.count(), 2 * (range.tiling.tile() + range.chain.window - 1)}};
}
// M at the start of every tile, and S if there is one.
Uses states_of(const TiledRange& range, const std::string& whose, int64_t element_bytes, bool has_momentum) {
    const Shape shape = {range.chain.batch, range.tiling.count(), range.chain.rows, range.chain.columns};
    Uses uses = {{"m" + whose, shape, element_bytes}};
    if (has_momentum) uses.push_back({"s" + whose, shape, element_bytes});
    return uses;
}
Uses states_of(const TiledRange& range) {
    return states_of(range, " of tiles", range.element_bytes, range.chain.has_momentum);
}
Uses sums_of(const TiledRange& range) {
    return states_of(range, " added by tiles", 4, range.chain.has_momentum);
}

Uses prepared(const TiledRange& range) { return {keys_of(range), values_of(range), coefficients_of(range)}; }

LaunchInfo preparing(const TiledRange& range, std::string name, std::string meaning) {
    const Counts counts = counts_of(range);
    const Job& job = range.job;
    const Uses rows = {stored_rows(range, range.chain.keys, range.chain.columns),
                       stored_rows(range, range.chain.values, job.d)};
    LaunchInfo info = launch_info(std::move(name), std::move(meaning),
                                  rows + gates_of(job, range.tiling.tokens().count()) + w_omega_of(job),
                                  prepared(range), 3 * counts.width * counts.sources + 5 * counts.pairs);
    if (job.rule->reads_w_omega) info.work.operations += 4 * counts.size * counts.sources;
    return info;
}

}  // namespace

LaunchInfo prepare(const TiledRange& range) {
    return preparing(
        range, "prepare" + range.chain.suffix,
        range.job.rule->reads_w_omega
            ? "Computes all w = W silu([k; v]), normalises keys and accumulates gates, tile by tile."
            : "Normalises keys and accumulates gates, tile by tile.");
}

LaunchInfo solve(const TiledRange& range) {
    const Counts counts = counts_of(range);
    LaunchInfo info = preparing(
        range, "solve", "Solves the triangular system of every tile for its keys and values (WY form).");
    // k . k for every pair, then the solve for keys and values.
    info.work.operations += 2 * counts.pairs * (number(range.chain.columns) + counts.width);
    return info;
}

LaunchInfo walk(const TiledRange& range) {
    const Counts counts = counts_of(range);
    const double products = (range.chain.reads_memory ? 1 : 0) + counts.matrices;
    LaunchInfo info =
        launch_info("walk" + range.chain.suffix,
                    "Walks from boundary to boundary: errors and states, strips of rows independently.",
                    prepared(range), Uses{errors_of(range)} + states_of(range),
                    2 * products * counts.sources * counts.size + 3 * counts.states);
    add_state(info, range.job, range.chain, range.tiling.tokens());
    return info;
}

LaunchInfo sum_tiles(const TiledRange& range) {
    const Counts counts = counts_of(range);
    return launch_info("sum_tiles", "Sums the updates of every tile to memory and momentum, in parallel.",
                       prepared(range), Uses{errors_of(range)} + sums_of(range),
                       2 * counts.matrices * counts.size * counts.sources);
}

LaunchInfo scan_tiles(const TiledRange& range) {
    LaunchInfo info = launch_info("scan_tiles", "Scans the sums of the tiles, memory and momentum together.",
                                  sums_of(range) + Uses{coefficients_of(range)}, states_of(range),
                                  2 * counts_of(range).states);
    add_state(info, range.job, range.chain, range.tiling.tokens());
    return info;
}

LaunchInfo read(const TiledRange& range, const Reading& reading) {
    const Counts counts = counts_of(range);
    const bool has_momentum = range.chain.has_momentum && !reading.at_boundary;
    LaunchInfo info =
        launch_info("read" + reading.suffix,
                    reading.at_boundary ? "All tokens read the memory at the boundary of their chunk."
                                        : "All tokens read their own memory state.",
                    Uses{stored_rows(range, reading.queries, range.chain.columns)} +
                        states_of(range, " of tiles", range.element_bytes, has_momentum),
                    {stored_rows(range, reading.result, range.chain.rows)},
                    2 * (has_momentum ? 2 : 1) * counts.tokens * counts.size);
    if (reading.at_boundary) return info;
    info.reads = info.reads + Uses{keys_of(range), errors_of(range)} +
                 gates_of(range.job, range.tiling.tokens().count());
    info.work.operations += 2 * counts.pairs * counts.width;
    return info;
}

LaunchInfo tree(const Job& job, Range range, Uses brings) {
    const double tokens = number(job.batch * range.count()), size = number(job.d * job.d);
    const double matrices = job.rule->has_momentum ? 2 : 1;
    LaunchInfo info =
        launch_info("tree", "In every tile, totals go up a tree and states come down; then tokens read.",
                    std::move(brings), {y_of(job, range.count())}, (8 * matrices + 6) * tokens * size);
    add_state(info, job, matrix_chain(job), range);
    return info;
}

namespace {

Buffer sums_of_y(const Job& job, Range shard) {
    return {"sums of y", {job.batch, ceil_divide(shard.count(), job.local_tokens), job.d}};
}

// The global memory: only M passes from shard to shard.
Chain global_memory(const Job& job) {
    Chain chain = matrix_chain(job);
    chain.has_momentum = false;
    return chain;
}

}  // namespace

LaunchInfo locals(const Job& job, Range shard) {
    LaunchInfo info =
        launch_info("locals", "Local memories run over their tokens, all of a shard in parallel.", {}, {},
                    number(shard.count()) * job.operations_a_token());
    add_state(info, job, global_memory(job), shard);
    info.reads = info.reads + inputs_of(job, shard.count());
    info.writes = {y_of(job, shard.count()), sums_of_y(job, shard)};
    return info;
}

LaunchInfo global_step(const Job& job, Range shard) {
    const double size = number(job.batch * job.d * job.d);
    LaunchInfo info =
        launch_info("global_step", "Updates the global memory with the means of a shard.",
                    {sums_of_y(job, shard), {"alpha", {job.batch, shard.count()}}}, {}, 3 * size);
    add_state(info, job, global_memory(job), shard);
    return info;
}

namespace {

Buffer slots_of_tiles(const Job& job, const Tiling& tiling) {
    return {"slots of tiles", {job.batch, tiling.count(), job.slot_count, job.d}};
}

double tokens_times_slots(const Job& job, const Tiling& tiling) {
    return number(tiling.tokens().count()) * number(job.batch * job.slot_count * job.d);
}

}  // namespace

LaunchInfo walk_slots(const Job& job, const Tiling& tiling, Uses brings) {
    LaunchInfo info =
        launch_info("walk_slots", "Walks from boundary to boundary, every slot independently.",
                    std::move(brings), {slots_of_tiles(job, tiling)}, 6 * tokens_times_slots(job, tiling));
    add_state(info, job, slot_chain(job), tiling.tokens());
    return info;
}

LaunchInfo read_slots(const Job& job, const Tiling& tiling, Uses brings) {
    brings.push_back(slots_of_tiles(job, tiling));
    return launch_info("read_slots", "All tokens read the slots.", std::move(brings),
                       {y_of(job, tiling.tokens().count())}, 16 * tokens_times_slots(job, tiling));
}

LaunchInfo pulse(int64_t length) {
    return launch_info("pulse", "Marks the tokens where a level fires.", {}, {{"pulse", {length}}}, 0);
}

}  // namespace sawtooth::memory::describe
