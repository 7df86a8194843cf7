#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "app/engine/check/draw.h"
#include "app/engine/check/parallel.h"
#include "app/engine/check/resume.h"
#include "app/engine/check/sanitize.h"
#include "app/engine/check/shrink.h"
#include "app/engine/check/trial.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/values.h"
#include "kernels/cuda/chips.h"
#include "tests/engine/broken_family.h"
#include "tests/engine/engine_events.h"
#include "tests/engine/run_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"
#include "tests/kit/workshop.h"

namespace sawtooth {
namespace {

Request request_for(const Family& family) {
    Request request;
    request.family = family.name;
    return request;
}

CheckRequest check_of(const std::string& family) {
    CheckRequest request;
    request.base.family = family;
    request.base.threads = 2;
    return request;
}

TEST_CASE("values are placed in generated inputs", "[check]") {
    Request request = request_for(scale_family());
    request.parameters.set("length", int64_t{512});
    const auto made = [&](Values values) {
        request.values = values;
        return make_inputs(*configure(request, {}), request, {})->front();
    };
    const Array usual = made(Values::usual);
    const auto count = [&](Values values, auto&& is) {
        const Array array = made(values);
        return std::count_if(array.as<float>().begin(), array.as<float>().end(), is);
    };
    CHECK(count(Values::zeros, [](float x) { return x == 0; }) > 400);
    CHECK(count(Values::nan, [](float x) { return std::isnan(x); }) == 1);
    CHECK(count(Values::infinity, [](float x) { return std::isinf(x); }) == 1);
    CHECK(count(Values::denormals, [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }) > 20);
    CHECK(count(Values::huge, [](float x) { return std::abs(x) > 20; }) > 0);
    CHECK(same_bits(made(Values::usual), usual));
}

TEST_CASE("optional inputs are generated on request", "[check]") {
    Request request = request_for(*families().front());
    request.family = "scan";
    request.parameters.set("op", std::string("linear"));
    CHECK_FALSE(find(*make_inputs(*configure(request, {}), request, {}), "initial"));
    request.optional = true;
    CHECK(find(*make_inputs(*configure(request, {}), request, {}), "initial"));
}

TEST_CASE("a failing Request is shrunk to the smallest one that fails", "[check]") {
    const Family& scan = **find_offered_family("scan");
    Request failing = request_for(scan);
    failing.parameters.set("length", int64_t{777});
    failing.parameters.set("channels", int64_t{13});
    failing.parameters.set("op", std::string("max"));
    failing.parameters.set("distribution", std::string("uniform"));
    failing.values = Values::nan;
    failing.optional = true;
    int tries = 0;
    const Request smallest = shrunk(scan, failing, Backend::cpu, [&](const Request& request) {
        ++tries;
        const Parameters values = settled_values(scan, request.parameters, Backend::cpu);
        return values.integer("length") >= 65 && values.is("op", "max");
    });
    CHECK(smallest.parameters.integer("length") == 65);
    CHECK(smallest.parameters.integer("channels") == 1);
    CHECK(smallest.parameters.is("op", "max"));
    CHECK_FALSE(smallest.parameters.has("distribution"));
    CHECK(smallest.values == Values::usual);
    CHECK_FALSE(smallest.optional);
    CHECK(tries < 100);
}

TEST_CASE("right families pass their check, one after another", "[check]") {
    CheckRequest scan = check_of("scan");
    scan.most = 10;
    std::map<std::string, int64_t> news;
    std::vector<std::string> complete;
    const auto reports = check_in_workers("", {check_of("scale"), scan}, {}, [&](const CheckReport& so_far) {
        ++news[so_far.family];
        CHECK(so_far.tried <= so_far.size);
        if (so_far.complete) complete.push_back(so_far.family);
    });
    REQUIRE(reports);
    CHECK(complete == std::vector<std::string>{"scale", "scan"});
    REQUIRE(reports->size() == 2);
    for (const CheckReport& report : *reports) {
        CHECK(report.family == complete[static_cast<size_t>(&report - reports->data())]);
        CHECK(report.complete);
        CHECK(report.findings.empty());
        CHECK(report.tried == report.size);
        CHECK(report.judged > report.tried / 2);
        CHECK(report.cannot_judge < report.judged / 4);
        CHECK(news[report.family] >= report.tried);
    }
}

TEST_CASE("the first report of a sanitizer is told in one line", "[check]") {
    CHECK(first_report("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n").empty());
    CHECK(first_report("========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed\n")
              .empty());
    CHECK(first_report("========= COMPUTE-SANITIZER\n========= Target application returned an error\n"
                       "========= ERROR SUMMARY: 0 errors\n")
              .empty());
    CHECK(first_report("") == "the tool did not finish its report");
    CHECK(first_report("========= COMPUTE-SANITIZER\n"
                       "========= Invalid __global__ read of size 4 bytes\n"
                       "=========     at scan+0x10 in scan.cu:12\n"
                       "========= \n"
                       "========= Invalid __global__ read of size 8 bytes\n"
                       "========= ERROR SUMMARY: 2 errors\n") ==
          "Invalid __global__ read of size 4 bytes at scan+0x10 in scan.cu:12");
}

// Waits longer than a patience of 2 s, once.
Outcome<Arrays> slow_definition(const DefinitionRequest& request) {
    static std::once_flag waited;
    std::call_once(waited, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2200)); });
    if (request.stop.stop_requested()) return Error::cancelled();
    return scale_family().definition(request);
}

