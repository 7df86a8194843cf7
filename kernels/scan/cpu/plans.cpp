// y_t = x_0 o x_1 o … o x_t along L of [B, L, D], o associative. Five algorithms, from one chain per column
// to a single pass:
//   sequential     a chain of L combines per column; columns in parallel
//   hillis_steele  y_t <- y_(t - 2^k) o y_t for k = 0 … ceil(log2 L) - 1 (Hillis, Steele 1986)
//   blelloch       totals up a binary tree, prefixes down again (Blelloch 1990)
//   three_phase    scan in blocks, scan of the blocks' totals, add
//   lookback       one pass: a tile looks back for the prefix before it (Merrill, Garland 2016)
// Each launch has a function for one item and a function that adds the launch.

#include <algorithm>

#include "kernels/cpu/half.h"
#include "kernels/cpu/lookback.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/scan/cpu/gradients.h"
#include "kernels/scan/cpu/tiles.h"

namespace sawtooth::scan {
namespace {

using cpu::Item;
using cpu::Split;
using cpu::States;

// Larger outputs bypass the caches: they would be evicted before anything reads them.
constexpr int64_t streamed_bytes = 16 << 20;

bool is_streamed(const Job& job) { return job.elements() * bytes_of(job.y.storage) > streamed_bytes; }

States from(const Planes& planes, int64_t offset) {
    return States{{planes.plane[0], planes.plane[1]}}.from(offset);
}

// The rows of an item, where [batch, rows, channels] is cut into blocks of `block_size` rows.
struct Block {
    int64_t batch, first, count;

    Block(int64_t index, int64_t rows, int64_t block_size) {
        const int64_t blocks = ceil_divide(rows, block_size);
        batch = index / blocks;
        first = index % blocks * block_size;
        count = std::min(block_size, rows - first);
    }
};
int64_t most_steps_a_block(const Job& job) { return std::min(job.block_size, job.length); }
Side strips_side(const Strips& strips) { return {strips.count, "ceil(D / columns a strip)"}; }

// sequential: an item walks one strip of columns of one sequence.

constexpr int64_t steps_a_tile = 256;  // those that are widened together if they are stored in less than f32

struct ChainRooms {
    RowRooms rows;
    States carry;

    ChainRooms(cpu::Scratch& scratch, const Job& job, const Strips& strips)
        : rows(scratch, job, std::min(steps_a_tile, job.length), strips.width),
          carry(take_states(scratch, job.op, strips.width)) {}
};

void chain(const Job& job, const Strips& strips, const Item& item) {
    const Access access(job);
    const int64_t batch = item.index / strips.count;
    const int64_t column = item.index % strips.count * strips.width;
    const int64_t columns = std::min(strips.width, job.channels - column);
    const auto rooms = cpu::take_rooms<ChainRooms>(item.scratch, job, strips);
    access.start(batch, column, columns, rooms.carry);
    for (int64_t first = 0; first < job.length && !item.stop.stop_requested(); first += steps_a_tile) {
        const int64_t steps = std::min(steps_a_tile, job.length - first);
        chain_tile(access, {batch, first, steps, column, columns}, rooms.rows, rooms.carry, is_streamed(job));
        item.tally += {steps * columns, steps * columns, steps * columns};
    }
}

void add(cpu::PlanBuilder& builder, const Stage& stage, Sequential) {
    const Strips strips = strips_of(stage.job, steps_a_tile);
    builder.launch(with_scratch(stage.info, cpu::scratch_bytes<ChainRooms>(stage.job, strips)),
                   side("B", stage.job.batch) * strips_side(strips),
                   [strips, job = stage.job](const Item& item) { chain(job, strips, item); });
}

// hillis_steele: an item does one step for one block of positions.

struct DoublingRooms {
    // The first step needs the inputs of a block, of the position before it, and the state before step 0.
    States lifted = {}, start = {};
    States last = {};  // what the last step computes, before its values are narrowed

