#pragma once

#include "kernels/btp/cuda/job.h"

namespace sawtooth::btp {

// The launches of two_pass and fused on CUDA. Tensor cores take blocks of some lengths, CUDA cores all
// others.
struct Passes {
    // fused, or the first pass of two launches, which leaves carries to the second.
    void (*add_forward)(cuda::PlanBuilder&, const CudaJob&, bool adds_carries, LaunchInfo);
    void (*add_second_pass)(cuda::PlanBuilder&, const CudaJob&);
    // Returns the gradients of the carries, from each block alone.
    Buffer (*add_first_gradient_pass)(cuda::PlanBuilder&, const CudaJob&);
    // Computes gradients of gates and inputs. `dc` holds the gradients of the carries from a first launch; it
    // is absent if this launch finds them itself.
    void (*add_gradients)(cuda::PlanBuilder&, const CudaJob&, LaunchInfo, const Buffer& dc);
};
const Passes& passes_on_tensor_cores();
const Passes& passes_on_cuda_cores();

// Takes the memory of a look-back that publishes so many links.
inline Chain chain_for(cuda::PlanBuilder& builder, int64_t links) {
    constexpr int64_t link_bytes = 16;  // a flag and a link (device/lookback.cuh)
    return {builder.take_zeroed<unsigned long long>(1), builder.take_zeroed<std::byte>(links * link_bytes)};
}

inline cuda::Define construction_define(const Parameters& parameters) {
    const std::string& construction = parameters.text("construction");
    return {"CONSTRUCTION", construction == "double" ? "in_double" : construction};
}

}  // namespace sawtooth::btp
