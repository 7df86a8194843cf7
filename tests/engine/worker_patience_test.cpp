#include "app/engine/sources/worker_patience.h"

#include "tests/kit/catch.h"

using namespace sawtooth;

namespace {

using Time = WorkerPatience::Time;

Time at(double seconds) {
    return Time() + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
}

Progress computing(const char* words) { return {0.5, words, false}; }
Progress excused(const char* words) { return {0.5, words, true}; }

WorkerPatience with(std::optional<double> limit, Counts counts = Counts::everything) {
    return {limit, counts, at(0)};
}

}  // namespace

TEST_CASE("a job is given up at its time limit, whatever the worker says meanwhile", "[worker]") {
    WorkerPatience patience = with(10.0);
    CHECK(patience.deadline(at(0)) == at(10));
    for (int second = 0; second < 10; ++second) {
        patience.heard(at(second));
        patience.said(computing("lookback, repeat 3 of 9"), at(second));
        CHECK(patience.deadline(at(second)) == at(10));
        CHECK_FALSE(patience.spent(at(second)));
    }
    CHECK(patience.spent(at(10)) == "time limit: lookback, repeat 3 of 9 did not finish within 10 s");
}

TEST_CASE("the time limit begins when the worker has the job", "[worker]") {
    WorkerPatience patience = with(2.0);
    patience.began(at(5));
    CHECK(patience.deadline(at(5)) == at(7));
    CHECK_FALSE(patience.spent(at(6.9)));
}

TEST_CASE("excused steps count, or are left out for two minutes", "[worker]") {
    for (const Counts counts : {Counts::everything, Counts::launches}) {
        const bool excuses = counts == Counts::launches;
        WorkerPatience patience = with(1.0, counts);
        patience.said(excused("compiling a.cu"), at(0.5));
        patience.said(computing("rows"), at(30.5));
        patience.said(excused("reference"), at(30.9));
        patience.heard(at(40));
        CHECK(patience.spent(at(40)).has_value() != excuses);
        if (!excuses) continue;
        CHECK(patience.deadline(at(40)) == at(1 + 30 + 9.1));
        patience.heard(at(121));
        CHECK(patience.deadline(at(121)) == at(121));  // the limit of 1 s, and 2 minutes
        CHECK(patience.spent(at(121))->find("and 2 minutes") != std::string::npos);
    }
}

TEST_CASE("silence is given up some time after the limit", "[worker]") {
    const auto silence = [](std::optional<double> limit) {
        WorkerPatience patience = with(limit, Counts::launches);
        patience.said(excused("compiling"), at(0));  // excused, so that only silence can end the job
        double seconds = 0;
        while (!patience.spent(at(seconds))) seconds += 0.1;
        return seconds;
    };
    CHECK(silence(0.2) == Approx(0.7).margin(0.11));
    CHECK(silence(1.0) == Approx(2).margin(0.11));
    CHECK(silence(10.0) == Approx(12).margin(0.11));
    CHECK(silence({}) == Approx(12).margin(0.11));
}

TEST_CASE("a cancelled job has two seconds to finish, whatever it is doing", "[worker]") {
    for (const Progress& doing : {computing("rows"), excused("compiling")}) {
        WorkerPatience patience = with({}, Counts::launches);
        patience.said(doing, at(0));
        patience.heard(at(50));
        CHECK_FALSE(patience.spent(at(51)));
        patience.was_cancelled(at(51));
        patience.heard(at(52.9));
        CHECK_FALSE(patience.spent(at(52.9)));
        CHECK(patience.spent(at(53))->find("cancelled") != std::string::npos);
    }
}
