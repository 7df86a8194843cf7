#include "app/engine/machine/machine.h"

#include <algorithm>

namespace sawtooth {

void Machine::set_stop(std::stop_token stop) const {
    if (timer)
        timer->set_stop(std::move(stop));
    else
        pool->set_stop(std::move(stop));
}

Outcome<GpuTimer*> Gpus::open(int index, const std::string& kernels_directory, int jitter) {
    if (opened_ && opened_->index == index && opened_->kernels_directory == kernels_directory) {
        opened_->device->set_jitter(jitter);
        return opened_->timer.get();
    }
    if (const auto problem = gpu_problem()) return *problem;
    opened_.reset();
    auto device = cuda::Device::open(index, {cache_directory_, kernels_directory, jitter});
    if (!device) return device.error();
    auto timer = std::make_unique<GpuTimer>(**device);
    opened_ =
        std::make_unique<Opened>(Opened{index, kernels_directory, std::move(*device), std::move(timer)});
    return opened_->timer.get();
}

Outcome<cuda::Device*> Gpus::theory(const std::string& architecture, const std::string& kernels_directory) {
    if (theory_ && theory_->architecture == architecture && theory_->kernels_directory == kernels_directory)
        return theory_->device.get();
    if (const auto version = cuda::compiler_version(); !version) return version.error();
    auto device = cuda::Device::theory(architecture, {cache_directory_, kernels_directory});
    if (!device) return device.error();
    theory_ = std::make_unique<Theory>(Theory{architecture, kernels_directory, std::move(*device)});
    return theory_->device.get();
}

Gpus::~Gpus() {
    if (opened_ && opened_->timer->abandoned()) leave_open();
}

std::optional<Error> gpu_problem() {
    if (const auto driver = cuda::find_driver(); !driver) return driver.error();
    if (const auto compiler = cuda::compiler_version(); !compiler) return compiler.error();
    return {};
}

std::optional<Error> cuda_form_problem(const Family& family) {
    const bool has_one = std::any_of(family.variants.begin(), family.variants.end(),
                                     [](const Variant& variant) { return variant.runs_on(Backend::cuda); });
    if (has_one) return {};
    return Error::failure("no variant of " + family.name + " has a CUDA implementation; use --backend cpu");
}

}  // namespace sawtooth
