#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/engine/engine.h"
#include "tests/kit/catch.h"

namespace sawtooth {

inline Request scan_request(const std::vector<std::pair<std::string, Value>>& settings = {}) {
    Request request;
    request.family = "scan";
    request.repeats = 2;
    request.threads = 2;
    for (const auto& [name, value] : settings) request.parameters.set(name, value);
    return request;
}

// Takes events of the engine until one of this kind and ticket arrives; `all` collects every event taken.
inline Event wait_for(Engine& engine, uint64_t ticket, Event::Kind kind, std::vector<Event>* all = nullptr) {
    for (int round = 0; round < 3000; ++round) {
        const std::vector<Event> events = engine.take_events();
        if (all) all->insert(all->end(), events.begin(), events.end());
        for (const Event& event : events) {
            const bool complete = event.kind != Event::Kind::result || event.result->complete;
            if (event.ticket == ticket && event.kind == kind && complete) return event;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL("no such event came");
    return {};
}

}  // namespace sawtooth