TEST_CASE("a wrong variant is wrong even if judging it takes longer than the patience with its runs",
          "[check]") {
    Family family = broken_family();
    Trial trial;
    trial.configuration.family = &family;
    trial.configuration.parameters = settled(family, {{"length", int64_t{512}}});
    trial.configuration.variants = {&family.variants.front()};
    trial.inputs = generated_inputs(family, trial.configuration.parameters);
    const Arrays no_reference;
    Definitions definitions;
    const auto expected = definitions.find({trial.configuration, Backend::cpu, trial.inputs, no_reference},
                                           trial.variant(), {});
    REQUIRE(expected);
    trial.expected = **expected;
    family.definition = slow_definition;
    const Machine machine{.chip = processor, .words = "a processor", .pool = &pool_of_one(), .notes = {}};
    const auto tried = try_out(trial, machine, 2, {});
    REQUIRE(tried);
    CHECK(tried->is_wrong());
}

TEST_CASE("the kernels of a trial are compiled while it is prepared", "[check][cuda]") {
    if (without_compiler()) return;
    const TemporaryFolder cache;
    Request request = request_for(scale_family());
    request.variants = {"blocks"};
    request.backend = BackendChoice::cuda;
    const auto trial = prepare_trial(request, {*cuda::chip_of("sm_90a"), cache.path()}, {});
    REQUIRE(trial);
    REQUIRE(*trial);
    CHECK(std::distance(std::filesystem::directory_iterator(cache.file("cubin")), {}) == 1);
}

TEST_CASE("a check that judged nothing does not say that nothing is wrong", "[check]") {
    CheckReport report;
    report.family = "scan";
    report.tried = report.given_up = 3;
    report.complete = true;
    CHECK_FALSE(has_judged(report));
    CHECK(summary_of(report) ==
          "scan: 3 settings (3 undefined, too slow or too large), 0 outputs judged, 0.0 s: nothing could be "
          "judged");
    report.judged = report.cannot_judge = 2;
    CHECK_FALSE(has_judged(report));
    report.judged = 3;
    CHECK(summary_of(report).ends_with(": no variant is wrong"));
    report.complete = false;
    CHECK(summary_of(report).ends_with(": no variant is wrong so far"));
}

