// y_t = x_0 o x_1 o … o x_t along L of [B, L, D], o associative. Five ways, from one chain a column to one
// pass:
//   sequential     a chain of L combines a column; columns in parallel
//   hillis_steele  y_t <- y_(t - 2^k) o y_t for k = 0 … ceil(log2 L) - 1 (Hillis, Steele 1986)
//   blelloch       totals up a binary tree, prefixes down again (Blelloch 1990)
//   three_phase    scan in blocks, scan of the blocks' totals, add
//   lookback       one pass: a tile publishes its total and looks back for the prefix before it (Merrill,
//   Garland 2016)

#include "kernels/scan/cpu.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <thread>

#include "kernels/cpu/pool.h"
#include "kernels/scan/tiles.h"

namespace sawtooth::scan {
namespace {

using cpu::Item;
using cpu::Split;

// Outputs larger than this are stored past the caches: they would be evicted before anybody reads them.
constexpr int64_t streamed_bytes = 16 << 20;

int64_t elements_of(const Job& job) { return job.batch * job.length * job.channels; }

bool is_streamed(const Job& job) {
    return elements_of(job) * cpu::bytes_of(job.y_precision) > streamed_bytes;
}

Shape shape_of(const Job& job) { return {job.batch, job.length, job.channels}; }

std::vector<ArrayUse> inputs_of(const Job& job) {
    std::vector<ArrayUse> uses;
    if (job.op == Operator::linear) uses.push_back({job.a_name, shape_of(job)});
    uses.push_back({job.x_name, shape_of(job)});
    if (job.initial) uses.push_back({"initial", {job.batch, job.channels}});
    return uses;
}

double operations_a_combine(Operator op) {
    return op == Operator::linear ? 3 : op == Operator::compensated_sum ? 8 : 1;
}

double input_bytes(const Job& job) {
    return static_cast<double>(elements_of(job) * cpu::bytes_of(job.precision) * input_planes_of(job.op));
}
double output_bytes(const Job& job) {
    return static_cast<double>(elements_of(job) * cpu::bytes_of(job.y_precision));
}

struct Described {
    std::string name, meaning, formula;
    int64_t items;
    std::vector<ArrayUse> reads, writes;
    double bytes, combines;
};

void add_launch(Plan& plan, const Job& job, Described described, Split split,
                std::function<void(const Item&)> work) {
    auto info = std::make_shared<LaunchInfo>();
    info->name = job.prefix + described.name;
    info->meaning = std::move(described.meaning);
    info->grid = {described.items, 1, 1};
    info->grid_formula = std::move(described.formula);
    info->reads = std::move(described.reads);
    info->writes = std::move(described.writes);
    info->work = {described.bytes, described.combines * operations_a_combine(job.op)};
    plan.launches.push_back(
        {std::move(info), [items = described.items, split, work = std::move(work)](Queue& queue) {
             queue.pool->dispatch(items, split, work);
         }});
}

int64_t ceil_divide(int64_t count, int64_t by) { return (count + by - 1) / by; }

States take_states(Plan& plan, Operator op, int64_t count) {
    States states;
    for (int p = 0; p < planes_of(op); ++p) states.plane[p] = plan.take<float>(count);
    return states;
}

double plane_bytes(Operator op, int64_t states) { return static_cast<double>(states * 4 * planes_of(op)); }

// Scratch states of one thread, told apart by `slot`.
States scratch_states(size_t slot, int64_t count) {
    thread_local std::array<std::array<std::vector<float>, 2>, 3> rooms;
    States states;
    for (size_t p = 0; p < 2; ++p) {
        auto& room = rooms[slot][p];
        if (static_cast<int64_t>(room.size()) < count) room.resize(static_cast<size_t>(count));
        states.plane[p] = room.data();
    }
    return states;
}

}  // namespace

int64_t automatic_block_size(int64_t length) { return length <= 256 ? 256 : length <= 512 ? 512 : 1024; }

int64_t levels_of(int64_t length) { return std::bit_width(static_cast<uint64_t>(length - 1)); }

void add_sequential(Plan& plan, const Job& job) {
    constexpr int64_t steps_a_tile = 256;  // widened at once where the precision is not f32
    const Strips strips = strips_of(job, steps_a_tile);
    Described described{
        .name = "sequential",
        .meaning = "Walks every column from the first step to the last, one combine after another.",
        .formula = "B * ceil(D / columns a strip)",
        .items = job.batch * strips.count,
        .reads = inputs_of(job),
        .writes = {{job.y_name, shape_of(job)}},
        .bytes = input_bytes(job) + output_bytes(job),
        .combines = static_cast<double>(elements_of(job))};
    add_launch(plan, job, std::move(described), Split::contiguous, [=](const Item& item) {
        const Access access(job);
        const int64_t batch = item.index / strips.count;
        const int64_t column = item.index % strips.count * strips.width;
        const int64_t columns = std::min(strips.width, job.channels - column);
        const States carry = scratch_states(0, columns);
        access.start(batch, column, columns, carry);
        for (int64_t first = 0; first < job.length && !item.stop.stop_requested(); first += steps_a_tile) {
            const int64_t steps = std::min(steps_a_tile, job.length - first);
            chain_tile(access, {batch, first, steps, column, columns}, carry, is_streamed(job));
            item.tally += {steps * columns, steps * columns, steps * columns};
        }
    });
}

void add_hillis_steele(Plan& plan, const Job& job) {
    const int64_t steps = std::max<int64_t>(levels_of(job.length), 1);
    const int64_t blocks = ceil_divide(job.length, job.block_size);
    const int64_t states = elements_of(job);
    States buffers[2];
    for (int b = 0; b < 2; ++b)
        if (steps > b + 1) buffers[b] = take_states(plan, job.op, states);
    for (int64_t step = 0; step < steps; ++step) {
        const bool is_first = step == 0, is_last = step == steps - 1;
        const int64_t reach = int64_t{1} << step;
        const States from = buffers[(step + 1) % 2], to = buffers[step % 2];
        const int64_t combines = std::max<int64_t>(job.length - reach, 0) * job.channels * job.batch;
        Described described{
            .name = "double_" + std::to_string(reach),
            .meaning = "Combines every position with the one " + std::to_string(reach) + " before it.",
            .formula = "B * ceil(L / block_size)",
            .items = job.batch * blocks,
            .reads = is_first ? inputs_of(job) : std::vector<ArrayUse>{{"partial", shape_of(job)}},
            .writes = {{is_last ? job.y_name : "partial", shape_of(job)}},
            .bytes = (is_first ? input_bytes(job) : plane_bytes(job.op, states)) +
                     (is_last ? output_bytes(job) : plane_bytes(job.op, states)),
            .combines = static_cast<double>(combines)};
        add_launch(plan, job, std::move(described), Split::contiguous, [=](const Item& item) {
            const Access access(job);
            const int64_t batch = item.index / blocks;
            const int64_t first = item.index % blocks * job.block_size;
            const int64_t count = std::min(job.block_size, job.length - first);
            const int64_t alone = std::clamp<int64_t>(reach - first, 0, count);  // nothing lies that far back
            const int64_t width = job.channels;
            const int64_t begin = (batch * job.length + first) * width;
            States here = is_first ? States{} : from.from(begin);
            if (is_first) {
                // One position before the block too: what the block's first one is combined with.
                const int64_t before = std::min<int64_t>(first, 1);
                const States lifted = scratch_states(0, (count + before) * width);
                access.lift(batch, first - before, 1, count + before, lifted, true);
                here = lifted.from(before * width);
            }
            const States out = is_last ? scratch_states(1, count * width) : to.from(begin);
            const int64_t kept = alone * width, joined = (count - alone) * width;
            copy_states(job.op, here, out, kept);
            combine(job.op, here.from(kept - reach * width), here.from(kept), out.from(kept), joined);
            if (is_last) {
                finish(job.op, out, out.plane[0], count * width);
                access.drop(batch, first, 1, count, out.plane[0]);
            }
            item.tally += {joined, (count + std::min(first, reach)) * width, count * width};
        });
    }
}

void add_blelloch(Plan& plan, const Job& job) {
    const int64_t width = job.channels;
    const int64_t levels = std::max<int64_t>(levels_of(job.length), 1);
    // nodes[h] at height h stand for 2^h positions each; the leaves are the input itself.
    std::vector<int64_t> nodes;
    for (int64_t count = job.length; static_cast<int64_t>(nodes.size()) < levels;
         count = ceil_divide(count, 2))
        nodes.push_back(count);
    nodes.push_back(1);
    std::vector<States> tree(
        static_cast<size_t>(levels));  // totals, then prefixes, of heights 1 … levels - 1
    for (int64_t h = 1; h < levels; ++h)
        tree[static_cast<size_t>(h)] =
            take_states(plan, job.op, job.batch * nodes[static_cast<size_t>(h)] * width);

    // Children first, first + 2, … of height h, gathered side by side.
    const auto gather = [job, width, nodes, tree](int64_t h, int64_t batch, int64_t first, int64_t count,
                                                  States to) {
        if (h == 0) return Access(job).lift(batch, first, 2, count, to, false);
        const auto level = static_cast<size_t>(h);
        for (int p = 0; p < planes_of(job.op); ++p)
            for (int64_t k = 0; k < count; ++k)
                std::copy_n(tree[level].plane[p] + (batch * nodes[level] + first + 2 * k) * width, width,
                            to.plane[p] + k * width);
    };
    const int64_t block = job.block_size;

    for (int64_t h = 1; h < levels; ++h) {
        const auto level = static_cast<size_t>(h);
        const int64_t parents = nodes[level], children = nodes[level - 1];
        const int64_t blocks = ceil_divide(parents, block);
        Described described{
            .name = "up_sweep_" + std::to_string(h),
            .meaning = "Every node of height " + std::to_string(h) + " takes the total of its two children.",
            .formula = "B * ceil(ceil(L / 2^" + std::to_string(h) + ") / block_size)",
            .items = job.batch * blocks,
            .reads =
                h == 1 ? inputs_of(job) : std::vector<ArrayUse>{{"totals", {job.batch, children, width}}},
            .writes = {{"totals", {job.batch, parents, width}}},
            .bytes = (h == 1 ? input_bytes(job) : plane_bytes(job.op, job.batch * children * width)) +
                     plane_bytes(job.op, job.batch * parents * width),
            .combines = static_cast<double>(job.batch * (children / 2) * width)};
        add_launch(plan, job, std::move(described), Split::contiguous, [=](const Item& item) {
            const int64_t batch = item.index / blocks, first = item.index % blocks * block;
            const int64_t count = std::min(block, parents - first);
            const int64_t pairs = std::min(count, children / 2 - first);  // the last child may be alone
            const States left = scratch_states(0, count * width), right = scratch_states(1, count * width);
            gather(h - 1, batch, 2 * first, count, left);
            gather(h - 1, batch, 2 * first + 1, pairs, right);
            const States out = tree[level].from((batch * parents + first) * width);
            combine(job.op, left, right, out, pairs * width);
            copy_states(job.op, left.from(pairs * width), out.from(pairs * width), (count - pairs) * width);
            item.tally += {pairs * width, (count + pairs) * width, count * width};
        });
    }

    for (int64_t h = levels; h >= 1; --h) {
        const auto level = static_cast<size_t>(h);
        const int64_t parents = h == levels ? 1 : nodes[level], children = nodes[level - 1];
        const int64_t blocks = ceil_divide(parents, block);
        const bool is_last = h == 1;
        Described described{
            .name = "down_sweep_" + std::to_string(h),
            .meaning =
                is_last ? "Every leaf combines the prefix before it with its own value."
                        : "Left children take their parent's prefix, right ones join the left total to it.",
            .formula = "B * ceil(ceil(L / 2^" + std::to_string(h) + ") / block_size)",
            .items = job.batch * blocks,
            .reads =
                is_last ? inputs_of(job) : std::vector<ArrayUse>{{"totals", {job.batch, children, width}}},
            .writes = {{is_last ? job.y_name : "prefixes", {job.batch, children, width}}},
            .bytes = plane_bytes(job.op, h == levels ? 0 : job.batch * parents * width) +
                     (is_last ? input_bytes(job) + output_bytes(job)
                              : 2 * plane_bytes(job.op, job.batch * children * width)),
            .combines = static_cast<double>(job.batch * (is_last ? children : children / 2) * width)};
        add_launch(plan, job, std::move(described), Split::contiguous, [=](const Item& item) {
            const Access access(job);
            const int64_t batch = item.index / blocks, first = item.index % blocks * block;
            const int64_t count = std::min(block, parents - first);
            const int64_t pairs = std::min(count, children / 2 - first);
            const bool is_root = h == levels;
            const States prefix =
                is_root ? scratch_states(2, width) : tree[level].from((batch * parents + first) * width);
            if (is_root) access.start(batch, 0, width, prefix);
            const States left = scratch_states(0, count * width), right = scratch_states(1, count * width);
            gather(h - 1, batch, 2 * first, count, left);
            if (is_last) {
                // y of a left leaf is also the prefix of its right neighbour.
                gather(0, batch, 2 * first + 1, pairs, right);
                combine(job.op, prefix, left, left, count * width);
                combine(job.op, left, right, right, pairs * width);
                finish(job.op, left, left.plane[0], count * width);
                finish(job.op, right, right.plane[0], pairs * width);
                access.drop(batch, 2 * first, 2, count, left.plane[0]);
                access.drop(batch, 2 * first + 1, 2, pairs, right.plane[0]);
                item.tally += {(count + pairs) * width, (2 * count + pairs) * width, (count + pairs) * width};
                return;
            }
            combine(job.op, prefix, left, right, pairs * width);
            for (int p = 0; p < planes_of(job.op); ++p) {
                float* const to = tree[level - 1].plane[p] + (batch * children + 2 * first) * width;
                for (int64_t k = 0; k < count; ++k)
                    std::copy_n(prefix.plane[p] + k * width, width, to + 2 * k * width);
                for (int64_t k = 0; k < pairs; ++k)
                    std::copy_n(right.plane[p] + k * width, width, to + (2 * k + 1) * width);
            }
            item.tally += {pairs * width, (count + pairs) * width, (count + pairs) * width};
        });
    }
}

void add_three_phase(Plan& plan, const Job& job) {
    const int64_t width = job.channels;
    const Strips strips = strips_of(job, job.block_size);
    const int64_t blocks = ceil_divide(job.length, job.block_size);
    const int64_t block_states = job.batch * blocks * width;
    const bool in_place = planes_of(job.op) == 1 && job.y_precision == cpu::Precision::f32;
    const bool stream = is_streamed(job);
    States local;
    if (in_place)
        local.plane[0] = static_cast<float*>(job.y);
    else
        local = take_states(plan, job.op, elements_of(job));
    const States totals = take_states(plan, job.op, block_states);
    const std::string local_name = in_place ? job.y_name : "local";
    const double local_bytes = plane_bytes(job.op, elements_of(job));
    const ArrayUse totals_use{"totals", {job.batch, blocks, width}};

    add_launch(plan, job,
               {.name = "block_scan",
                .meaning = "Scans every block for itself and keeps its total.",
                .formula = "B * ceil(L / block_size) * ceil(D / columns a strip)",
                .items = job.batch * blocks * strips.count,
                .reads = inputs_of(job),
                .writes = {{local_name, shape_of(job)}, totals_use},
                .bytes = input_bytes(job) + local_bytes + plane_bytes(job.op, block_states),
                .combines = static_cast<double>(elements_of(job))},
               Split::contiguous, [=](const Item& item) {
                   const Access access(job);
                   const int64_t column = item.index % strips.count * strips.width;
                   const int64_t block = item.index / strips.count % blocks;
                   const int64_t batch = item.index / strips.count / blocks;
                   const int64_t columns = std::min(strips.width, width - column);
                   const int64_t first = block * job.block_size;
                   const int64_t steps = std::min(job.block_size, job.length - first);
                   const States total = totals.from((batch * blocks + block) * width + column);
                   scan_tile_states(access, {batch, first, steps, column, columns}, total, local, stream);
                   item.tally += {steps * columns, steps * columns, steps * columns};
               });

    add_launch(plan, job,
               {.name = "scan_of_block_sums",
                .meaning = "Turns the blocks' totals into the prefix before every block.",
                .formula = "B",
                .items = job.batch,
                .reads = {totals_use},
                .writes = {totals_use},
                .bytes = 2 * plane_bytes(job.op, block_states),
                .combines = static_cast<double>(block_states)},
               Split::contiguous, [=](const Item& item) {
                   const Access access(job);
                   const States carry = scratch_states(0, width);
                   access.start(item.index, 0, width, carry);
                   const States sums = totals.from(item.index * blocks * width);
                   spread(job.op, sums, blocks, width, carry, sums);
                   item.tally += {blocks * width, blocks * width, blocks * width};
               });

    add_launch(plan, job,
               {.name = "add_block_prefixes",
                .meaning = "Combines the prefix before every block with its positions.",
                .formula = "B * ceil(L / block_size)",
                .items = job.batch * blocks,
                .reads = {{local_name, shape_of(job)}, totals_use},
                .writes = {{job.y_name, shape_of(job)}},
                .bytes = local_bytes + output_bytes(job) + plane_bytes(job.op, block_states),
                .combines = static_cast<double>(elements_of(job))},
               Split::contiguous, [=](const Item& item) {
                   const Access access(job);
                   const int64_t block = item.index % blocks, batch = item.index / blocks;
                   const int64_t first = block * job.block_size;
                   const int64_t steps = std::min(job.block_size, job.length - first);
                   const Tile tile{.batch = batch, .first = job.flipped ? first + steps - 1 : first};
                   const int64_t begin = access.offset(tile);  // the block's first position in memory
                   const int64_t count = steps * width;
                   const bool narrows = job.y_precision != cpu::Precision::f32;
                   float* const out =
                       narrows ? scratch_states(0, count).plane[0] : static_cast<float*>(job.y) + begin;
                   const States prefix = totals.from(item.index * width);
                   combine_rows(job.op, prefix, local.from(begin), out, steps, width);
                   if (narrows)
                       cpu::narrow(job.y_precision, out, static_cast<uint16_t*>(job.y) + begin, count);
                   item.tally += {count, count, count};
               });
}

namespace {

// What tiles publish. A flag holds 2 * run + 1 when the total can be read, 2 * run + 2 when the prefix can: a
// new run needs no clearing.
struct LookbackBoard {
    std::vector<std::atomic<uint64_t>> flags;
    States totals, prefixes;
    uint64_t run = 0;

