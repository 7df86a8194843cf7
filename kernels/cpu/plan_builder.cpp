#include "kernels/cpu/plan_builder.h"

#include <algorithm>
#include <cstring>

#include "kernels/core/integers.h"
#include "kernels/cpu/half.h"

namespace sawtooth::cpu {

std::shared_ptr<const LaunchInfo> PlanBuilder::described(LaunchInfo info, const Side& items) {
    const int64_t more = std::max<int64_t>(info.scratch_bytes - scratch_bytes_, 0);
    scratch_bytes_ += more;
    plan_.memory_bytes = saturating_add(plan_.memory_bytes, saturating_multiply(more, request().workers));
    return std::make_shared<const LaunchInfo>(on_grid(std::move(info), {items.count, 1, 1}, items.formula));
}

void PlanBuilder::launch(LaunchInfo info, const Side& items, Split split, Work work,
                         std::function<void()> before) {
    if (error_) return;
    count_launches(1, bytes_a_launch);
    const auto shared = described(std::move(info), items);
    plan_.launches.push_back({shared, [count = items.count, scratch = shared->scratch_bytes, split,
                                       work = std::move(work), before = std::move(before)](Queue& queue) {
                                  if (before) before();
                                  queue.pool->dispatch(count, split, work, scratch);
                              }});
}

void PlanBuilder::launch_steps(LaunchInfo info, const Side& items, int64_t count,
                               std::function<void(int64_t step, const Item&)> work) {
    if (error_) return;
    count_launches(1, bytes_a_launch);
    count_launches(count, sizeof(Launch));
    const auto shared = described(std::move(info), items);
    if (plan_.dry) return;
    struct Steps {
        int64_t items, scratch_bytes;
        std::function<void(int64_t, const Item&)> work;
    };
    const Steps& steps = keep(Steps{items.count, shared->scratch_bytes, std::move(work)});
    plan_.launches.reserve(plan_.launches.size() + static_cast<size_t>(count));
    for (int64_t step = 0; step < count; ++step)
        plan_.launches.push_back({shared, [&steps, step](Queue& queue) {
                                      queue.pool->dispatch(
                                          steps.items, Split::contiguous,
                                          [&](const Item& item) { steps.work(step, item); },
                                          steps.scratch_bytes);
                                  }});
}

std::shared_ptr<void> PlanBuilder::allocate(int64_t bytes, bool zeroed) {
    // Bytes of 0xFF make every float a NaN, so that a kernel that reads memory that nothing has written
    // cannot be right by luck.
    const std::shared_ptr<std::byte[]> memory = arena_.take(bytes);
    std::memset(memory.get(), zeroed ? 0 : 0xFF, static_cast<size_t>(bytes));
    plan_.buffers.emplace_back(memory.get(), static_cast<size_t>(bytes));
    return {memory, memory.get()};
}

// Returns the address of an input. f32 arrays are read in place, others are converted to a copy.
const void* PlanBuilder::load(const Array& array, Storage storage) {
    if (storage != Storage::f32) {
        auto* const narrowed = static_cast<uint16_t*>(take_bytes(2 * array.count(), false));
        if (!plan_.dry) narrow(storage, array.as<float>().data(), narrowed, array.count());
        return narrowed;
    }
    if (plan_.dry) return take_bytes(array.bytes(), false);
    plan_.memory_bytes += array.bytes();
    plan_.memory.push_back(array.data);
    plan_.buffers.emplace_back(array.data.get(), static_cast<size_t>(array.bytes()));
    return array.data.get();
}

PlanBuilder::Copy PlanBuilder::copy() const {
    return [](Queue&, void* to, const void* from, int64_t bytes) {
        std::memcpy(to, from, static_cast<size_t>(bytes));
    };
}

PlanBuilder::Fetch PlanBuilder::fetch() {
    return [](const Output& output) -> Outcome<Array> {
        Array array = output.like;
        if (output.storage == Storage::f32) {
            array.data = {output.memory, static_cast<std::byte*>(output.memory.get())};
            return array;
        }
        array.data = sawtooth::allocate(array.bytes());
        widen(output.storage, static_cast<const uint16_t*>(output.memory.get()), array.as<float>().data(),
              array.count());
        return array;
    };
}

}  // namespace sawtooth::cpu
