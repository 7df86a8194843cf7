#pragma once

#include <functional>

#include "kernels/core/grid.h"
#include "kernels/core/plan_builder.h"
#include "kernels/cpu/pool.h"

namespace sawtooth::cpu {

// Makes the Plan of a variant on the CPU: every launch is one dispatch to the pool.
class PlanBuilder : public sawtooth::PlanBuilder {
  public:
    explicit PlanBuilder(const PlanRequest& request) : sawtooth::PlanBuilder(request) {}

    using Work = std::function<void(const Item&)>;
    // Adds a launch of work(item) for every item; `info` says the rest of what it is.
    void launch(LaunchInfo info, const Side& items, Work work) {
        launch(std::move(info), items, Split::contiguous, std::move(work));
    }
    // `before` (may be empty) is called before every run of it, by the thread that dispatches.
    void launch(LaunchInfo info, const Side& items, Split split, Work work,
                std::function<void()> before = {});

    // `count` launches that share one description: step s calls work(s, item) for every item. A launch a
    // token makes thousands of them; in a dry plan they are only counted.
    void launch_steps(LaunchInfo info, const Side& items, int64_t count,
                      std::function<void(int64_t step, const Item&)> work);

  private:
    static std::shared_ptr<const LaunchInfo> described(LaunchInfo info, const Side& items);
    std::shared_ptr<void> allocate(int64_t bytes, bool zeroed) override;
    const void* load(const Array& array, Storage storage) override;
    Fetch fetch() override;
};

}  // namespace sawtooth::cpu