TEST_CASE("a variant with several findings is one wrong variant", "[check]") {
    CheckReport report;
    report.complete = true;
    Finding finding;
    finding.request = scan_request();
    finding.number = -1;  // as those of a sanitizer, which does not tell the Request
    for (const char* const variant : {"lookback", "lookback", "blelloch"}) {
        finding.variant = variant;
        report.findings.push_back(finding);
    }
    CHECK(summary_of(report).ends_with(": 2 variants are wrong"));
    report.findings.pop_back();
    CHECK(summary_of(report).ends_with(": 1 variant is wrong"));
    CHECK(command_of(finding).empty());
    finding.number = 0;
    CHECK(contains(command_of(finding), "sawtooth run scan"));
}

TEST_CASE("a Request is wrong only once two workers were lost with it", "[check]") {
    CheckReport so_far;
    so_far.family = "scan";
    so_far.tried = 6;
    so_far.next = 5;
    so_far.trying = scan_request();
    so_far.trying->variants = {"lookback"};
    so_far.trying_number = 7;
    const CheckRequest request = check_of("scan");
    const auto lose = [&] {
        so_far.findings.push_back(lost_with_worker(
            so_far, Error::failure("the worker exited, signal 9 (Killed) (scan: length 8); the next run "
                                   "starts a new one")));
        ++so_far.tried;
    };
    lose();
    CHECK(is_lost_once(so_far.findings.back()));
    CHECK(so_far.findings.back().problem == "the worker exited, signal 9 (Killed)");
    CHECK(continued(request, so_far).first == 5);
    CHECK(continued(request, so_far).leave_out.empty());
    ++so_far.trying_number;
    lose();
    CHECK(is_lost_once(so_far.findings.back()));
    --so_far.trying_number;
    lose();
    const Finding& finding = so_far.findings.back();
    CHECK(finding.variant == "lookback");
    CHECK(finding.number == 7);
    CHECK(finding.problem == "the worker exited, signal 9 (Killed), twice at this setting");
    CHECK(continued(request, so_far).leave_out == std::vector<std::string>{"lookback"});
    const CheckReport shown = without_lost_once(so_far);
    CHECK(shown.findings.size() == 1);
    CHECK(shown.tried == 7);
}

TEST_CASE("a check that is continued without any time left tries one Request", "[check]") {
    CheckRequest request = check_of("scale");
    request.seconds = 0;
    Runner runner(shared_cache());
    CHECK(check(runner, request, {}, {})->tried == 0);
    request.first = 3;
    const auto report = check(runner, request, {}, {});
    REQUIRE(report);
    CHECK(report->complete);
    CHECK(report->tried == 1);
}

TEST_CASE("a check refuses what it cannot do, and hears a stop", "[check]") {
    const auto unknown = check_in_workers("", {check_of("nothing")}, {}, {});
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().kind == Error::Kind::usage);
    CheckRequest variant = check_of("scale");
    variant.base.variants = {"nothing"};
    CHECK_FALSE(check_in_workers("", {variant}, {}, {}));
    Runner runner(shared_cache());
    for (const auto& [part, parts] : {std::pair(0, 0), {2, 2}, {-1, 2}}) {
        CheckRequest shared = check_of("scale");
        shared.part = part;
        shared.parts = parts;
        const auto refused = check(runner, shared, {}, {});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == Error::Kind::usage);
    }
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = check_in_workers("", {check_of("scale")}, stop.get_token(), {});
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().kind == Error::Kind::cancelled);
}

TEST_CASE("the engine checks a family beside its runs, until it is cancelled", "[check][engine]") {
    Engine engine(shared_cache(), [] {});
    const uint64_t first = engine.check(check_of("scale"));
    const uint64_t run = engine.run(scan_request(), {});
    std::vector<Event> seen;
    CHECK(wait_for(engine, run, Event::Kind::result, &seen).result->complete);
    bool is_done = std::any_of(seen.begin(), seen.end(), [&](const Event& event) {
        return event.ticket == first && event.report && event.report->complete;
    });
    while (!is_done) is_done = wait_for(engine, first, Event::Kind::checked).report->complete;
    CheckRequest endless = check_of("scale");
    endless.seconds = 1000;
    const uint64_t replaced = engine.check(endless), second = engine.check(endless);
    CHECK_FALSE(wait_for(engine, second, Event::Kind::checked, &seen).report->complete);
    CHECK(std::any_of(seen.begin(), seen.end(), [&](const Event& event) {
        return event.ticket == replaced && event.error && event.error->kind == Error::Kind::cancelled;
    }));
    engine.cancel_check();
    CHECK(wait_for(engine, second, Event::Kind::failed).error->kind == Error::Kind::cancelled);
}

