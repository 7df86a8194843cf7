// The variant fused. The forward pass is one launch for detectors and tables; the backward pass is one launch
// over items, a sort, and one launch over neurons. Where tables pass through shared memory in slices, choices
// of rows, sums of parts and slices of gradients are launches of their own.

#include <algorithm>

#include "kernels/core/passes.h"
#include "kernels/cuda/struct_bytes.h"
#include "kernels/lut/cuda/job.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

constexpr int64_t threads = 256;

// How tables pass through shared memory (slices.cuh). Detectors are split into parts, so that thread blocks,
// one per SM, fill the GPU.
struct Slices {
    static constexpr int64_t items = 1024, outputs = 32, threads = 512, slots = 4, most_rows = 256;
    static constexpr int64_t choose_threads = 1024;

    Slices(const CudaJob& job, const Chip& chip)
        : count(job.outputs / outputs),
          item_blocks(ceil_divide(job.batch, items)),
          choose_bytes(4 * std::max(33 * job.inputs, choose_threads / 32 * chunk * 36)),
          table_bytes(slots * (job.rows * outputs * 4 + items * int64_t{sizeof(RowChoice)} + 2 * 8)),
          gradient_bytes(table_bytes + chunk * items * 4) {
        for (int64_t more = 1; more <= std::min<int64_t>(8, job.detectors / chunk); more *= 2)
            if (use_of_gpu(more, chip) > use_of_gpu(parts, chip)) parts = more;
    }

    // The share of the time of all SMs in which thread blocks run.
    double use_of_gpu(int64_t of_parts, const Chip& chip) const {
        const int64_t blocks = item_blocks * count * of_parts,
                      rounds = ceil_divide(blocks, chip.multiprocessors);
        return static_cast<double>(blocks) / static_cast<double>(rounds * chip.multiprocessors);
    }

    // Whether there are so many items that this is faster than if each reads its rows from L2.
    bool gain(const CudaJob& job, const Chip& chip) const {
        const double filled = static_cast<double>(job.batch) / static_cast<double>(item_blocks * items);
        return chip.compute_capability >= 90 && !job.sparse && !job.integer && job.outputs % outputs == 0 &&
               job.rows <= most_rows && job.detectors % chunk == 0 &&
               std::max(choose_bytes, gradient_bytes) <= chip.shared_bytes_per_block &&
               filled * use_of_gpu(parts, chip) > 0.6;
    }

    int64_t count, item_blocks, parts = 1;
    // Shared memory of choose_rows.cu; SlicesShared of slices.cuh; Shared of detector_gradients.cu.
    int64_t choose_bytes, table_bytes, gradient_bytes;
};

class FusedLaunches {
  public:
    explicit FusedLaunches(cuda::PlanBuilder& builder)
        : builder_(builder),
          job_(builder),
          slices_(job_, builder.chip()),
          in_slices_(slices_.gain(job_, builder.chip())),
          given_(job_.given) {
        if (!in_slices_) return;
        given_.padded_items = slices_.item_blocks * Slices::items;
        choices_ = builder.take<RowChoice>("row_choices", {job_.detectors, given_.padded_items});
        given_.row_choices = choices_.as<RowChoice>();
        if (slices_.parts > 1) {
            sums_ = builder.take<float>("sums_of_parts", {slices_.parts, job_.batch, job_.outputs});
            given_.sums_of_parts = sums_.as<float>();
        }
        if (!job_.dx) return;
        gradients_ = builder.take<float>("gradient_slices", {slices_.count, job_.batch, job_.detectors});
        given_.gradient_slices = gradients_.as<float>();
    }

    void add_forward() {
        if (in_slices_)
            look_up_in_slices();
        else if (job_.sparse)
            look_up_sparse();
        else
            look_up_full();
    }

    void add_backward() {
        if (in_slices_)
            launch_slices(detector_gradients(job_, choices_, gradients_), "detector_gradients.cu",
                          slices_.gradient_bytes);
        cuda::KernelSource inputs = job_.source("input_gradients.cu", "input_gradients", threads);
        inputs.defines.push_back({"SLICES", in_slices_ ? slices_.count : 0});
        launch_with_rows(input_gradients(job_, gradients_), job_.inputs, inputs);

        const Sorted sorted = job_.take_sorted(builder_, "sorted_items", job_.batch);
        Arguments given = given_;
        given.sorted_rows = sorted.rows.as<int32_t>();
        given.sorted_items = sorted.items.as<int32_t>();
        cuda::KernelSource sort = job_.source("sort_by_neuron.cu", "sort_by_neuron", 512);
        sort.defines.push_back({"BITS", job_.anchors});
        builder_.launch(sort_by_neuron(job_, sorted), {side("T", job_.detectors)}, sort, given);
        add_weight_gradients(builder_, weight_gradients(job_, sorted), job_, given);
        finish_gradients(builder_, job_, {job_.dweights});
    }

