#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/run/configure.h"
#include "kernels/core/family.h"
#include "kernels/core/request.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

// The kernels that the variants run on the device, for Device::compile_together; a plan alone asks for one
// kernel after another. Variants that cannot run are left out.
std::vector<PlannedKernel> planned_kernels(const Configuration& configuration, const Arrays& inputs,
                                           bool stores_extras, cuda::Device& device,
                                           const std::stop_token& stop);

// Finds the kernels that a Request runs on a GPU by dry plans, which compile nothing.
class PlannedKernels {
  public:
    explicit PlannedKernels(const Chip& chip);

    // The kernels of a Request for one variant, each once: "FILE ENTRY DEFINE=VALUE …". Empty for the CPU,
    // for an unknown chip, and for a Request that cannot run.
    std::vector<std::string> of(const Family& family, const Variant& variant, const Request& request) const;
    // Whether the number of multiprocessors in the Request changes a kernel or a grid.
    bool depends_on_multiprocessors(const Family& family, const Variant& variant,
                                    const Request& request) const;

  private:
    Outcome<Plan> dry_plan(const Family& family, const Variant& variant, const Request& request) const;

    std::unique_ptr<cuda::Device> device_;
};

}  // namespace sawtooth
