#include "kernels/cuda/plan_builder.h"

#include <fmt/format.h>

#include "kernels/core/table.h"

namespace sawtooth::cuda {
namespace {

// The same on every chip since 3.0: CUDA C++ Programming Guide, "Technical Specifications".
constexpr Extent largest_grid = {2147483647, 65535, 65535};
constexpr Extent largest_block = {1024, 1024, 64};
constexpr int64_t most_threads = 1024;

bool fits(const Extent& extent, const Extent& largest) {
    return extent.x >= 1 && extent.y >= 1 && extent.z >= 1 && extent.x <= largest.x &&
           extent.y <= largest.y && extent.z <= largest.z;
}

std::string text_of(const Extent& extent) {
    return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z);
}

// Why the device would refuse the launch.
std::optional<Error> check_launch(const LaunchInfo& info, int64_t shared_bytes, const Chip& chip) {
    if (!fits(info.grid, largest_grid))
        return Error::failure(
            fmt::format("{}: a grid of {} thread blocks, where 1 x 1 x 1 to {} can be started; "
                        "choose another shape or tile size",
                        info.name, text_of(info.grid), text_of(largest_grid)));
    if (!fits(info.block, largest_block) || info.block.x * info.block.y * info.block.z > most_threads)
        return Error::failure(
            fmt::format("{}: {} threads a block, where at most {} in all and {} can be started; "
                        "choose a smaller tile",
                        info.name, text_of(info.block), most_threads, text_of(largest_block)));
    if (shared_bytes > chip.shared_bytes_per_block)
        return Error::failure(
            fmt::format("{}: {} of shared memory a block, where {} has {}; choose a smaller tile", info.name,
                        short_bytes(static_cast<double>(shared_bytes)), chip.name,
                        short_bytes(static_cast<double>(chip.shared_bytes_per_block))));
    return {};
}

}  // namespace

PlanBuilder::PlanBuilder(const PlanRequest& request) : device_(*request.device), compiles_(!request.dry) {
    plan_.dry = request.dry || !device_.present();
}

const Chip& PlanBuilder::chip() const { return device_.chip(); }

void* PlanBuilder::take_bytes(int64_t bytes) {
    if (error_) return nullptr;
    plan_.memory_bytes += bytes;
    if (plan_.dry) return nullptr;
    const auto memory = device_.allocate(bytes);
    if (!memory) {
        error_ = memory.error();
        return nullptr;
    }
    plan_.memory.push_back(*memory);
    return memory->get();
}

void* PlanBuilder::take_zeroed_bytes(int64_t bytes) {
    void* const memory = take_bytes(bytes);
    if (memory) error_ = device_.fill_zero(memory, bytes);
    return memory;
}

const void* PlanBuilder::input(const Array& array, Storage storage) {
    void* const memory = take_bytes(array.count() * bytes_of(storage, array.dtype));
    if (memory) error_ = store(device_, storage, array, memory);
    return memory;
}

void* PlanBuilder::output(std::string name, Dtype dtype, Shape shape, Storage storage) {
    void* const memory = take_bytes(count_of(shape) * bytes_of(storage, dtype));
    outputs_.push_back({Array{std::move(name), dtype, std::move(shape), nullptr}, storage, memory});
    return memory;
}

Kernel PlanBuilder::kernel(const Source& source, const std::string& entry) {
    Kernel named;
    named.entry = entry;
    if (error_ || !compiles_) return named;
    const auto kernel = device_.kernel(source, entry);
    if (kernel) return *kernel;
    error_ = kernel.error();
    return named;
}

void PlanBuilder::add(LaunchInfo info, const Kernel& kernel, Extent grid, Extent block, int64_t shared_bytes,
                      std::function<void(Queue&)> start) {
    if (error_) return;
    info.grid = grid;
    info.block = block;
    Resources resources = kernel.resources;
    resources.shared_bytes += shared_bytes;
    if (compiles_) info.resources = resources;
    error_ = check_launch(info, resources.shared_bytes, chip());
    plan_.launches.push_back({std::make_shared<LaunchInfo>(std::move(info)), std::move(start)});
}

Outcome<Plan> PlanBuilder::finish() {
    if (!error_ && !plan_.dry) error_ = device_.wait();
    if (error_) return *error_;
    plan_.outputs = [&device = device_, outputs = std::move(outputs_)]() -> Outcome<Arrays> {
        Arrays arrays;
        for (const Output& output : outputs) {
            const Array& like = output.array;
            Array array = Array::uninitialised(like.name, like.dtype, like.shape);
            if (const auto error = fetch(device, output.storage, output.memory, array)) return *error;
            arrays.push_back(std::move(array));
        }
        return arrays;
    };
    return std::move(plan_);
}

}  // namespace sawtooth::cuda
