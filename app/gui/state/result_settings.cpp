#include "app/gui/state/result_settings.h"

#include <algorithm>
#include <utility>

namespace sawtooth {

Snapshot settings_of_request(const Family& family, Request request) {
    Snapshot settings{&family, std::move(request), {}, {}, {}, ""};
    const std::vector<std::string>& chosen = settings.request.variants;
    if (!chosen.empty())
        for (const Variant& variant : family.variants)
            if (std::find(chosen.begin(), chosen.end(), variant.name) == chosen.end())
                settings.disabled_variants.insert(variant.name);
    settings.request.variants.clear();
    return settings;
}

void keep_without_control(Request& request, const Request& present) {
    request.on = present.on;
    request.kernels = present.kernels;
    request.jitter = present.jitter;
    request.multiprocessors = present.multiprocessors;
    request.extras = present.extras;
    request.memory_limit_bytes = present.memory_limit_bytes;
}

Snapshot settings_of_result(const LabState& lab, const Result& result) {
    Snapshot settings = settings_of_request(*lab.family, result.request);
    settings.tried = lab.tried;
    if (settings.request.input == lab.request.input) {
        settings.given = lab.given;
        settings.fixed = lab.fixed;
    }
    return settings;
}

}  // namespace sawtooth