    DoublingRooms(cpu::Scratch& scratch, const Job& job, const Doubling& step) {
        const int64_t width = job.channels;
        if (step.is_first)
            lifted = take_states(scratch, job.op, std::min(job.block_size + 1, job.length) * width);
        if (step.is_first && input_planes_of(job.op) == 2) start = take_states(scratch, job.op, width);
        if (step.is_last) last = take_states(scratch, job.op, most_steps_a_block(job) * width);
    }
};

// The states of a block before the step. The first step lifts them from the inputs, with the position before
// the block.
States states_before(const Job& job, const Access& access, const Doubling& step, const Block& block,
                     const DoublingRooms& rooms) {
    const int64_t width = job.channels;
    if (!step.is_first) return from(step.from, (block.batch * job.length + block.first) * width);
    const int64_t before = std::min<int64_t>(block.first, 1);
    access.lift(block.batch, block.first - before, 1, block.count + before, rooms.lifted, rooms.start);
    return rooms.lifted.from(before * width);
}

void double_block(const Job& job, const Doubling& step, const Item& item) {
    const Access access(job);
    const Block block(item.index, job.length, job.block_size);
    const int64_t width = job.channels;
    const auto rooms = cpu::take_rooms<DoublingRooms>(item.scratch, job, step);
    const States here = states_before(job, access, step, block, rooms);
    const States out =
        step.is_last ? rooms.last : from(step.to, (block.batch * job.length + block.first) * width);
    const int64_t alone =
        std::clamp<int64_t>(step.reach - block.first, 0, block.count);  // positions without a partner
    const int64_t kept = alone * width, joined = (block.count - alone) * width;
    copy_states(job.op, here, out, kept);
    combine(job.op, here.from(kept - step.reach * width), here.from(kept), out.from(kept), joined);
    if (step.is_last) {
        finish(job.op, out, out.plane[0], block.count * width);
        access.drop(block.batch, block.first, 1, block.count, out.plane[0]);
    }
    // Partners in the block are read once with it.
    const int64_t partners_before = block.count - alone - std::max<int64_t>(block.count - step.reach, 0);
    item.tally += {joined, (block.count + partners_before) * width, block.count * width};
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const Doubling& doubling) {
    builder.launch(with_scratch(stage.info, cpu::scratch_bytes<DoublingRooms>(stage.job, doubling)),
                   stage.job.blocks_of("L", stage.job.length),
                   [job = stage.job, doubling](const Item& item) { double_block(job, doubling, item); });
}

// blelloch: an item does one sweep for one block of parents.

struct SweepRooms {
    States left = {}, right = {};  // the children of a block of parents
    States start = {};             // the start of the sequence, for the root

