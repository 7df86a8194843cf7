// The mapping of two_pass and fused to tensor cores: a warp goes through segments of one head, for 16 of its
// channels at a time.

#include <fmt/format.h>

#include "kernels/btp/cuda/passes.h"
#include "kernels/btp/launches.h"

namespace sawtooth::btp {
namespace {

constexpr int64_t channels = 16;    // channels of a warp (segment.cuh)
constexpr int64_t run_at_most = 8;  // segments of a warp, which computes one more block for order two

// The ways in which carries reach a warp: it finds them itself (none), or they form a chain, by look-back or
// along the walk of a thread block.
enum class Passing { none, look_back, walk };

struct Mapping {
    Mapping(const CudaJob& cuda_job, const cuda::PlanBuilder& builder)
        : job(cuda_job),
          warps(builder.parameters().integer("wpb")),
          processors(builder.chip().multiprocessors) {}

    // Returns how many warps share the registers of an SM. With BL 64 and backward, 12 were faster than 8,
    // which spill less, and than 16.
    int64_t warps_of_sm(bool backward) const {
        if (job.block == 64) return backward ? 12 : 16;
        if (!backward) return 32;
        return bytes_of(job.storage) == 4 ? 16 : 24;  // factors of f32 are three parts
    }

    int64_t threads() const { return 32 * warps; }
    int64_t segment() const { return segment_on_tensor_cores(job.block); }
    // Returns how many segments a warp goes through: as many as leave enough warps for all SMs.
    int64_t run(Passing passing) const {
        if (passing != Passing::none) return 1;
        const int64_t segments =
            ceil_divide(job.length, segment()) * job.heads * ceil_divide(job.width, channels);
        const int64_t run =
            std::min(segments / (64 * processors), ceil_divide(job.length, warps * segment()));
        return std::clamp<int64_t>(run, 1, run_at_most);
    }
    Side stretches(Passing passing) const {
        if (passing == Passing::walk) return {};
        const int64_t positions = warps * run(passing) * segment();
        const std::string formula = fmt::format("({} wpb)", run(passing) * segment());
        return pieces("L", job.length, formula, positions);
    }
    Side single_segments() const { return stretches(Passing::look_back); }
    Side heads() const { return side("B", job.batch) * side("H", job.heads / job.batch); }
    Side rows() const { return heads() * pieces("DH", job.width, channels); }
    cuda::KernelSource source(const char* file, const char* entry, bool backward) const {
        cuda::Defines defines = job.defines();
        defines.push_back({"MIN_BLOCKS", std::max<int64_t>(1, warps_of_sm(backward) / warps)});
        return {.file = std::string("kernels/btp/cuda/") + file,
                .entry = entry,
                .defines = std::move(defines),
                .threads = threads()};
    }

    const CudaJob& job;
    int64_t warps;
    int processors;
};

// Adds to the meaning of a launch how much it loads at a time.
LaunchInfo with_access(LaunchInfo info, const CudaJob& job) {
    info.meaning +=
        job.is_aligned() ? " Loads 16 bytes at a time." : " Loads single numbers: rows are not aligned.";
    return info;
}

void add_forward(cuda::PlanBuilder& builder, const CudaJob& job, bool adds_carries, LaunchInfo info) {
    const Mapping mapping(job, builder);
    const Passing passing = adds_carries && job.order == Order::full ? Passing::look_back : Passing::none;
    const Side blocks = mapping.stretches(passing) * mapping.rows();
    MoreArguments given = job.arguments();
    given.run = mapping.run(passing);
    if (passing == Passing::look_back) given.chain = chain_for(builder, blocks.count * channels);
    cuda::KernelSource source = mapping.source("fused.cu", "fused", false);
    source.defines.push_back(construction_define(builder.parameters()));
    source.defines.push_back({"ADDS_CARRIES", adds_carries});
    builder.launch(with_access(std::move(info), job), {blocks}, source, given);
}

void add_second_pass(cuda::PlanBuilder& builder, const CudaJob& job) {
    const Mapping mapping(job, builder);
    const Passing passing = job.order == Order::full ? Passing::walk : Passing::none;
    MoreArguments given = job.arguments();
    given.u = nullptr;  // the kernel adds to x
    given.run = mapping.run(passing);
    builder.launch(with_access(second_pass(job, job.carry0), job),
                   {mapping.stretches(passing) * mapping.rows()},
                   mapping.source("second_pass.cu", "second_pass", false), given);
}

// Adds the launch that computes gradients of gates and inputs. `dc` holds the gradients of the carries from a
// first launch; it is absent if this launch finds them itself.
void add_gradients(cuda::PlanBuilder& builder, const CudaJob& job, LaunchInfo info, const Buffer& dc) {
    const Mapping mapping(job, builder);
    const Passing passing = job.order != Order::full ? Passing::none
                            : dc                     ? Passing::walk
                                                     : Passing::look_back;
    const Side stretches = mapping.stretches(passing);
    MoreArguments given = job.arguments();
    given.run = mapping.run(passing);
    given.dc = dc.as<float>();
    if (passing == Passing::look_back)
        given.chain = chain_for(builder, (stretches * mapping.rows()).count * channels);
    cuda::KernelSource source = mapping.source("gradients.cu", "gradients", true);
    source.defines.push_back({"READS_DC", static_cast<bool>(dc)});
    builder.launch(with_access(std::move(info), job), {stretches * mapping.heads()}, source, given);
}

Buffer add_first_gradient_pass(cuda::PlanBuilder& builder, const CudaJob& job) {
    const Mapping mapping(job, builder);
    MoreArguments given = job.arguments();
    Buffer dc = builder.take("dc", job.carry.shape);
    given.dc = dc.as<float>();
    cuda::KernelSource source = mapping.source("gradients.cu", "first_gradient_pass", true);
    source.defines.push_back({"READS_DC", true});
    builder.launch(with_access(first_gradient_pass(job, dc), job),
                   {mapping.single_segments() * mapping.rows()}, source, given);
    return dc;
}

}  // namespace

const Passes& passes_on_tensor_cores() {
    static const Passes passes = {add_forward, add_second_pass, add_first_gradient_pass, add_gradients};
    return passes;
}

}  // namespace sawtooth::btp
