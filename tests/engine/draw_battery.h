#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/engine/check/battery.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"

namespace sawtooth {

inline Request base_of(const Family& family, const Chip& chip) {
    Request base;
    base.family = family.name;
    base.backend = chip.backend == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda;
    return base;
}

// The first `most` Requests of a battery, or all.
inline std::vector<Request> draw_battery(const Family& family, const Chip& chip, int64_t most = INT64_MAX) {
    Battery battery(family, base_of(family, chip), chip);
    std::vector<Request> requests;
    for (int64_t left = std::min(battery.size(), most); left > 0; --left) {
        auto next = battery.next();
        REQUIRE(next);
        requests.push_back(std::move(*next));
    }
    return requests;
}

// All requests of a battery, drawn once for all tests, because it takes a second or two.
inline const std::vector<Request>& whole_battery(const Family& family, const Chip& chip = processor) {
    static std::map<std::pair<std::string, std::string>, std::vector<Request>> drawn;
    const auto [found, is_new] = drawn.try_emplace({family.name, chip.name});
    if (is_new) found->second = draw_battery(family, chip);
    return found->second;
}

}  // namespace sawtooth
