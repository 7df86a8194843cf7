#pragma once

#include <functional>

#include "kernels/core/grid.h"
#include "kernels/core/plan_builder.h"
#include "kernels/cpu/arena.h"
#include "kernels/cpu/pool.h"

namespace sawtooth::cpu {

// Builds the Plan of a variant on the CPU, where every launch is one dispatch to the pool.
class PlanBuilder : public sawtooth::PlanBuilder {
  public:
    static constexpr Backend backend = Backend::cpu;

    explicit PlanBuilder(const PlanRequest& request) : sawtooth::PlanBuilder(request) {}

    using Work = std::function<void(const Item&)>;
    // Adds a launch that calls work(item) for every item; `info` describes it.
    void launch(LaunchInfo info, const Side& items, Work work) {
        launch(std::move(info), items, Split::contiguous, std::move(work));
    }
    // The dispatching thread calls `before` (may be empty) before every run of the launch.
    void launch(LaunchInfo info, const Side& items, Split split, Work work,
                std::function<void()> before = {});

    // Adds `count` launches with one description; launch number s calls work(s, item) for every item. There
    // are thousands of them if a token is a launch; a dry plan only counts them.
    void launch_steps(LaunchInfo info, const Side& items, int64_t count,
                      std::function<void(int64_t step, const Item&)> work);

  private:
    std::shared_ptr<const LaunchInfo> described(LaunchInfo info, const Side& items);
    std::shared_ptr<void> allocate(int64_t bytes, bool zeroed) override;
    const void* load(const Array& array, Storage storage) override;
    Fetch fetch() override;
    Copy copy() const override;

    Arena arena_;
    int64_t scratch_bytes_ = 0;  // per worker, for the launch that needs most
};

}  // namespace sawtooth::cpu

namespace sawtooth {

// Returns the description of a launch whose workers need that much scratch.
inline LaunchInfo with_scratch(LaunchInfo info, int64_t bytes_of_worker) {
    info.scratch_bytes = bytes_of_worker;
    return info;
}

}  // namespace sawtooth