    SweepRooms(cpu::Scratch& scratch, const Job& job, const TreeSweep& sweep) {
        const int64_t parents = std::min(job.block_size, sweep.parent_count);
        for (States* children : {&left, &right})
            *children = take_states(scratch, job.op, parents * job.channels);
        if (sweep.is_root) start = take_states(scratch, job.op, job.channels);
    }
};

// Gathers children first, first + 2, …: stored states, or lifted inputs.
void gather(const Job& job, const TreeSweep& sweep, int64_t batch, int64_t first, int64_t count, States to) {
    if (sweep.is_leaf) return Access(job).lift(batch, first, 2, count, to);
    const int64_t width = job.channels;
    for (int p = 0; p < planes_of(job.op); ++p)
        for (int64_t k = 0; k < count; ++k)
            std::copy_n(sweep.children.plane[p] + (batch * sweep.child_count + first + 2 * k) * width, width,
                        to.plane[p] + k * width);
}

// The reverse of `gather`, for states only.
void scatter(const Job& job, const TreeSweep& sweep, int64_t batch, int64_t first, int64_t count,
             States from) {
    const int64_t width = job.channels;
    for (int p = 0; p < planes_of(job.op); ++p)
        for (int64_t k = 0; k < count; ++k)
            std::copy_n(from.plane[p] + k * width, width,
                        sweep.children.plane[p] + (batch * sweep.child_count + first + 2 * k) * width);
}

// A block of parents, and how many of them have a right child.
struct Parents : Block {
    int64_t pairs;
    Parents(const Job& job, const TreeSweep& sweep, int64_t index)
        : Block(index, sweep.parent_count, job.block_size),
          pairs(std::min(count, sweep.child_count / 2 - first)) {}
};

void sweep_up(const Job& job, const TreeSweep& sweep, const Item& item) {
    const Parents parents(job, sweep, item.index);
    const int64_t width = job.channels, all = parents.count * width, joined = parents.pairs * width;
    const auto [left, right, start] = cpu::take_rooms<SweepRooms>(item.scratch, job, sweep);
    gather(job, sweep, parents.batch, 2 * parents.first, parents.count, left);
    gather(job, sweep, parents.batch, 2 * parents.first + 1, parents.pairs, right);
    const States out = from(sweep.parents, (parents.batch * sweep.parent_count + parents.first) * width);
    combine(job.op, left, right, out, joined);
    copy_states(job.op, left.from(joined), out.from(joined), all - joined);
    item.tally += {joined, all + joined, all};
}

// The prefixes of a block's parents; the prefix of the root is the start of the sequence, made in `start`.
States prefixes_of(const Job& job, const TreeSweep& sweep, const Parents& parents, States start) {
    if (!sweep.is_root)
        return from(sweep.parents, (parents.batch * sweep.parent_count + parents.first) * job.channels);
    Access(job).start(parents.batch, 0, job.channels, start);
    return start;
}

void sweep_down(const Job& job, const TreeSweep& sweep, const Item& item) {
    const Parents parents(job, sweep, item.index);
    const int64_t width = job.channels, all = parents.count * width, joined = parents.pairs * width;
    const auto [left, right, start] = cpu::take_rooms<SweepRooms>(item.scratch, job, sweep);
    const States prefix = prefixes_of(job, sweep, parents, start);
    gather(job, sweep, parents.batch, 2 * parents.first, parents.count, left);
    combine(job.op, prefix, left, right, joined);
    scatter(job, sweep, parents.batch, 2 * parents.first, parents.count, prefix);
    scatter(job, sweep, parents.batch, 2 * parents.first + 1, parents.pairs, right);
    item.tally += {joined, all + joined, all + joined};
}

// The last sweep writes y. The y of a left leaf is also the prefix of its right neighbour.
void sweep_down_leaves(const Job& job, const TreeSweep& sweep, const Item& item) {
    const Access access(job);
    const Parents parents(job, sweep, item.index);
    const int64_t width = job.channels, all = parents.count * width, joined = parents.pairs * width;
    const auto [left, right, start] = cpu::take_rooms<SweepRooms>(item.scratch, job, sweep);
    const States prefix = prefixes_of(job, sweep, parents, start);
    gather(job, sweep, parents.batch, 2 * parents.first, parents.count, left);
    gather(job, sweep, parents.batch, 2 * parents.first + 1, parents.pairs, right);
    combine(job.op, prefix, left, left, all);
    combine(job.op, left, right, right, joined);
    finish(job.op, left, left.plane[0], all);
    finish(job.op, right, right.plane[0], joined);
    access.drop(parents.batch, 2 * parents.first, 2, parents.count, left.plane[0]);
    access.drop(parents.batch, 2 * parents.first + 1, 2, parents.pairs, right.plane[0]);
    item.tally += {all + joined, 2 * all + joined, all + joined};
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const TreeSweep& sweep) {
    const auto act = sweep.is_up ? sweep_up : sweep.is_leaf ? sweep_down_leaves : sweep_down;
    const std::string parents = "ceil(L / 2^" + std::to_string(sweep.height) + ")";
    builder.launch(with_scratch(stage.info, cpu::scratch_bytes<SweepRooms>(stage.job, sweep)),
                   stage.job.blocks_of(parents, sweep.parent_count),
                   [job = stage.job, sweep, act](const Item& item) { act(job, sweep, item); });
}

// three_phase: an item scans one block of one strip, then the totals of one sequence, then adds to one block.

void scan_block(const Job& job, const Phases& phases, const Strips& strips, const Item& item) {
    const Access access(job);
    const Block block(item.index / strips.count, job.length, job.block_size);
    const int64_t column = item.index % strips.count * strips.width;
    const int64_t columns = std::min(strips.width, job.channels - column);
    const States total =
        from(phases.totals, item.index / strips.count * job.channels + column);  // [batch, blocks, channels]
    const auto rooms = cpu::take_rooms<TileRooms>(item.scratch, job, most_steps_a_block(job), strips.width);
    scan_tile_states(access, {block.batch, block.first, block.count, column, columns}, rooms, total,
                     from(phases.local, 0), is_streamed(job));
    item.tally += {block.count * columns, block.count * columns, block.count * columns};
}

struct CarryRooms {
    States carry;

