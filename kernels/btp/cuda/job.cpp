#include "kernels/btp/cuda/job.h"

#include "kernels/core/common_parameters.h"

namespace sawtooth::btp {

CudaJob::CudaJob(cuda::PlanBuilder& builder)
    : Sizes(builder.parameters()),
      order(order_of(builder.parameters())),
      storage(storage_named(builder.parameters().text("dtype"))) {
    a = builder.input("a", storage);
    u = builder.input("u", storage);
    x = builder.output("x", storage);
    carry = builder.output("carry");
    if (!runs_backward(builder.parameters())) return;
    dx = builder.input("dx", storage);
    du = builder.output("du", storage);
    da = builder.output("da");
}

cuda::Defines CudaJob::defines() const {
    constexpr const char* orders[] = {"one", "two", "full"};
    return {{"STORAGE", name_of(storage)},
            {"BLOCK", block},
            {"ORDER", orders[static_cast<size_t>(order)]},
            {"ALIGNED", is_aligned()}};
}

}  // namespace sawtooth::btp
