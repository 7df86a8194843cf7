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

// What the variants run on the device, for Device::compile_together: plans ask for one kernel after another.
// Leaves out variants that cannot run.
std::vector<PlannedKernel> planned_kernels(const Configuration& configuration, const Arrays& inputs,
                                           bool stores_extras, cuda::Device& device,
                                           const std::stop_token& stop);

// Which kernels a Request runs on a GPU, found by dry plans: nothing is compiled.
class PlannedKernels {
  public:
    explicit PlannedKernels(const Chip& chip);

    // Of a Request for one variant: "FILE ENTRY DEFINE=VALUE …", each once. Empty for the CPU, a chip that is
    // not known, and a Request that cannot run.
    std::vector<std::string> of(const Family& family, const Variant& variant, const Request& request) const;

  private:
    std::unique_ptr<cuda::Device> device_;
};

}  // namespace sawtooth
