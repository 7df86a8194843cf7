#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "app/engine/guarded.h"

namespace sawtooth {

// A slow task on its own thread, which is stopped and waited for when this object ends.
template <class T>
struct Background {
    std::future<T> result;
    std::jthread thread;

    bool is_ready() const { return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
};

// Starts the task; `wake` is called when it ends. Failure: the system has no more threads.
template <class T>
Outcome<Background<T>> in_background(std::function<T(std::stop_token)> act, std::function<void()> wake) {
    return guarded([&]() -> Outcome<Background<T>> {
        std::packaged_task<T(std::stop_token)> task(std::move(act));
        auto result = task.get_future();
        const auto run = [wake = std::move(wake)](std::stop_token stop, auto own) {
            own(std::move(stop));
            if (wake) wake();
        };
        return Background<T>{std::move(result), std::jthread(run, std::move(task))};
    });
}

}  // namespace sawtooth
