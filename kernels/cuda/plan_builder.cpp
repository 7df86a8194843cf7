#include "kernels/cuda/plan_builder.h"

#include <fmt/format.h>

#include <cstdlib>

#include "kernels/core/table.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/storage.h"

namespace sawtooth::cuda {
namespace {

// Limits of every chip since 3.0 (CUDA C++ Programming Guide, "Technical Specifications").
constexpr Extent largest_grid = {2147483647, 65535, 65535};
constexpr int64_t most_threads = 1024;

bool fits(const Extent& extent, const Extent& largest) {
    return extent.x >= 1 && extent.y >= 1 && extent.z >= 1 && extent.x <= largest.x &&
           extent.y <= largest.y && extent.z <= largest.z;
}

std::string text_of(const Extent& extent) {
    return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z);
}

// Returns why the device would refuse the launch; absent if it would not.
std::optional<Error> check_launch(const LaunchInfo& info, int64_t shared_bytes, const Chip& chip) {
    if (!fits(info.grid, largest_grid))
        return Error::failure(
            fmt::format("{}: a grid of {} thread blocks is out of range (1 x 1 x 1 to {}); choose another "
                        "shape or tile size",
                        info.name, text_of(info.grid), text_of(largest_grid)));
    if (info.block.x < 1 || info.block.x > most_threads)
        return Error::failure(
            fmt::format("{}: {} threads per block is out of range (1 to {}); choose a smaller tile",
                        info.name, info.block.x, most_threads));
    if (shared_bytes > chip.shared_bytes_per_block)
        return Error::failure(
            fmt::format("{} needs {} of shared memory per block; {} has {}; choose a smaller tile", info.name,
                        short_bytes(static_cast<double>(shared_bytes)), chip.name,
                        short_bytes(static_cast<double>(chip.shared_bytes_per_block))));
    return {};
}

Defines defines_of(const KernelSource& source) {
    Defines defines = source.defines;
    defines.emplace_back("THREADS", source.threads);
    defines.emplace_back("SHARED_BYTES", source.shared_bytes);
    return defines;
}

}  // namespace

PlanBuilder::PlanBuilder(const PlanRequest& request)
    : sawtooth::PlanBuilder(request),
      device_(*request.device),
      chip_(planned_chip(device_.chip(), request.multiprocessors)),
      compiles_(!request.dry) {
    plan_.dry = request.dry || !device_.present();
}

std::shared_ptr<void> PlanBuilder::allocate(int64_t bytes, bool zeroed) {
    auto memory = device_.allocate(bytes);
    if (!memory) {
        fail(memory.error());
        return nullptr;
    }
    // Bytes of 0xFF make every float a NaN, so that a kernel that reads memory that nothing has written
    // cannot be right by luck. SAWTOOTH_UNFILLED turns it off for initcheck of compute-sanitizer, which a
    // fill would blind.
    static const bool poisons = !std::getenv("SAWTOOTH_UNFILLED");
    if (!zeroed && !poisons) return *memory;
    if (auto error = device_.fill(memory->get(), bytes, zeroed ? 0 : 0xFF)) fail(std::move(*error));
    return *memory;
}

const void* PlanBuilder::load(const Array& array, Storage storage) {
    void* const memory = take_bytes(array.count() * bytes_of(storage, array.dtype), false);
    if (plan_.dry || !memory) return memory;
    if (auto error = store(device_, storage, array, memory)) fail(std::move(*error));
    return memory;
}

PlanBuilder::Fetch PlanBuilder::fetch() {
    if (!plan_.dry)
        if (auto error = device_.wait()) fail(std::move(*error));
    return [&device = device_](const Output& output) -> Outcome<Array> {
        Array array = output.like;
        array.data = sawtooth::allocate(array.bytes());
        if (auto error = cuda::fetch(device, output.storage, output.memory.get(), array)) return *error;
        return array;
    };
}

PlanBuilder::Copy PlanBuilder::copy() const {
    return [](Queue& queue, void* to, const void* from, int64_t bytes) {
        const auto calls = driver();
        const auto device = [](const void* at) { return reinterpret_cast<CUdeviceptr>(at); };
        const CUresult result =
            (*calls)->cuMemcpyDtoDAsync(device(to), device(from), static_cast<size_t>(bytes), queue.stream);
        if (result != CUDA_SUCCESS) queue.error = driver_error("cuMemcpyDtoDAsync", result).text;
    };
}

TensorMap PlanBuilder::tensor_map(const void* array, Storage storage, const Shape& shape, int64_t box_rows,
                                  Boxes boxes) {
    if (dry() || failed()) return {};
    auto map = cuda::tensor_map(array, storage, shape, box_rows, boxes);
    if (map) return *map;
    fail(map.error());
    return {};
}

const PlanBuilder::Ready* PlanBuilder::prepare(LaunchInfo info, const Grid& grid,
                                               const KernelSource& source) {
    if (!goes_on()) return nullptr;
    count_launches(1, bytes_a_launch);
    Kernel kernel;
    kernel.entry = source.entry;
    if (compiles_) {
        auto made = device_.kernel({source.file, defines_of(source)}, source.entry, request().stop);
        if (!made) {
            fail(made.error());
            return nullptr;
        }
        kernel = std::move(*made);
    } else {
        note(source);
    }
    info = on_grid(std::move(info), grid.extent(), grid.formula());
    info.block = {source.threads, 1, 1};
    Resources resources = kernel.resources;
    resources.shared_bytes += source.shared_bytes;
    if (compiles_) info.resources = resources;
    if (auto refused = check_launch(info, resources.shared_bytes, chip())) {
        fail(std::move(*refused));
        return nullptr;
    }
    return &keep(
        Ready{std::make_shared<const LaunchInfo>(std::move(info)), std::move(kernel), source.shared_bytes});
}

void PlanBuilder::note(const KernelSource& source) {
    PlannedKernel kernel{source.file, source.entry, {}};
    for (const Define& define : defines_of(source)) kernel.defines.emplace_back(define.name, define.value);
    auto& all = plan_.kernels;
    if (std::find(all.begin(), all.end(), kernel) == all.end()) all.push_back(std::move(kernel));
}

void PlanBuilder::Ready::start(Queue& queue, const void* arguments) const {
    void* pointers[] = {const_cast<void*>(arguments)};  // the driver only reads them
    cuda::launch(queue, kernel, info->grid, info->block, shared_bytes, pointers);
}

}  // namespace sawtooth::cuda