// This runs in a process of its own, because an added family stays.
TEST_CASE("child: a wrong variant is found with the smallest setting that shows it", "[.child]") {
    add_family(broken_family());
    Runner runner(shared_cache());
    const auto report = check(runner, check_of("broken"), {}, {});
    REQUIRE(report);
    REQUIRE(report->findings.size() == 1);
    const Finding& finding = report->findings.front();
    CHECK(finding.variant == "blocks");
    CHECK(finding.problem.empty());
    CHECK(finding.request.parameters.integer("length") == 65);
    CHECK(finding.request.parameters.integer("batch") == 1);
    CHECK(finding.request.values == Values::usual);
    REQUIRE(finding.verdict.worst);
    CHECK(finding.verdict.worst->index == Shape{0, 64});
    CHECK(finding.verdict.elements == 1);
    CHECK(contains(command_of(finding), "sawtooth run broken --set batch=1 --set length=65"));
    CHECK(contains(sentence_of(finding), "y is wrong: 1 of 65 elements"));
    REQUIRE(finding.figures.size() == 3);
    for (const Figure& figure : finding.figures) {
        const auto& map = std::get<HeatMap>(figure.marks.front());
        CHECK(map.values.size() == static_cast<size_t>(map.rows * map.columns));
        REQUIRE(map.framed.size() == 1);
        CHECK(map.framed.front().row == 0);
    }
    // The command of the finding reproduces it.
    const auto again = runner.run(finding.request, {});
    REQUIRE(again);
    CHECK((*again)->variants.front().verdict() == Verdict::wrong);
}

TEST_CASE("a wrong variant is found with the smallest setting that shows it", "[check]") {
    ChildProcess child("", "child: a wrong variant is found with the smallest setting that shows it");
    const std::string output = child.output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}

// In a process of its own, as above.
TEST_CASE("child: a check ends when all variants are found wrong, before its time", "[.child]") {
    add_family(broken_family());
    CheckRequest request = check_of("broken");
    request.base.variants = {"blocks"};
    request.seconds = 1000;
    Runner runner(shared_cache());
    const auto report = check(runner, request, {}, {});
    REQUIRE(report);
    CHECK(report->complete);
    CHECK(report->findings.size() == 1);
}

TEST_CASE("a check ends when all variants are found wrong, before its time", "[check]") {
    ChildProcess child("", "child: a check ends when all variants are found wrong\\, before its time");
    const std::string output = child.output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}

// A family each of whose definitions goes on until it is stopped, but a minute at most. In a process of its
// own, as above.
std::atomic<int> begun = 0, stopped = 0;
TEST_CASE("child: a check with a time stops the definitions that are still computed", "[.child]") {
    Family endless = scale_family();
    endless.name = "endless";
    endless.definition = [](const DefinitionRequest& request) -> Outcome<Arrays> {
        ++begun;
        for (int tries = 0; tries < 60'000 && !request.stop.stop_requested(); ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stopped += request.stop.stop_requested();
        return Error::cancelled();
    };
    add_family(endless);
    CheckRequest request = check_of("endless");
    request.seconds = 0.1;
    Runner runner(shared_cache());
    const auto report = check(runner, request, {}, {});
    REQUIRE(report);
    CHECK(report->complete);
    CHECK(report->tried == 0);
    CHECK(begun > 0);
    CHECK(stopped == begun);
}

TEST_CASE("a check with a time stops the definitions that are still computed", "[check]") {
    ChildProcess child("", "child: a check with a time stops the definitions that are still computed");
    const std::string output = child.output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}

}  // namespace
}  // namespace sawtooth
