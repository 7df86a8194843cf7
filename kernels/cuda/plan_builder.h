#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/storage.h"

namespace sawtooth::cuda {

// Makes the Plan of a CUDA variant. The first failure is kept, all calls after it do nothing, and `finish`
// returns it, so that a variant reads as a list of what it takes and starts. Without a GPU memory is only
// counted; in a dry plan kernels are not compiled either. The plan uses the device for as long as it lives.
class PlanBuilder {
  public:
    explicit PlanBuilder(const PlanRequest& request);

    const Chip& chip() const;

    template <class T>
    T* take(int64_t count) {  // device memory, uninitialised
        return static_cast<T*>(take_bytes(count * static_cast<int64_t>(sizeof(T))));
    }
    // Device memory that is zero when the plan is made and never after: for flags that carry an epoch.
    template <class T>
    T* take_zeroed(int64_t count) {
        return static_cast<T*>(take_zeroed_bytes(count * static_cast<int64_t>(sizeof(T))));
    }
    // An input, copied to the device and narrowed there.
    const void* input(const Array& array, Storage storage = Storage::as_is);
    // An output; widened to the array's dtype when it is handed over.
    void* output(std::string name, Dtype dtype, Shape shape, Storage storage = Storage::as_is);

    // An entry of a .cu file with the macros of its tiling; an empty Kernel after a failure.
    Kernel kernel(const Source& source, const std::string& entry);

    // Adds a launch. The arguments are copied and must be of the very types that the kernel declares. Grid,
    // block and resources of `info` are filled in; `shared_bytes` is the dynamic shared memory. What the
    // device would refuse is a failure: no or too many thread blocks or threads, too much shared memory.
    template <class... Arguments>
    void launch(LaunchInfo info, const Kernel& kernel, Extent grid, Extent block, int64_t shared_bytes,
                Arguments... arguments) {
        add(std::move(info), kernel, grid, block, shared_bytes,
            starter(kernel, grid, block, shared_bytes, arguments...));
    }

    // The last launch once more, with other arguments: both share one info, as a launch a token makes
    // thousands of them.
    template <class... Arguments>
    void launch_again(const Kernel& kernel, int64_t shared_bytes, Arguments... arguments) {
        if (error_) return;
        const std::shared_ptr<const LaunchInfo> info = plan_.launches.back().info;
        plan_.launches.push_back(
            {info, starter(kernel, info->grid, info->block, shared_bytes, arguments...)});
    }
    // How the plan's launches follow one another.
    void follow(Follow how) { plan_.follow = how; }

    Outcome<Plan> finish();

  private:
    template <class... Arguments>
    static std::function<void(Queue&)> starter(const Kernel& kernel, Extent grid, Extent block,
                                               int64_t shared_bytes, Arguments... arguments) {
        return
            [kernel, grid, block, shared_bytes, held = std::tuple<Arguments...>(arguments...)](Queue& queue) {
                std::apply(
                    [&](auto... values) {
                        void* pointers[] = {static_cast<void*>(&values)..., nullptr};  // never empty
                        cuda::launch(queue, kernel, grid, block, shared_bytes, pointers);
                    },
                    held);
            };
    }

    struct Output {
        Array array;  // without data
        Storage storage;
        const void* memory;
    };
    void* take_bytes(int64_t bytes);
    void* take_zeroed_bytes(int64_t bytes);
    void add(LaunchInfo info, const Kernel& kernel, Extent grid, Extent block, int64_t shared_bytes,
             std::function<void(Queue&)> start);

    Device& device_;
    bool compiles_;  // not in a dry plan, which must be quick
    Plan plan_;      // dry without a GPU too
    std::vector<Output> outputs_;
    std::optional<Error> error_;
};

}  // namespace sawtooth::cuda
