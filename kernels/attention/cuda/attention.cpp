#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/attention/describe.h"
#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "kernels/cuda/plan_builder.h"
#include "kernels/cuda/struct_bytes.h"

namespace sawtooth::attention {
namespace {

using cuda::PlanBuilder;
using cuda::StructBytes;

// The inputs of the kernels in the storage of the request.
struct CudaJob {
    int64_t heads = 0, length = 0, d = 0, window = 0;
    Storage storage = Storage::bf16;
    const void *q1 = nullptr, *q2 = nullptr, *k1 = nullptr, *k2 = nullptr, *v = nullptr;

    Shape vectors() const { return {heads, length, d}; }
};

void add_rotations(PlanBuilder& builder, CudaJob& job) {
    constexpr int64_t threads = 256, heads_a_block = 8;
    const int64_t numbers = job.heads * job.length * job.d, element = bytes_of(job.storage);
    const auto take = [&] { return static_cast<void*>(builder.take<std::byte>(numbers * element)); };
    RotationArguments given{builder.input("q", job.storage),
                            builder.input("k", job.storage),
                            take(),
                            take(),
                            take(),
                            job.heads,
                            job.length,
                            job.window};
    job.q1 = given.q1;
    job.q2 = given.q2;
    job.k1 = given.k1;
    job.k2 = given.k;
    LaunchInfo info = {.name = "prologue", .meaning = "Rotates queries and keys."};
    for (const char* name : {"q", "k"}) info.reads.push_back({name, job.vectors(), element});
    for (const char* name : {"q1", "q2", "k1"}) info.writes.push_back({name, job.vectors(), element});
    info.work.operations = 9 * static_cast<double>(numbers);
    builder.launch(
        std::move(info),
        {pieces("N D / 2", job.length * job.d / 2, threads), pieces("Z H", job.heads, heads_a_block)},
        {.file = "kernels/attention/cuda/prologue.cu",
         .entry = "rotate",
         .defines = {{"STORAGE", name_of(job.storage)}, {"HEAD", job.d}},
         .threads = threads},
        given);
}

CudaJob job_of(PlanBuilder& builder) {
    const Parameters& p = builder.parameters();
    CudaJob job;
    job.heads = p.integer("Z") * p.integer("H");
    job.length = p.integer("N");
    job.d = p.integer("D");
    job.window = p.integer("window");
    job.storage = storage_named(p.text("dtype"));
    if (p.is("form", "qkv")) {
        add_rotations(builder, job);
    } else {
        job.q1 = builder.input("q1", job.storage);
        job.q2 = builder.input("q2", job.storage);
        job.k1 = builder.input("k1", job.storage);
        job.k2 = builder.input("k2", job.storage);
    }
    job.v = builder.input("v", job.storage);
    return job;
}

}  // namespace

// `Shared` of streaming.cu.
int64_t forward_shared_bytes(const Parameters& p) {
    const int64_t block_n = p.integer("BLOCK_N"), stride = p.integer("D") + 8;
    const int64_t stage = StructBytes().array(3 * block_n * stride, 2, 2).total();
    return StructBytes()
        .array(2 * p.integer("BLOCK_M") * stride, 2, 16)
        .array(p.integer("stages"), stage, 2)
        .total();
}

Outcome<Plan> plan_streaming_on_cuda(const PlanRequest& request) {
    PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = job_of(builder);
    const ForwardArguments given{job.q1,
                                 job.q2,
                                 job.k1,
                                 job.k2,
                                 job.v,
                                 builder.output("o", job.storage),
                                 builder.output("lse"),
                                 job.length,
                                 job.window,
                                 static_cast<float>(p.real("scale"))};
    builder.launch(describe::forward(p),
                   {pieces("N", job.length, "BLOCK_M", p.integer("BLOCK_M")), side("Z H", job.heads)},
                   {.file = "kernels/attention/cuda/streaming.cu",
                    .entry = "forward",
                    .defines = {{"BLOCK_M", p.integer("BLOCK_M")},
                                {"BLOCK_N", p.integer("BLOCK_N")},
                                {"HEAD", job.d},
                                {"STAGES", p.integer("stages")},
                                {"PRECISION", name_of(job.storage)},
                                {"CAUSAL", p.flag("causal") ? 1 : 0}},
                    .threads = 32 * p.integer("warps"),
                    .shared_bytes = forward_shared_bytes(p)},
                   given);
    return builder.finish();
}

Outcome<Plan> plan_naive_on_cuda(const PlanRequest& request) {
    constexpr int64_t side = 64, threads = 256;
    PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = job_of(builder);
    const NaiveArguments given{job.q1,
                               job.q2,
                               job.k1,
                               job.k2,
                               job.v,
                               builder.take<float>(job.heads * job.length * job.length),
                               builder.output("o", job.storage),
                               builder.output("lse"),
                               job.length,
                               job.window,
                               static_cast<float>(p.real("scale"))};
    const auto source = [&](const char* entry) {
        return cuda::KernelSource{.file = "kernels/attention/cuda/naive.cu",
                                  .entry = entry,
                                  .defines = {{"STORAGE", name_of(job.storage)},
                                              {"HEAD", job.d},
                                              {"CAUSAL", p.flag("causal") ? 1 : 0}},
                                  .threads = threads};
    };
    const Side tiles = pieces("N", job.length, side), heads = sawtooth::side("Z H", job.heads);
    builder.launch(describe::scores(p), {tiles, tiles, heads}, source("scores"), given);
    builder.launch(describe::softmax(p), {sawtooth::side("N", job.length), heads}, source("softmax"), given);
    builder.launch(describe::values(p), {tiles, pieces("D", job.d, side), heads}, source("values"), given);
    return builder.finish();
}

}  // namespace sawtooth::attention
