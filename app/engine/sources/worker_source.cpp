#include "app/engine/sources/worker_source.h"

#include <utility>

namespace sawtooth {

Outcome<Source::Seen> WorkerSource::run(ResultId id, const Request& request, const std::optional<View>& view,
                                        std::stop_token stop, const OnNews& news) {
    auto seen = runs_.run(id, request, view, std::move(stop), news);
    runs_.warm_up(request);  // if the worker was stopped
    return seen;
}

void WorkerSource::leave_when_stopped() {
    runs_.leave_when_stopped();
    own_cells_.leave_when_stopped();
}

}  // namespace sawtooth