  private:
    void look_up_in_slices() {
        cuda::KernelSource choose = job_.source("choose_rows.cu", "choose_rows", Slices::choose_threads);
        choose.shared_bytes = slices_.choose_bytes;
        choose.defines.push_back({"INPUTS", job_.inputs});
        builder_.launch(choose_rows(job_, choices_), {pieces("padded B", given_.padded_items, 32)}, choose,
                        given_);
        launch_slices(lut::look_up_in_slices(job_, choices_, sums_ ? sums_ : job_.y), "look_up_in_slices.cu",
                      slices_.table_bytes);
        if (!sums_) return;
        const cuda::KernelSource add{"kernels/lut/cuda/add_parts.cu",
                                     "add_parts",
                                     {{"PARTS", slices_.parts}, {"OUTPUTS", job_.outputs}},
                                     threads};
        builder_.launch(add_parts(job_, sums_),
                        {pieces("B outputs", job_.batch * job_.outputs, "(4 256)", 4 * threads)}, add,
                        given_);
    }

    // The entry point has the name of the launch.
    void launch_slices(LaunchInfo info, const char* file, int64_t shared_bytes) {
        cuda::KernelSource source = job_.source(file, info.name.c_str(), Slices::threads);
        source.shared_bytes = shared_bytes;
        source.defines.insert(source.defines.end(), {{"OUTPUTS", job_.outputs},
                                                     {"ITEMS", Slices::items},
                                                     {"SLICE", Slices::outputs},
                                                     {"SLOTS", Slices::slots},
                                                     {"PARTS", slices_.parts}});
        const SliceArguments given{
            builder_.tensor_map(job_.weights.address, Storage::f32, {job_.detectors, job_.rows, job_.outputs},
                                job_.rows, cuda::Boxes::plain),
            builder_.tensor_map(choices_.address, Storage::bf16,
                                {job_.detectors, given_.padded_items / 64, 64}, Slices::items / 64,
                                cuda::Boxes::plain),
            given_};
        builder_.launch(
            std::move(info),
            {{slices_.count * slices_.parts, "outputs / 32 parts"}, pieces("B", job_.batch, Slices::items)},
            source, given);
    }

    void look_up_sparse() {
        launch_with_rows(look_up(job_), job_.outputs,
                         job_.source("look_up_sparse.cu", "look_up_sparse", threads));
    }

    // Launches a thread block per item with rows of sums of `width` numbers.
    void launch_with_rows(LaunchInfo info, int64_t width, cuda::KernelSource source) {
        const Buffer rows = take_rows(builder_, job_, job_.batch, width, source);
        Arguments given = given_;
        given.scratch = rows.address;
        info.writes.push_back(rows);
        builder_.launch(std::move(info), {side("B", job_.batch)}, source, given);
    }

    // If there are few items, all threads of a block work on one item. Otherwise a block has several items,
    // which read the same tables at about the same time.
    void look_up_full() {
        const int64_t enough = 4 * builder_.chip().multiprocessors;
        int64_t items = threads / lanes_of(job_.outputs, threads);
        while (items > 1 && ceil_divide(job_.batch, items) < enough) items /= 2;
        cuda::KernelSource source = job_.source("look_up.cu", "look_up", threads);
        source.defines.push_back({"INPUTS", staged_inputs(items, job_.inputs)});
        source.defines.push_back({"ITEMS", items});
        add_groups(source, job_.outputs, items);
        builder_.launch(look_up(job_), {pieces("B", job_.batch, items)}, source, given_);
    }

    cuda::PlanBuilder& builder_;
    const CudaJob job_;
    const Slices slices_;
    const bool in_slices_;
    Arguments given_;
    Buffer choices_, sums_, gradients_;  // absent unless in slices, in several parts, with a backward pass
};

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, FusedLaunches>(request);
}

}  // namespace sawtooth::lut
