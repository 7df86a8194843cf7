// Comparisons of two Requests that run in turns.

#include "app/engine/compare/live_comparison.h"

#include <set>

#include "app/engine/run/run_rows.h"
#include "kernels/families.h"
#include "tests/engine/broken_family.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace {

using namespace sawtooth;

class Sides {
  public:
    Sides() {
        a.family = b.family = "scan";
        for (Request* const request : {&a, &b}) {
            request->threads = 1;
            request->repeats = 2;
            request->parameters.set("length", int64_t{64});
            request->variants = {"lookback", "sequential"};
        }
    }
    Outcome<ComparisonReport> compare(std::stop_token stop = {}, const OnProgress& progress = {}) {
        return compare_live({runner_a_, a, "one"}, {runner_b_, b, "other"}, std::move(stop), progress);
    }

    Request a, b;

  private:
    Runner runner_a_{shared_cache()}, runner_b_{shared_cache()};
};

TEST_CASE("two settings are timed in nine rounds, each variant against itself", "[compare]") {
    Sides sides;
    sides.b.parameters.set("length", int64_t{128});
    std::vector<std::string> measured;  // each pair and round once, in order
    const auto report = sides.compare({}, [&](const Progress& progress, auto) {
        const bool is_new = measured.empty() || measured.back() != progress.words;
        if (is_new && contains(progress.words, ", round ")) measured.push_back(progress.words);
    });
    if (!report) FAIL(report.error().text);
    REQUIRE(report->variants.size() == 2);
    CHECK(report->name_a == "one");
    CHECK(report->how == "in turns, 9 rounds of 2 repeats");
    for (const ComparedVariant& variant : report->variants) {
        CHECK(variant.a.variant == variant.b.variant);
        CHECK(variant.a.parameters.integer("length") == 64);
        CHECK(variant.b.parameters.integer("length") == 128);
        REQUIRE(variant.a.rounds.size() == 9);
        REQUIRE(variant.b.rounds.size() == 9);
        for (const TimeStatistics& round : variant.b.rounds) CHECK(round.samples.size() == 2);
        CHECK(variant.comparison.ratio > 0);
    }
    REQUIRE_FALSE(report->notes.empty());
    CHECK(contains(report->notes[0], "A and B do different work"));
    // Pairs change their order from round to round.
    REQUIRE(measured.size() == 18);
    const std::string one = name_of(report->variants[0]), other = name_of(report->variants[1]);
    CHECK(measured[0] == one + ", round 1 of 9");
    CHECK(measured[1] == other + ", round 1 of 9");
    CHECK(measured[2] == other + ", round 2 of 9");
    CHECK(measured[3] == one + ", round 2 of 9");
    CHECK(measured[17] == other + ", round 9 of 9");
}

TEST_CASE("two lists of variants are paired by place", "[compare]") {
    Sides sides;
    sides.a.variants = {"lookback"};
    sides.b.variants = {"three_phase"};
    const auto report = sides.compare();
    if (!report) FAIL(report.error().text);
    REQUIRE(report->variants.size() == 1);
    CHECK(name_of(report->variants[0]) == "scan lookback / three_phase");
    CHECK(report->variants[0].b.rounds.size() == 9);
    CHECK(report->not_compared.empty());
}

TEST_CASE("other numbers of threads have pools of their own", "[compare]") {
    Sides sides;
    sides.b.threads = 2;
    const auto report = sides.compare();
    if (!report) FAIL(report.error().text);
    CHECK(contains(report->variants[0].a.device, "1 thread"));
    CHECK(contains(report->variants[0].b.device, "2 threads"));
    for (const std::string& note : report->notes) CHECK_FALSE(contains(note, "different work"));
}

