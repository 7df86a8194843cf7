#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "app/gui/state/lab.h"
#include "tests/kit/catch.h"

namespace sawtooth {

// Takes events until something in the background is done.
inline void wait_for(LabState& lab, const std::function<bool()>& is_done) {
    for (int tries = 0; tries < 10000 && !is_done(); ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        update(lab, lab.now);
    }
    REQUIRE(is_done());
}

// Waits until every result of the history is packed.
inline void wait_until_packed(LabState& lab) {
    wait_for(lab, [&] {
        return std::all_of(lab.past_results.begin(), lab.past_results.end(),
                           [](const PastResult& past) { return !past.result; });
    });
}

}  // namespace sawtooth
