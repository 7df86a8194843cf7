#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "app/engine/engine.h"
#include "app/engine/identity.h"
#include "app/engine/run/configure.h"
#include "app/engine/wire/messages.h"
#include "app/engine/wire/wire.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

// A worker in tests is this program, started as `PROGRAM worker`; a shell command replaces a worker that
// misbehaves.
namespace sawtooth {

inline std::string worker_command() {
    return "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "' worker --cache-dir '" +
           shared_cache() + "'";
}

inline Request scan_on(std::string on, int64_t length = 256) {
    Request request;
    request.family = "scan";
    request.on = std::move(on);
    request.repeats = 2;
    request.threads = 1;
    request.variants = {"sequential", "lookback"};
    request.parameters.set("length", length);
    return request;
}

// A shell command that prints `bytes`, runs `then` and ignores its input.
inline std::string saying(const TemporaryFolder& folder, const std::string& name, const std::string& bytes,
                          const std::string& then = "sleep 60") {
    put(folder.file(name), bytes);
    return "cat '" + folder.file(name) + "'; " + then;
}

inline std::string greeting() { return framed(encode(FromWorker(hello_from("a fake")))); }
inline std::string message(const FromWorker& held) { return framed(encode(held)); }

inline void check_right(const Result& result) {
    REQUIRE(result.complete);
    for (const VariantResult& variant : result.variants) {
        REQUIRE(variant.errors.size() == 1);
        CHECK(*variant.errors[0].rel_l2 < 1e-5);
        CHECK(variant.time);
    }
}

// The child processes that were not reaped yet.
inline std::set<pid_t> children() {
    std::set<pid_t> all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::istringstream numbers(content_of(task.path() / "children"));
        for (pid_t number = 0; numbers >> number;) all.insert(number);
    }
    return all;
}

// Waits for the event that ends a ticket: its complete result or sweep, or its failure.
inline Event end_of(Engine& engine, uint64_t ticket, const std::function<void(const Event&)>& seen = {}) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < until) {
        for (Event& event : engine.take_events()) {
            if (seen) seen(event);
            if (event.ticket != ticket) continue;
            const bool complete = (event.kind == Event::Kind::result && event.result->complete) ||
                                  (event.kind == Event::Kind::cell && event.sweep_result->complete);
            if (complete || event.kind == Event::Kind::failed) return event;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL("the engine did not go on");
    return {};
}

// A Request to a shell command that shows a result for its first job, prints `then` and ignores all further
// input; then it sleeps or runs `next`.
inline Request shown_at_once(const TemporaryFolder& folder, const std::string& then, bool complete = true,
                             const std::string& next = "sleep 60") {
    Request request = scan_on(saying(folder, "shows", "", next), 777);
    Result result;
    result.request = request;
    result.parameters = (*find_offered_family(request.family))->defaults();
    result.inputs = {Array::zeros("x", Dtype::f32, {4})};
    result.timed = result.complete = complete;
    const Shown shown{1, std::make_shared<const Result>(result),
                      std::make_shared<const std::vector<Figure>>()};
    saying(folder, "shows", greeting() + message(shown) + then);
    return request;
}

}  // namespace sawtooth
