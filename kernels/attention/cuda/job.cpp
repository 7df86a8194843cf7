#include "kernels/attention/cuda/job.h"

#include "kernels/attention/describe.h"
#include "kernels/core/common_parameters.h"

namespace sawtooth::attention {
namespace {

// A thread turns one pair of numbers at one position, for several heads.
template <class Arguments>
void add_rotations(cuda::PlanBuilder& builder, LaunchInfo info, const CudaJob& job, const char* entry,
                   const Arguments& given) {
    constexpr int64_t threads = 256, heads_a_block = 8;
    builder.launch(
        std::move(info),
        {pieces("N D / 2", job.length * job.d / 2, threads), pieces("Z H", job.heads, heads_a_block)},
        {.file = "kernels/attention/cuda/prologue.cu",
         .entry = entry,
         .defines = {{"STORAGE", name_of(job.storage)}, {"HEAD", job.d}},
         .threads = threads},
        given);
}

void add_prologue(cuda::PlanBuilder& builder, CudaJob& job) {
    const int64_t numbers = job.heads * job.length * job.d, element = bytes_of(job.storage);
    const auto take = [&] { return static_cast<void*>(builder.take<std::byte>(numbers * element)); };
    const RotationArguments given{builder.input("q", job.storage),
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
    add_rotations(builder, std::move(info), job, "rotate", given);
}

}  // namespace

CudaJob prepared_job(cuda::PlanBuilder& builder) {
    const Parameters& p = builder.parameters();
    CudaJob job;
    job.heads = p.integer("Z") * p.integer("H");
    job.length = p.integer("N");
    job.d = p.integer("D");
    job.window = p.integer("window");
    job.storage = storage_named(p.text("dtype"));
    job.scale = static_cast<float>(p.real("scale"));
    job.o = builder.output("o", job.storage);
    job.take(builder);
    if (p.is("form", "qkv")) {
        add_prologue(builder, job);
    } else {
        job.q1 = builder.input("q1", job.storage);
        job.q2 = builder.input("q2", job.storage);
        job.k1 = builder.input("k1", job.storage);
        job.k2 = builder.input("k2", job.storage);
    }
    job.v = builder.input("v", job.storage);
    if (runs_backward(p)) job.dout = builder.input("do", job.storage);
    return job;
}

void add_preprocess(cuda::PlanBuilder& builder, const CudaJob& job) {
    const Parameters& p = builder.parameters();
    const int64_t block = p.integer("BLOCK_M");
    builder.launch(describe::preprocess(builder.request()),
                   {pieces("N", job.length, "BLOCK_M", block), side("Z H", job.heads)},
                   {.file = "kernels/attention/cuda/preprocess.cu",
                    .entry = "preprocess",
                    .defines = {{"STORAGE", name_of(job.storage)}, {"HEAD", job.d}, {"BLOCK_M", block}},
                    .threads = 32 * p.integer("warps_backward")},
                   PreprocessArguments{job.o, job.dout, job.delta, job.length});
}

void add_epilogue(cuda::PlanBuilder& builder, const CudaJob& job) {
    if (!job.dq) return;
    add_rotations(builder, describe::rotate_back(builder.request()), job, "rotate_back",
                  RotationBackArguments{job.dq1, job.dq2, job.dk1, job.dk2, job.dq, job.dk, job.heads,
                                        job.length, job.window});
}

}  // namespace sawtooth::attention
