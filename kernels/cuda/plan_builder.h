#pragma once

#include <functional>
#include <string>
#include <type_traits>

#include "kernels/core/grid.h"
#include "kernels/core/plan_builder.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/tensor_map.h"

namespace sawtooth::cuda {

// A kernel of a .cu file and the size of its thread blocks. `threads` and `shared_bytes` (dynamic shared
// memory) reach the kernel as the macros THREADS and SHARED_BYTES, which it checks against its structs by
// static_assert.
struct KernelSource {
    std::string file;   // "kernels/scan/cuda/blelloch.cu"
    std::string entry;  // "up_sweep"
    Defines defines = {};
    int64_t threads = 0;
    int64_t shared_bytes = 0;
};

// Builds the Plan of a variant on a GPU. Without a GPU memory is only counted; for a dry plan kernels are not
// compiled either. The device must outlive the plan.
class PlanBuilder : public sawtooth::PlanBuilder {
  public:
    static constexpr Backend backend = Backend::cuda;

    explicit PlanBuilder(const PlanRequest& request);

    const Chip& chip() const { return chip_; }

    // Makes a tensor map for the arguments of a kernel (tensor_map.h); empty in a plan that does not run.
    TensorMap tensor_map(const void* array, Storage storage, const Shape& shape, int64_t box_rows,
                         Boxes boxes = Boxes::swizzled);

    // Adds a launch. The kernel takes one plain struct, `arguments`, which is copied. Fills in grid, block
    // and resources of `info`. Failure: the device would refuse the launch (no or too many thread blocks or
    // threads, too much shared memory).
    template <class Arguments>
    void launch(LaunchInfo info, const Grid& grid, const KernelSource& source, const Arguments& arguments) {
        static_assert(std::is_trivially_copyable_v<Arguments>, "kernel arguments are one plain struct");
        const Ready* const ready = prepare(std::move(info), grid, source);
        if (!ready) return;
        plan_.launches.push_back(
            {ready->info, [ready, arguments](Queue& queue) { ready->start(queue, &arguments); }});
    }

    // Adds `count` launches with one description; launch number s gets arguments_of(s), computed when it
    // starts. There are thousands of them if a token is a launch; a dry plan has one.
    template <class ArgumentsOf>
    void launch_steps(LaunchInfo info, const Grid& grid, const KernelSource& source, int64_t count,
                      ArgumentsOf arguments_of) {
        static_assert(std::is_trivially_copyable_v<std::invoke_result_t<ArgumentsOf, int64_t>>,
                      "kernel arguments are one plain struct");
        const Ready* const ready = prepare(std::move(info), grid, source);
        if (!ready) return;
        count_launches(count, sizeof(Launch));
        if (!compiles_) count = 1;
        plan_.launches.reserve(plan_.launches.size() + static_cast<size_t>(count));
        const auto& steps = keep(Steps<ArgumentsOf>{*ready, std::move(arguments_of)});
        for (int64_t step = 0; step < count; ++step)
            plan_.launches.push_back({ready->info, [&steps, step](Queue& queue) {
                                          const auto arguments = steps.arguments_of(step);
                                          steps.ready.start(queue, &arguments);
                                      }});
    }

  private:
    // A kernel and everything else that a launch needs, except the arguments.
    struct Ready {
        std::shared_ptr<const LaunchInfo> info;
        Kernel kernel;
        int64_t shared_bytes;  // dynamic

        void start(Queue& queue, const void* arguments) const;
    };
    template <class ArgumentsOf>
    struct Steps {
        Ready ready;
        ArgumentsOf arguments_of;
    };
    // Compiles the kernel; null after a failure. The result lives as long as the plan.
    const Ready* prepare(LaunchInfo info, const Grid& grid, const KernelSource& source);
    // Adds the kernel to those of a dry plan.
    void note(const KernelSource& source);

    std::shared_ptr<void> allocate(int64_t bytes, bool zeroed) override;
    const void* load(const Array& array, Storage storage) override;
    Fetch fetch() override;
    Copy copy() const override;

    Device& device_;
    Chip chip_;
    bool compiles_;  // false for a dry plan, which must be fast
};

}  // namespace sawtooth::cuda