TEST_CASE("a note on waiting threads blames no other program, and counts threads and cores", "[compare]") {
    Sides sides;
    for (Request* const request : {&sides.a, &sides.b}) {
        request->threads = 2 * cores() + 1;
        request->variants = {"lookback"};
        request->parameters.set("length", int64_t{4096});
    }
    const auto report = sides.compare();
    if (!report) FAIL(report.error().text);
    // There is none where the system does not tell how long threads wait.
    for (const std::string& note : report->notes) {
        CHECK_FALSE(contains(note, "other programs"));
        if (!contains(note, "a thread of the run waited for a core in ")) continue;
        CHECK(contains(note, std::to_string(2 * cores() + 1) + " threads share "));
    }
}

TEST_CASE("an error names its side", "[compare]") {
    Sides sides;
    sides.b.parameters.set("length", int64_t{0});
    const auto refused = sides.compare();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == Error::Kind::usage);
    CHECK(refused.error().text.starts_with("B: length = 0"));
    Sides small;
    small.a.memory_limit_bytes = 1;
    const auto failed = small.compare();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().text.starts_with("A: "));
}

// This runs in a process of its own, because an added family stays.
TEST_CASE("child: a variant that is wrong in B has no times", "[.child]") {
    add_family(broken_family());
    Sides sides;
    for (Request* const request : {&sides.a, &sides.b}) {
        request->family = "broken";
        request->variants.clear();
    }
    sides.b.parameters.set("length", int64_t{128});
    const auto report = sides.compare();
    if (!report) FAIL(report.error().text);
    REQUIRE(report->variants.size() == 1);
    CHECK(report->variants[0].a.wrong.empty());
    CHECK(contains(report->variants[0].b.wrong, "y is wrong"));
    CHECK(report->variants[0].a.rounds.empty());
    CHECK(conclusion_of(*report) == Conclusion::wrong);
}

TEST_CASE("a variant that is wrong in B has no times, and the comparison says so", "[compare]") {
    ChildProcess child("", "child: a variant that is wrong in B has no times");
    const std::string output = child.output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}

// The family scale, which keeps the inputs of all plans so that no memory is used twice.
std::vector<std::shared_ptr<std::byte[]>>& inputs_of_plans() {
    static std::vector<std::shared_ptr<std::byte[]>> all;
    return all;
}
const Family& keeping_family() {
    static const Family family = [] {
        Family made = scale_family();
        made.name = "keeping";
        made.variants.front().plan_cpu = [](const PlanRequest& request) {
            inputs_of_plans().push_back(request.inputs.front().data);
            return scale_family().variants.front().plan_cpu(request);
        };
        return made;
    }();
    return family;
}

TEST_CASE("child: every plan of a comparison reads its inputs elsewhere", "[.child]") {
    add_family(keeping_family());
    Sides sides;
    for (Request* const request : {&sides.a, &sides.b}) {
        request->family = "keeping";
        request->variants.clear();
    }
    inputs_of_plans().clear();
    const auto report = sides.compare();
    if (!report) FAIL(report.error().text);
    const auto& plans = inputs_of_plans();
    CHECK(std::set(plans.begin(), plans.end()).size() >= 2 * 9);
}

TEST_CASE("every plan of a comparison reads its inputs elsewhere", "[compare]") {
    // Memory that one side alone keeps would make it faster in all rounds.
    ChildProcess child("", "child: every plan of a comparison reads its inputs elsewhere");
    const std::string output = child.output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}

TEST_CASE("a comparison that is stopped is cancelled, or out of time", "[compare]") {
    Sides sides;
    std::stop_source stop;
    const auto stopped = sides.compare(stop.get_token(), [&](const Progress& progress, auto) {
        if (contains(progress.words, "round 2")) stop.request_stop();
    });
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().kind == Error::Kind::cancelled);
    sides.a.repeats = sides.b.repeats = 1000000;
    sides.a.time_limit_seconds = sides.b.time_limit_seconds = 0.2;
    const auto late = sides.compare();
    REQUIRE_FALSE(late);
    CHECK(contains(late.error().text, "time limit: the comparison did not finish within 0.2 s"));
}

}  // namespace
