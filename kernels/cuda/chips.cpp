#include "kernels/cuda/chips.h"

namespace sawtooth::cuda {
namespace {

constexpr int64_t kibibyte = 1 << 10, mebibyte = 1 << 20, gibibyte = 1 << 30;

// The limits fixed by a compute capability: CUDA C++ Programming Guide, "Compute Capabilities", tables
// "Technical Specifications" and "Memory Information per Compute Capability". A thread block can have 1 KiB
// less shared memory than an SM holds, because the system reserves 1 KiB per block. All chips have 64 Ki
// registers per SM.
struct Capability {
    int number;
    int threads, blocks;  // resident per SM
    int64_t shared_kibibytes;
};
constexpr Capability sm_80{80, 2048, 32, 164};
constexpr Capability sm_86{86, 1536, 16, 100};
constexpr Capability sm_89{89, 1536, 24, 100};
constexpr Capability sm_90{90, 2048, 32, 228};
constexpr Capability sm_100{100, 2048, 32, 228};
constexpr Capability sm_120{120, 1536, 24, 100};

Chip chip(std::string architecture, const Capability& limits, std::string name, int multiprocessors,
          int64_t l2_bytes, int64_t memory_bytes) {
    Chip chip;
    chip.backend = Backend::cuda;
    chip.name = std::move(name);
    chip.architecture = std::move(architecture);
    chip.multiprocessors = multiprocessors;
    chip.shared_bytes_per_block = (limits.shared_kibibytes - 1) * kibibyte;
    chip.memory_bytes = memory_bytes;
    chip.compute_capability = limits.number;
    chip.threads_per_multiprocessor = limits.threads;
    chip.blocks_per_multiprocessor = limits.blocks;
    chip.registers_per_multiprocessor = 64 * 1024;
    chip.shared_bytes_per_multiprocessor = limits.shared_kibibytes * kibibyte;
    chip.l2_bytes = l2_bytes;
    return chip;
}

// Returns "sm_90" for "sm_90a": a letter stands for features, not for another chip.
std::string_view without_letter(std::string_view architecture) {
    while (!architecture.empty() && (architecture.back() < '0' || architecture.back() > '9'))
        architecture.remove_suffix(1);
    return architecture;
}

}  // namespace

const std::vector<Chip>& known_chips() {
    // One product per architecture. SMs, L2 and memory are from the vendor's white paper or data sheet that
    // is named above it.
    static const std::vector<Chip> chips = {
        // NVIDIA A100 Tensor Core GPU Architecture
        chip("sm_80", sm_80, "NVIDIA A100-SXM4-80GB", 108, 40 * mebibyte, 80 * gibibyte),
        // NVIDIA Ampere GA102 GPU Architecture
        chip("sm_86", sm_86, "NVIDIA GeForce RTX 3090", 82, 6 * mebibyte, 24 * gibibyte),
        // NVIDIA Ada GPU Architecture
        chip("sm_89", sm_89, "NVIDIA GeForce RTX 4090", 128, 72 * mebibyte, 24 * gibibyte),
        // NVIDIA H100 Tensor Core GPU Architecture
        chip("sm_90a", sm_90, "NVIDIA H100 80GB HBM3", 132, 50 * mebibyte, 80 * gibibyte),
        // NVIDIA DGX B200 data sheet (memory); SMs and L2 as the driver reports them
        chip("sm_100", sm_100, "NVIDIA B200", 148, 126 * mebibyte, 180 * gibibyte),
        // NVIDIA RTX Blackwell GPU Architecture
        chip("sm_120", sm_120, "NVIDIA GeForce RTX 5090", 170, 96 * mebibyte, 32 * gibibyte),
    };
    return chips;
}

Outcome<Chip> chip_of(std::string_view architecture) {
    std::string known;
    for (const Chip& chip : known_chips()) {
        if (architecture == chip.architecture || architecture == without_letter(chip.architecture))
            return chip;
        known += (known.empty() ? "" : ", ") + chip.architecture;
    }
    return Error::usage(Refusal{"arch", std::string(architecture), "one of " + known});
}

}  // namespace sawtooth::cuda
