#include "app/engine/sources/sources.h"

namespace sawtooth {

bool Sources::is_here(const Request& request) const {
    if (!request.recording.empty()) return true;
    const bool needs_kernels = request.backend != BackendChoice::cpu || !request.arch.empty();
    return request.on.empty() && !(needs_kernels && isolated_ == Isolated::kernels);
}

Source& Sources::of(const Request& request) {
    if (is_here(request)) return here_;
    return workers_;
}

void Sources::keep(const std::vector<ResultId>& ids) {
    here_.keep(ids);
    workers_.keep(ids);
}

}  // namespace sawtooth