    CarryRooms(cpu::Scratch& scratch, const Job& job) : carry(take_states(scratch, job.op, job.channels)) {}
};

void scan_totals(const Job& job, const Phases& phases, const Item& item) {
    const int64_t width = job.channels, blocks = job.blocks();
    const States carry = cpu::take_rooms<CarryRooms>(item.scratch, job).carry;
    Access(job).start(item.index, 0, width, carry);
    const States totals = from(phases.totals, item.index * blocks * width);
    spread(job.op, totals, blocks, width, carry, totals);
    item.tally += {blocks * width, blocks * width, blocks * width};
}

struct OutputRooms {
    float* values = nullptr;  // those of a block, before they are narrowed

    OutputRooms(cpu::Scratch& scratch, const Job& job) {
        if (job.y.storage != Storage::f32)
            values = scratch.take<float>(most_steps_a_block(job) * job.channels);
    }
};

void add_prefix(const Job& job, const Phases& phases, const Item& item) {
    const Block block(item.index, job.length, job.block_size);
    const int64_t count = block.count * job.channels;
    const int64_t lowest = job.flipped ? block.first + block.count - 1 : block.first;
    const int64_t begin = Access(job).offset({.batch = block.batch, .first = lowest});
    const bool narrows = job.y.storage != Storage::f32;
    float* const out =
        narrows ? cpu::take_rooms<OutputRooms>(item.scratch, job).values : job.y.as<float>() + begin;
    const States prefix = from(phases.totals, item.index * job.channels);
    combine_rows(job.op, prefix, from(phases.local, begin), out, block.count, job.channels);
    if (narrows) cpu::write(out, count, job.y, begin);
    item.tally += {count, count, count};
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const BlockScan& phases) {
    const Strips strips = strips_of(stage.job, stage.job.block_size);
    const int64_t bytes =
        cpu::scratch_bytes<TileRooms>(stage.job, most_steps_a_block(stage.job), strips.width);
    builder.launch(with_scratch(stage.info, bytes),
                   stage.job.blocks_of("L", stage.job.length) * strips_side(strips),
                   [=, job = stage.job](const Item& item) { scan_block(job, phases, strips, item); });
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const BlockSums& phases) {
    builder.launch(with_scratch(stage.info, cpu::scratch_bytes<CarryRooms>(stage.job)),
                   side("B", stage.job.batch),
                   [job = stage.job, phases](const Item& item) { scan_totals(job, phases, item); });
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const AddPrefixes& phases) {
    builder.launch(with_scratch(stage.info, cpu::scratch_bytes<OutputRooms>(stage.job)),
                   stage.job.blocks_of("L", stage.job.length),
                   [job = stage.job, phases](const Item& item) { add_prefix(job, phases, item); });
}

// lookback: an item scans one tile of one strip. All sequences (strips of a batch item) advance together, and
// an item waits only for items with a smaller index.

Side tiles_of(const Job& job) {
    const int64_t blocks = blocks_a_lookback_tile(job.channels, job.block_size);
    const std::string name = blocks == 1 ? "block_size" : "(" + std::to_string(blocks) + " block_size)";
    return pieces("L", job.length, name, blocks * job.block_size);
}

struct LookbackRooms {
    TileRooms tile;
    States carry;

