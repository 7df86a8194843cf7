// The bytes that one tile of keys moves through streaming, from global memory to the sums.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "kernels/attention/figures/common.h"
#include "kernels/core/integers.h"
#include "kernels/core/table.h"
#include "kernels/cpu/products.h"

namespace sawtooth::attention {
namespace {

// The bytes that one step, or the launch, moves.
struct Flow {
    double to_tile = 0;       // from global memory to shared memory; on the CPU to the cache
    double to_registers = 0;  // loads of the factors
    double operands = 0;      // operands of the instructions that multiply
    double sums = 0;          // scores and o
    double stored = 0;        // o and lse, which are stored once per query tile
    double operations = 0;

    Flow& operator+=(const Flow& other) {
        to_tile += other.to_tile, to_registers += other.to_registers, operands += other.operands;
        sums += other.sums, stored += other.stored, operations += other.operations;
        return *this;
    }
    friend Flow operator*(double times, const Flow& flow) {
        return {times * flow.to_tile, times * flow.to_registers, times * flow.operands,
                times * flow.sums,    times * flow.stored,       times * flow.operations};
    }
};

// Counts bytes by the tiling of a result. All tiles count as full, as tensor cores multiply them; the CPU
// computes only the queries and keys that there are.
struct FlowModel {
    explicit FlowModel(const Result& result)
        : on_cpu(result.backend == Backend::cpu),
          block_m(present(result, "BLOCK_M", queries_of(result.parameters))),
          block_n(present(result, "BLOCK_N", result.parameters.integer("N"))),
          d(static_cast<double>(result.parameters.integer("D"))),
          warps(static_cast<double>(result.parameters.integer("warps"))),
          element(on_cpu ? 4 : 2) {}  // the CPU computes in f32, tensor cores in f16 or bf16

    // The rows of a tile of that parameter, of as many positions.
    static double present(const Result& result, const char* name, int64_t positions) {
        const int64_t rows = result.parameters.integer(name);
        return static_cast<double>(result.backend == Backend::cpu ? std::min(rows, positions) : rows);
    }

    bool on_cpu;
    double block_m, block_n, d, warps;
    double element;  // bytes of a number

    Flow step(TileKind kind) const {
        const double scores = kind == TileKind::mixed ? 2 : 1;  // products of q and k
        const double keys = block_n * d * element, queries = block_m * d * element;
        Flow flow;
        flow.to_tile = (scores + 1) * keys;
        flow.to_registers = on_cpu ? loads_on_cpu(scores) : loads_on_gpu(scores, queries, keys);
        // A vector instruction takes two factors per multiplication. mma.m16n8k16 takes 16 x 16 and 16 x 8
        // numbers for its 2048 multiplications.
        const double multiplications = (scores + 1) * block_m * block_n * d;
        flow.operands = multiplications * (on_cpu ? 2 * 4 : 384 * element / 2048);
        flow.sums = 4 * (scores * block_m * block_n + block_m * d);
        flow.operations = 2 * multiplications;
        return flow;
    }

    // The bytes before and after the steps of a query tile: both encodings of q, then o and lse.
    Flow around() const {
        Flow flow;
        flow.to_tile = 2 * block_m * d * element;
        flow.stored = block_m * (d * element + 4);
        return flow;
    }