    explicit LookbackBoard(size_t tiles) : flags(tiles) {}
    uint64_t total_ready() const { return 2 * run + 1; }
    uint64_t prefix_ready() const { return 2 * run + 2; }
};

// Waits until tile `index` has published its total; false when the dispatch was stopped meanwhile.
bool wait_for_total(const LookbackBoard& board, size_t index, const Item& item) {
    for (int spin = 0; board.flags[index].load(std::memory_order_acquire) < board.total_ready(); ++spin) {
        if (item.stop.stop_requested()) return false;
        if (spin > 200) std::this_thread::yield();
    }
    return true;
}

}  // namespace

void add_lookback(Plan& plan, const Job& job) {
    const int64_t width = job.channels;
    const Strips strips = strips_of(job, job.block_size);
    const int64_t tiles = ceil_divide(job.length, job.block_size);
    const int64_t sequences = job.batch * strips.count;
    auto board = std::make_shared<LookbackBoard>(static_cast<size_t>(plan.dry ? 0 : tiles * sequences));
    board->totals = take_states(plan, job.op, job.batch * tiles * width);
    board->prefixes = take_states(plan, job.op, job.batch * tiles * width);

    Described described{.name = "lookback",
                        .meaning = "Scans every tile once, with the prefix that it finds by looking back.",
                        .formula = "ceil(L / block_size) * B * ceil(D / columns a strip)",
                        .items = tiles * sequences,
                        .reads = inputs_of(job),
                        .writes = {{job.y_name, shape_of(job)}},
                        .bytes = input_bytes(job) + output_bytes(job),
                        .combines = static_cast<double>(2 * elements_of(job))};
    const auto work = [=](const Item& item) {
        const Access access(job);
        // All sequences advance together, and an item waits for smaller ones alone.
        const int64_t tile_index = item.index / sequences, sequence = item.index % sequences;
        const int64_t batch = sequence / strips.count, column = sequence % strips.count * strips.width;
        const int64_t columns = std::min(strips.width, width - column);
        const int64_t first = tile_index * job.block_size;
        const Tile tile{batch, first, std::min(job.block_size, job.length - first), column, columns};
        const auto flag = [&](int64_t index) { return static_cast<size_t>(index * sequences + sequence); };
        const auto place = [&](int64_t index) { return (batch * tiles + index) * width + column; };
        const auto prefix_is_ready = [&](int64_t index) {
            return board->flags[flag(index)].load(std::memory_order_acquire) == board->prefix_ready();
        };

        const States carry = scratch_states(0, columns);
        const States total = board->totals.from(place(tile_index));
        const States prefix = board->prefixes.from(place(tile_index));
        fill_identity(job.op, total, columns);
        item.tally += {2 * tile.steps * columns, tile.steps * columns, tile.steps * columns};

        int64_t found = tile_index - 1;  // the nearest tile before this one whose prefix is there
        const bool at_once = found < 0 || prefix_is_ready(found);
        if (!at_once) {
            fold_tile(access, tile, total);
            board->flags[flag(tile_index)].store(board->total_ready(), std::memory_order_release);
            while (found >= 0 && !prefix_is_ready(found)) {
                if (!wait_for_total(*board, flag(found), item)) return;
                if (!prefix_is_ready(found)) --found;
            }
        }
        // Forward from the prefix found, P_k o A_(k+1) o …: what a prefix is by definition, so that its bits
        // do not depend on how far this tile had to look.
        if (found < 0)
            access.start(batch, column, columns, carry);
        else
            copy_states(job.op, board->prefixes.from(place(found)), carry, columns);
        for (int64_t index = found + 1; index < tile_index; ++index) {
            combine(job.op, carry, board->totals.from(place(index)), carry, columns);
            item.tally.combines += columns;
        }
        copy_states(job.op, carry, prefix, columns);
        if (at_once) scan_and_fold_tile(access, tile, carry, total, is_streamed(job));
        combine(job.op, prefix, total, prefix, columns);
        board->flags[flag(tile_index)].store(board->prefix_ready(), std::memory_order_release);
        item.tally.combines += columns;
        if (!at_once) scan_tile(access, tile, carry, is_streamed(job));
    };
    add_launch(plan, job, std::move(described), Split::cyclic, work);
    plan.launches.back().start = [board, start = std::move(plan.launches.back().start)](Queue& queue) {
        ++board->run;
        start(queue);
    };
}

}  // namespace sawtooth::scan
