#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/request.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

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