    LookbackRooms(cpu::Scratch& scratch, const Job& job, int64_t steps, int64_t columns)
        : tile(scratch, job, steps, columns), carry(take_states(scratch, job.op, columns)) {}
};

struct LookbackScan {
    Job job;
    Strips strips;
    int64_t tile_steps, tiles, sequences;
    cpu::Lookback board;
    States totals, prefixes;  // [batch, tiles, channels]

    LookbackScan(cpu::PlanBuilder& builder, const Job& scanned)
        : job(scanned),
          strips(strips_of(scanned, scanned.block_size)),
          tile_steps(blocks_a_lookback_tile(scanned.channels, scanned.block_size) * scanned.block_size),
          tiles(tiles_of(scanned).count),
          sequences(scanned.batch * strips.count),
          board(builder, tiles, sequences) {
        for (States* states : {&totals, &prefixes})
            for (int p = 0; p < planes_of(job.op); ++p)
                states->plane[p] = builder.take<float>(job.batch * tiles * job.channels);
    }

    int64_t scratch_bytes() const {
        return cpu::scratch_bytes<LookbackRooms>(job, most_steps(), strips.width);
    }
    int64_t most_steps() const { return std::min(tile_steps, job.length); }  // of a tile

    void scan(const Item& item) const {
        const Access access(job);
        const int64_t index = item.index / sequences, sequence = item.index % sequences;
        const int64_t batch = sequence / strips.count, column = sequence % strips.count * strips.width;
        const int64_t columns = std::min(strips.width, job.channels - column);
        const int64_t first = index * tile_steps;
        const Tile tile{batch, first, std::min(tile_steps, job.length - first), column, columns};
        const auto place = [&](int64_t number) { return (batch * tiles + number) * job.channels + column; };
        const auto [rooms, carry] =
            cpu::take_rooms<LookbackRooms>(item.scratch, job, most_steps(), strips.width);
        const States total = totals.from(place(index)), prefix = prefixes.from(place(index));
        fill_identity(job.op, total, columns);
        item.tally += {2 * tile.steps * columns, tile.steps * columns, tile.steps * columns};

        // If the prefix is already published, the tile is read once: folded and scanned in one pass.
        const bool at_once = index == 0 || board.has_prefix(index - 1, sequence);
        int64_t found = index - 1;
        if (!at_once) {
            fold_tile(access, tile, rooms, total);
            board.publish_total(index, sequence);
            found = board.find_prefix(index, sequence, item);
            if (found == cpu::Lookback::stopped) return;
        }
        // Totals are joined forward from the prefix found, P_k o A_(k+1) o …, which is how a prefix is
        // defined: its bits do not depend on how far this tile had to look back.
        if (found == cpu::Lookback::none)
            access.start(batch, column, columns, carry);
        else
            copy_states(job.op, prefixes.from(place(found)), carry, columns);
        for (int64_t between = found + 1; between < index; ++between) {
            combine(job.op, carry, totals.from(place(between)), carry, columns);
            item.tally.combines += columns;
        }
        copy_states(job.op, carry, prefix, columns);
        if (at_once) scan_and_fold_tile(access, tile, rooms, carry, total, is_streamed(job));
        combine(job.op, prefix, total, prefix, columns);
        board.publish_prefix(index, sequence);
        item.tally.combines += columns;
        if (!at_once) scan_tile(access, tile, rooms, carry, is_streamed(job));
    }
};

void add(cpu::PlanBuilder& builder, const Stage& stage, Lookback) {
    const LookbackScan& scan = builder.keep(LookbackScan(builder, stage.job));
    builder.launch(
        with_scratch(stage.info, scan.scratch_bytes()),
        tiles_of(stage.job) * side("B", stage.job.batch) * strips_side(scan.strips), Split::cyclic,
        [&scan](const Item& item) { scan.scan(item); }, [&scan] { scan.board.start_run(); });
}

}  // namespace

void launch(cpu::PlanBuilder& builder, const Stage& stage) {
    std::visit([&](const auto& what) { add(builder, stage, what); }, stage.what);
}

}  // namespace sawtooth::scan
