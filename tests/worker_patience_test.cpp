#include "app/engine/worker_patience.h"

#include "tests/catch.h"

using namespace sawtooth;

namespace {

using Time = WorkerPatience::Time;

Time at(double seconds) {
    return Time() + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
}

Progress launching(const char* words) { return {0.5, words, true}; }
Progress working(const char* words) { return {0.5, words, false}; }

}  // namespace

TEST_CASE("only a launch that exceeds the limit is given up", "[worker]") {
    WorkerPatience patience(10.0, at(0));
    patience.said(working("reference"), at(0));
    CHECK_FALSE(patience.deadline());
    patience.heard(at(100));
    CHECK_FALSE(patience.spent(at(105)));  // a reference may take any time
    patience.said(launching("lookback, repeat 1 of 9"), at(100));
    CHECK(patience.deadline() == at(110));
    patience.said(launching("lookback, repeat 2 of 9"), at(109));
    CHECK(patience.deadline() == at(119));  // progress restarts the count
    patience.heard(at(118));
    CHECK_FALSE(patience.spent(at(118.9)));
    CHECK(patience.spent(at(119)) == "lookback, repeat 2 of 9 did not finish within 10 s");
    patience.said(working("compiling"), at(119));
    CHECK_FALSE(patience.spent(at(120)));
}

TEST_CASE("signs of life do not extend the limit of a launch", "[worker]") {
    WorkerPatience patience(0.2, at(0));
    patience.said(launching("rows"), at(0));
    patience.heard(at(0.19));
    CHECK(patience.spent(at(0.21)));
}

TEST_CASE("silence is given up some time after the limit", "[worker]") {
    const auto silence = [](std::optional<double> limit) {
        const WorkerPatience patience(limit, at(0));
        double seconds = 0;
        while (!patience.spent(at(seconds))) seconds += 0.1;
        return seconds;
    };
    CHECK(silence(0.2) == Approx(0.7).margin(0.11));
    CHECK(silence(1.0) == Approx(2).margin(0.11));
    CHECK(silence(10.0) == Approx(12).margin(0.11));
    CHECK(silence({}) == Approx(12).margin(0.11));
}

TEST_CASE("a cancelled job has two seconds to finish its launch, but any time to compile", "[worker]") {
    WorkerPatience patience({}, at(0));
    patience.said(launching("rows"), at(0));
    patience.heard(at(50));
    CHECK_FALSE(patience.spent(at(51)));
    patience.was_cancelled(at(51));
    patience.heard(at(52.9));
    CHECK_FALSE(patience.spent(at(52.9)));
    CHECK(patience.spent(at(53))->find("cancelled") != std::string::npos);

    WorkerPatience compiling({}, at(0));
    compiling.said(working("compiling"), at(0));
    compiling.was_cancelled(at(1));
    compiling.heard(at(20));
    CHECK_FALSE(compiling.spent(at(21)));
}
