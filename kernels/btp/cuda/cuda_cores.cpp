// The mapping of two_pass and fused to CUDA cores, for blocks of any length: a thread block owns whole blocks
// of one head, a thread one position of them.

#include <fmt/format.h>

#include "kernels/btp/cuda/passes.h"
#include "kernels/btp/launches.h"

namespace sawtooth::btp {
namespace {

// The blocks of a thread block. With `repeats` the first or the last one belongs to its neighbour and is
// computed again.
struct Tile {
    Tile(const CudaJob& cuda_job, const cuda::PlanBuilder& builder, bool repeats)
        : job(cuda_job),
          own(std::max<int64_t>(blocks_of_threads(builder.parameters().integer("wpb"), job.block) - repeats,
                                1)),
          blocks(own + repeats) {}

    Side stretches() const {
        const std::string formula = own == 1 ? "BL" : fmt::format("({} BL)", own);
        return pieces("L", job.length, formula, own * job.block);
    }
    Side heads() const { return side("B", job.batch) * side("H", job.heads / job.batch); }
    Side rows() const { return heads() * pieces("DH", job.width, channels_of_thread); }
    cuda::KernelSource source(const char* file, const char* entry) const {
        cuda::Defines defines = job.defines();
        defines.push_back({"BLOCKS", blocks});
        return {.file = std::string("kernels/btp/cuda/") + file,
                .entry = entry,
                .defines = std::move(defines),
                .threads = ceil_divide(blocks * job.block, 32) * 32};
    }

    const CudaJob& job;
    int64_t own, blocks;
};

LaunchInfo on_cuda_cores(LaunchInfo info) {
    info.meaning += " On CUDA cores, as BL is not 16, 32 or 64.";
    return info;
}

void add_plain_forward(cuda::PlanBuilder& builder, const CudaJob& job, bool adds_carries, LaunchInfo info) {
    const Tile tile(job, builder, adds_carries && job.order == Order::two);
    const Side blocks = tile.stretches() * tile.rows();
    MoreArguments given = job.arguments();
    if (adds_carries && job.order == Order::full)
        given.chain = chain_for(builder, blocks.count * channels_of_thread);
    cuda::KernelSource source = tile.source("plain_forward.cu", "forward");
    source.defines.push_back(construction_define(builder.parameters()));
    source.defines.push_back({"ADDS_CARRIES", adds_carries});
    builder.launch(on_cuda_cores(std::move(info)), {blocks}, source, given);
}

void add_plain_second_pass(cuda::PlanBuilder& builder, const CudaJob& job) {
    const Tile tile(job, builder, false);
    const Side stretches = job.order == Order::full ? Side() : tile.stretches();
    MoreArguments given = job.arguments();
    given.u = nullptr;  // the kernel adds to x
    builder.launch(on_cuda_cores(second_pass(job, job.carry0)), {stretches * tile.rows()},
                   tile.source("plain_second_pass.cu", "second_pass"), given);
}

Buffer add_plain_first_gradient_pass(cuda::PlanBuilder& builder, const CudaJob& job) {
    const Tile tile(job, builder, false);
    MoreArguments given = job.arguments();
    Buffer dc = builder.take("dc", job.carry.shape);
    given.dc = dc.as<float>();
    cuda::KernelSource source = tile.source("plain_gradients.cu", "first_gradient_pass");
    source.defines.push_back({"READS_DC", true});
    builder.launch(on_cuda_cores(first_gradient_pass(job, dc)), {tile.stretches() * tile.rows()}, source,
                   given);
    return dc;
}

void add_plain_gradients(cuda::PlanBuilder& builder, const CudaJob& job, LaunchInfo info, const Buffer& dc) {
    const Tile tile(job, builder, job.order == Order::two && !dc);
    const bool walks = job.order == Order::full && dc, looks_back = job.order == Order::full && !dc;
    const Side stretches = walks ? Side() : tile.stretches();
    MoreArguments given = job.arguments();
    given.dc = dc.as<float>();
    if (looks_back) given.chain = chain_for(builder, (stretches * tile.rows()).count * channels_of_thread);
    cuda::KernelSource source = tile.source("plain_gradients.cu", "gradients");
    source.defines.push_back({"READS_DC", static_cast<bool>(dc)});
    builder.launch(on_cuda_cores(std::move(info)), {stretches * tile.heads()}, source, given);
}

}  // namespace

const Passes& passes_on_cuda_cores() {
    static const Passes passes = {add_plain_forward, add_plain_second_pass, add_plain_first_gradient_pass,
                                  add_plain_gradients};
    return passes;
}

}  // namespace sawtooth::btp
