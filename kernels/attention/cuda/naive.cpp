#include "kernels/attention/cuda/job.h"
#include "kernels/attention/describe.h"
#include "kernels/attention/parts.h"

namespace sawtooth::attention {

Outcome<Plan> plan_naive_on_cuda(const PlanRequest& request) {
    constexpr int64_t edge = 64, threads = 256;
    cuda::PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = prepared_job(builder);
    const int64_t pairs = job.heads * job.length * job.length;
    NaiveArguments given = {};
    given.forward = job.forward();
    given.scores = builder.take<float>(pairs);
    if (job.dout) {
        given.score_gradients = builder.take<float>(pairs);
        given.dout = job.dout;
        given.delta = job.delta;
        given.dq1 = job.dq1, given.dq2 = job.dq2, given.dk1 = job.dk1, given.dk2 = job.dk2, given.dv = job.dv;
    }
    const auto launch = [&](LaunchInfo info, const Grid& grid) {
        const std::string entry = info.name;
        builder.launch(std::move(info), grid,
                       {.file = "kernels/attention/cuda/naive.cu",
                        .entry = entry,
                        .defines = {{"STORAGE", name_of(job.storage)},
                                    {"HEAD", job.d},
                                    {"CAUSAL", p.flag("causal") ? 1 : 0}},
                        .threads = threads},
                       given);
    };
    const Side tiles = pieces("N", job.length, edge), columns = pieces("D", job.d, edge),
               heads = side("Z H", job.heads);
    launch(describe::scores(request), {tiles, tiles, heads});
    launch(describe::softmax(request), {side("N", job.length), heads});
    launch(describe::values(request), {tiles, columns, heads});
    if (job.dout) {
        add_preprocess(builder, job);
        launch(describe::score_gradients(request), {tiles, tiles, heads});
        launch(describe::gradients_of_queries(request), {tiles, columns, heads});
        launch(describe::gradients_of_keys(request), {tiles, columns, heads});
        add_epilogue(builder, job);
    }
    return builder.finish();
}

}  // namespace sawtooth::attention
