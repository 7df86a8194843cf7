#include "app/engine/run/time_limit.h"

#include <future>

#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

using namespace sawtooth;
using namespace std::chrono_literals;

namespace {

bool stops_within(const TimeLimit& limit, std::chrono::milliseconds longest) {
    const auto until = std::chrono::steady_clock::now() + longest;
    while (!limit.token().stop_requested() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(1ms);
    return limit.token().stop_requested();
}

}  // namespace

TEST_CASE("a time limit stops what goes on, and its error names the step", "[engine]") {
    TimeLimit limit({}, 0.01);
    REQUIRE(stops_within(limit, 10s));
    CHECK(
        contains(limit.reason(Error::cancelled(), "lookback").text, "lookback did not finish within 0.01 s"));
    CHECK_FALSE(stops_within(TimeLimit({}, {}), 20ms));
}

TEST_CASE("an excused step does not count where the limit is one of launches", "[engine]") {
    TimeLimit launches({}, 0.02, Counts::launches);
    launches.excuse(true);
    CHECK_FALSE(stops_within(launches, 100ms));
    launches.excuse(false);
    CHECK(stops_within(launches, 10s));

    TimeLimit everything({}, 0.02);
    everything.excuse(true);
    CHECK(stops_within(everything, 10s));
}

TEST_CASE("a run that goes on after its stop is reported, with the reason of the stop", "[engine]") {
    const auto report = [](std::stop_token outer, std::optional<double> seconds) {
        std::promise<Error> reported;
        auto error = reported.get_future();
        const TimeLimit limit(std::move(outer), seconds, Counts::everything,
                              [&](const Error& why) { reported.set_value(why); });
        return error.get();
    };
    std::stop_source stopped;
    stopped.request_stop();
    // Both at once, because each waits a few seconds after the stop.
    auto of_limit = std::async(std::launch::async, [&] { return report({}, 0.01); });
    auto of_stop = std::async(std::launch::async, [&] { return report(stopped.get_token(), {}); });
    CHECK(contains(of_limit.get().text, "took longer than 0.01 s and went on"));
    CHECK(of_stop.get().kind == Error::Kind::cancelled);
}

TEST_CASE("a stopped caller stops at once, excused or not", "[engine]") {
    std::stop_source outer;
    TimeLimit limit(outer.get_token(), 100.0, Counts::launches);
    limit.excuse(true);
    outer.request_stop();
    CHECK(limit.token().stop_requested());
    CHECK(limit.reason(Error::cancelled(), "x").kind == Error::Kind::cancelled);
}
