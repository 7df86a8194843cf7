#include "kernels/cuda/occupancy.h"

#include <cuda_occupancy.h>

namespace sawtooth::cuda {
namespace {

constexpr int warp = 32;
constexpr int most_threads_per_block = 1024;           // maximum of every chip since 2.0
constexpr size_t shared_without_opting_in = 48 << 10;  // of every chip since 7.0

cudaOccDeviceProp properties_of(const Chip& chip) {
    cudaOccDeviceProp properties;
    properties.computeMajor = chip.compute_capability / 10;
    properties.computeMinor = chip.compute_capability % 10;
    properties.maxThreadsPerBlock = most_threads_per_block;
    properties.maxThreadsPerMultiprocessor = chip.threads_per_multiprocessor;
    properties.regsPerBlock = chip.registers_per_multiprocessor;
    properties.regsPerMultiprocessor = chip.registers_per_multiprocessor;
    properties.warpSize = warp;
    properties.sharedMemPerBlock = shared_without_opting_in;
    properties.sharedMemPerMultiprocessor = static_cast<size_t>(chip.shared_bytes_per_multiprocessor);
    properties.numSms = chip.multiprocessors;
    properties.sharedMemPerBlockOptin = static_cast<size_t>(chip.shared_bytes_per_block);
    properties.reservedSharedMemPerBlock = reserved_shared_bytes;
    return properties;
}

// Static and dynamic shared memory count alike, so all of it is passed as dynamic.
cudaOccFuncAttributes attributes_of(const Resources& resources) {
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = most_threads_per_block;
    attributes.numRegs = resources.registers;
    attributes.sharedSizeBytes = 0;
    attributes.numBlockBarriers = resources.barriers;
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = static_cast<size_t>(resources.shared_bytes);
    return attributes;
}

// Names the limit. If several are equal, warps come first: occupancy is then the maximum for this block size.
// `limitingFactors` would do, but it keeps those that barriers go below.
std::string limiter_of(const cudaOccResult& result) {
    const int blocks = result.activeBlocksPerMultiprocessor;
    if (result.blockLimitWarps == blocks) return "warps";
    if (result.blockLimitRegs == blocks) return "registers";
    if (result.blockLimitSharedMem == blocks) return "shared memory";
    if (result.blockLimitBarriers == blocks) return "barriers";
    return "blocks";
}

}  // namespace

Occupancy theoretical_occupancy(const Chip& chip, int64_t threads_per_block, const Resources& resources) {
    const cudaOccDeviceProp properties = properties_of(chip);
    const cudaOccFuncAttributes attributes = attributes_of(resources);
    const cudaOccDeviceState state;
    cudaOccResult result = {};
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &properties, &attributes, &state, static_cast<int>(threads_per_block),
        static_cast<size_t>(resources.shared_bytes));
    if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE) return {};  // newer than the toolkit used for the build
    if (error != CUDA_OCC_SUCCESS || result.activeBlocksPerMultiprocessor == 0)
        return {0, {}, "does not fit"};
    const int64_t warps_a_block = (threads_per_block + warp - 1) / warp;
    const int64_t warps = result.activeBlocksPerMultiprocessor * warps_a_block;
    const int64_t most_warps = chip.threads_per_multiprocessor / warp;
    return {static_cast<double>(warps) / static_cast<double>(most_warps),
            {},
            limiter_of(result),
            result.activeBlocksPerMultiprocessor};
}

}  // namespace sawtooth::cuda
