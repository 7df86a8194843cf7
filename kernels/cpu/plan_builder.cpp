#include "kernels/cpu/plan_builder.h"

#include <cstring>

#include "kernels/cpu/half.h"

namespace sawtooth::cpu {
std::shared_ptr<const LaunchInfo> PlanBuilder::described(LaunchInfo info, const Side& items) {
    return std::make_shared<const LaunchInfo>(on_grid(std::move(info), {items.count, 1, 1}, items.formula));
}

void PlanBuilder::launch(LaunchInfo info, const Side& items, Split split, Work work,
                         std::function<void()> before) {
    if (error_) return;
    count_launches(1, bytes_a_launch);
    plan_.launches.push_back(
        {described(std::move(info), items),
         [count = items.count, split, work = std::move(work), before = std::move(before)](Queue& queue) {
             if (before) before();
             queue.pool->dispatch(count, split, work);
         }});
}

void PlanBuilder::launch_steps(LaunchInfo info, const Side& items, int64_t count,
                               std::function<void(int64_t step, const Item&)> work) {
    if (error_) return;
    count_launches(1, bytes_a_launch);
    count_launches(count, sizeof(Launch));
    if (plan_.dry) return;
    struct Steps {
        int64_t items;
        std::function<void(int64_t, const Item&)> work;
    };
    const Steps& steps = keep(Steps{items.count, std::move(work)});
    const auto shared = described(std::move(info), items);
    plan_.launches.reserve(plan_.launches.size() + static_cast<size_t>(count));
    for (int64_t step = 0; step < count; ++step)
        plan_.launches.push_back({shared, [&steps, step](Queue& queue) {
                                      queue.pool->dispatch(steps.items, Split::contiguous,
                                                           [&](const Item& item) { steps.work(step, item); });
                                  }});
}

std::shared_ptr<void> PlanBuilder::allocate(int64_t bytes, bool zeroed) {
    // Bytes of ones are a NaN in every float: a kernel that reads what nothing wrote cannot be right by luck.
    const std::shared_ptr<std::byte[]> memory = arena_.take(bytes);
    std::memset(memory.get(), zeroed ? 0 : 0xFF, static_cast<size_t>(bytes));
    plan_.buffers.emplace_back(memory.get(), static_cast<size_t>(bytes));
    return {memory, memory.get()};
}

// f32 arrays are read in place.
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
