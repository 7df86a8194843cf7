#include "kernels/attention/cuda/job.h"
#include "kernels/attention/launches.h"
#include "kernels/attention/parts.h"

namespace sawtooth::attention {

Outcome<Plan> plan_naive_on_cuda(const PlanRequest& request) {
    constexpr int64_t edge = 64, threads = 256;
    cuda::PlanBuilder builder(request);
    const CudaJob job = prepared_job(builder);
    const Shape pairs = {job.heads, job.query_count, job.length};
    const Buffer matrix = builder.take("scores", pairs);
    Buffer probabilities = matrix;
    probabilities.name = "probabilities";
    const Buffer ds = job.has_backward() ? builder.take("score gradients", pairs) : Buffer();
    Arguments given = job.arguments();
    given.scores = matrix.as<float>();
    given.score_gradients = ds.as<float>();
    const auto launch = [&](LaunchInfo info, const Grid& grid) {
        const std::string entry = info.name;
        builder.launch(
            std::move(info), grid,
            {.file = "kernels/attention/cuda/naive.cu",
             .entry = entry,
             .defines = job.with_rows(
                 {{"STORAGE", name_of(job.storage)}, {"HEAD", job.d}, {"CAUSAL", job.mask.causal}}),
             .threads = threads},
            given);
    };
    const Side keys = pieces("N", job.length, edge),
               queries = pieces(job.name_of_queries(), job.query_count, edge),
               columns = pieces("D", job.d, edge), heads = job.head_side();
    launch(scores(job, matrix), {queries, keys, heads});
    launch(softmax(job, matrix, probabilities), {side(job.name_of_queries(), job.query_count), heads});
    launch(values(job, probabilities), {queries, columns, heads});
    if (job.has_backward()) {
        add_preprocess(builder, job);
        launch(score_gradients(job, probabilities, ds), {queries, keys, heads});
        launch(gradients_of_queries(job, ds), {queries, columns, heads});
        launch(gradients_of_keys(job, probabilities, ds), {keys, columns, job.key_head_side()});
        add_epilogue(builder, job);
    }
    return builder.finish();
}

}  // namespace sawtooth::attention
