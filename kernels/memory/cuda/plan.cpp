// What the launches of all strategies have in common.

#include "kernels/memory/cuda.h"

#include <fmt/format.h>

#include "kernels/core/table.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

const char* name_of(cuda::Storage storage) {
    return storage == cuda::Storage::f16 ? "f16" : storage == cuda::Storage::bf16 ? "bf16" : "f32";
}

const char* name_of(UpdateRule rule) { return rules()[static_cast<size_t>(rule)].c_str(); }

std::string text_of(int64_t number) { return std::to_string(number); }
std::string text_of(bool flag) { return flag ? "true" : "false"; }

int64_t word_bytes(const DeviceJob& job) { return cuda::bytes_of(job.storage, Dtype::f32); }

LaunchInfo describe_launch(std::string name, std::string meaning, std::string formula,
                           std::vector<ArrayUse> reads, std::vector<ArrayUse> writes, Work work) {
    LaunchInfo info;
    info.name = std::move(name);
    info.meaning = std::move(meaning);
    info.grid_formula = std::move(formula);
    info.reads = std::move(reads);
    info.writes = std::move(writes);
    info.work = work;
    return info;
}

std::vector<ArrayUse> vectors_of(const DeviceJob& job, int64_t tokens) {
    const Job& sizes = job.sizes;
    const Shape vectors = {sizes.batch, tokens, sizes.width}, gates = {sizes.batch, tokens};
    std::vector<ArrayUse> uses = {{"k", vectors}, {"v", vectors}, {"q", vectors}};
    if (sizes.rule == UpdateRule::trellis) uses.push_back({"x", vectors});
    if (sizes.rule != UpdateRule::lattice) uses.push_back({"alpha", gates});
    if (sizes.memory.has_momentum) uses.push_back({"eta", gates});
    if (sizes.rule != UpdateRule::lattice && sizes.rule != UpdateRule::hebbian)
        uses.push_back({"theta", gates});
    if (sizes.rule == UpdateRule::atlas) uses.push_back({"w_omega", {sizes.width, 2 * sizes.width}});
    return uses;
}

ArrayUse y_of(const DeviceJob& job, int64_t tokens) {
    return {"y", {job.sizes.batch, tokens, job.sizes.width}};
}

void add_pulse(cuda::PlanBuilder& builder, int32_t* to, int64_t length, int64_t chunk) {
    constexpr int64_t threads = 256;
    builder.launch(describe_launch("pulse", "Where a level fires.", "ceil(L / 256)", {},
                                   {{"pulse", {length}}}, {4 * static_cast<double>(length), 0}),
                   builder.kernel({"kernels/memory/pulse.cu", {}}, "pulse"),
                   {ceil_divide(length, threads), 1, 1}, {threads, 1, 1}, 0, to, length, chunk);
}

namespace {

std::optional<std::string> check_shared(const std::string& what, int64_t bytes, const Chip& chip) {
    if (bytes <= chip.shared_bytes_per_block) return {};
    return fmt::format("{} takes {} of shared memory a thread block, where {} has {}; choose a smaller one",
                       what, short_bytes(static_cast<double>(bytes)), chip.name,
                       short_bytes(static_cast<double>(chip.shared_bytes_per_block)));
}

// Of the strategies that keep rows in registers and a group of tokens in shared memory.
std::optional<std::string> check_rows(const Job& sizes, const std::string& strategy, int64_t bytes,
                                      const Chip& chip) {
    const bool is_tree = strategy == "associative_scan", is_tnt = strategy == "tnt";
    if (!is_tree && !is_tnt && !strategy.starts_with("sequential")) return {};
    const std::string what = sizes.rule == UpdateRule::atlas_omega
                                 ? "omega_window = " + std::to_string(sizes.memory.window)
                                 : "d = " + std::to_string(sizes.width);
    const int64_t tokens = strategy == "sequential" ? 1 : is_tnt ? sizes.local_tokens : sizes.length;
    return check_shared(
        what, is_tree ? tree_shared_bytes(sizes, bytes) : walk_shared_bytes(sizes, bytes, tokens), chip);
}

}  // namespace

std::optional<std::string> check_on_gpu(const Parameters& parameters, const std::string& strategy,
                                        const Chip& chip) {
    if (parameters.integer("d") > widest_on_gpu)
        return fmt::format("d = {}: accepted on a GPU is up to {}, as registers and shared memory hold a row",
                           parameters.integer("d"), widest_on_gpu);
    if (parameters.is("launch", "graph_pdl") && chip.compute_capability < 90)
        return "launch = graph_pdl: " + chip.name +
               " has no programmatic dependent launch (compute capability 9.0 and up); accepted are sync, "
               "stream, graph";
    const Job sizes = sizes_of(parameters);
    const int64_t bytes = cuda::bytes_of(cuda::storage_named(parameters.text("dtype")), Dtype::f32);
    if (sizes.rule == UpdateRule::lattice)
        return check_shared("slot_count = " + std::to_string(sizes.slot_count),
                            slots_shared_bytes(sizes, !strategy.starts_with("sequential"), true), chip);
    if (sizes.rule != UpdateRule::trellis) return check_rows(sizes, strategy, bytes, chip);
    return {};
}

}  // namespace sawtooth::memory