  private:
    // A few rows share the loads of the right factor; the left one is loaded for every 16 columns.
    double loads_on_cpu(double scores) const {
        const double right_loads = block_m / static_cast<double>(cpu::rows_together()), lanes = cpu::lanes;
        return 4 * ((scores + 1) * right_loads * block_n * d + scores * block_m * d * (block_n / lanes) +
                    block_m * block_n * (d / lanes));
    }
    // A warp loads keys and values once for 16 queries, or once for 32 if it has as many; in mixed tiles
    // always once for 16.
    double loads_on_gpu(double scores, double queries, double keys) const {
        const double bands = std::max(block_m / 16, 1.0), per_warp = std::max(bands / warps, 1.0);
        const double together = scores == 1 && per_warp >= 2 ? 2 : 1;
        return scores * queries + (scores + 1) * keys * bands / together;
    }
};

struct Row {
    std::string name;
    std::vector<std::string> nodes;  // in the order of the columns; "" for none
    std::vector<std::string> edges;  // from each column to the next; "" for none
    bool lit = false;
};

Row row_of(std::string name, const std::string& keys, const std::string& products, const Flow& flow) {
    return {std::move(name),
            {keys, keys, "q, k, v", products, "s, o", flow.stored > 0 ? "o, lse" : ""},
            {short_bytes(flow.to_tile), short_bytes(flow.to_registers), short_bytes(flow.operands),
             short_bytes(flow.sums), flow.stored > 0 ? short_bytes(flow.stored) : ""}};
}

Tree tree_of(const std::vector<Row>& rows) {
    Tree tree;
    for (size_t r = 0; r < rows.size(); ++r) {
        int before = -1;
        for (size_t c = 0; c < rows[r].nodes.size(); ++c) {
            if (rows[r].nodes[c].empty()) continue;
            tree.nodes.push_back(
                {static_cast<double>(c), static_cast<double>(r), rows[r].nodes[c], rows[r].lit});
            const int here = static_cast<int>(tree.nodes.size()) - 1;
            if (before >= 0) tree.edges.push_back({before, here, rows[r].lit, true, rows[r].edges[c - 1]});
            before = here;
        }
    }
    return tree;
}

const LaunchRecord* forward_of(const VariantResult& variant) {
    const auto found =
        std::find_if(variant.launches.begin(), variant.launches.end(),
                     [](const LaunchRecord& launch) { return launch.info->name == "forward"; });
    return found == variant.launches.end() ? nullptr : &*found;
}

// Adds a row with what the counters measured, or tells in the caption how to get it.
void add_measured(const LaunchRecord* launch, const Flow& total, std::vector<Row>& rows,
                  std::string& caption) {
    const auto counters = launch ? launch->counters : std::map<std::string, double>{};
    const auto dram = counters.find("DRAM bytes"), hits = counters.find("L2 hit rate (%)");
    if (dram == counters.end()) {
        caption += " Profile counters adds the measured DRAM bytes and L2 hit rate.";
        return;
    }
    rows.push_back(
        {"measured", {"DRAM", "chip", "", "", "", ""}, {short_bytes(dram->second), "", "", "", ""}, true});
    caption += fmt::format(" Measured: DRAM moved {}, {:.2g}x the bytes of the first arrow and of o and lse",
                           short_bytes(dram->second), dram->second / (total.to_tile + total.stored));
    if (hits != counters.end()) caption += fmt::format("; the L2 hit rate is {:.0f} %", hits->second);
    caption += ".";
}

// Adds a row for one tile of every kind and one for the launch, and returns the bytes of the launch.
Flow add_rows(const FlowModel& model, const TileCounts& tiles, const Parameters& p, std::vector<Row>& rows) {
    const auto heads = static_cast<double>(p.integer("Z") * p.integer("H"));
    Flow total =
        heads * static_cast<double>(ceil_divide(queries_of(p), p.integer("BLOCK_M"))) * model.around();
    for (const auto& [kind, name, count, keys] : {std::tuple{TileKind::near, "near", tiles.near, "k1, v"},
                                                  {TileKind::far, "far", tiles.far, "k2, v"},
                                                  {TileKind::mixed, "mixed", tiles.mixed, "k1, k2, v"}}) {
        const Flow step = model.step(kind);
        total += heads * static_cast<double>(count) * step;
        if (count > 0)
            rows.push_back(row_of(fmt::format("one {} tile of {}", name, with_thousands(count)), keys,
                                  kind == TileKind::mixed ? "3 products" : "2 products", step));
    }
    rows.push_back(row_of("launch", "q, k, v", "products", total));
    return total;
}

std::string caption_of(const FlowModel& model, const TileCounts& tiles) {
    const Flow plain = model.step(TileKind::near), mixed = model.step(TileKind::mixed);
    return fmt::format(
        "A near tile brings {} to {} for {} operations, {} per byte; a mixed tile brings {:.1f}x. The launch "
        "has {} per head.",
        short_bytes(plain.to_tile), model.on_cpu ? "the cache" : "shared memory",
        plain.operations < 1e6 ? with_thousands(std::llround(plain.operations))
                               : fmt::format("{:.3g} million", plain.operations / 1e6),
        short_number(std::stod(rounded(plain.operations / plain.to_tile, 2))), mixed.to_tile / plain.to_tile,
        count_words(tiles.computed(), "tile"));
}

Figure flow_figure(const Result& result, const VariantResult& streaming) {
    const FlowModel model(result);
    const TileCounts tiles = count_tiles(result.parameters);
    std::vector<Row> rows;
    const Flow total = add_rows(model, tiles, result.parameters, rows);
    std::string caption = caption_of(model, tiles);
    if (!model.on_cpu) add_measured(forward_of(streaming), total, rows, caption);
    Axis x, y;
    if (model.on_cpu)
        x.categories = {"memory", "cache", "registers", "FMA units", "accumulators", "output"};
    else
        x.categories = {"global", "shared", "registers", "tensor cores", "accumulators", "output"};
    for (const Row& row : rows) y.categories.push_back(row.name);
    Figure figure = new_figure("tile_flow", Place::views, "One tile step of streaming, forward",
                               std::move(caption), std::move(x), std::move(y));
    figure.marks.push_back(tree_of(rows));
    return figure;
}

}  // namespace

std::vector<Figure> flow_figures(const Result& result) {
    const VariantResult* const streaming = find(result, "streaming");
    if (!streaming || !streaming->ran()) return {};
    return {flow_figure(result, *streaming)};
}

}  // namespace sawtooth::attention
