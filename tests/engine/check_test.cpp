#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "app/engine/check/battery.h"
#include "app/engine/check/parallel.h"
#include "app/engine/check/sanitize.h"
#include "app/engine/check/shrink.h"
#include "app/engine/check/trial.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/planned_kernels.h"
#include "app/engine/run/values.h"
#include "kernels/cuda/chips.h"
#include "tests/engine/broken_family.h"
#include "tests/engine/engine_events.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

Request request_for(const Family& family) {
    Request request;
    request.family = family.name;
    return request;
}

// Returns the first `most` requests of a battery, or all.
std::vector<Request> draw_battery(const Family& family, const Chip& chip, int64_t most = INT64_MAX) {
    Request base = request_for(family);
    base.backend = chip.backend == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda;
    Battery battery(family, base, chip);
    std::vector<Request> requests;
    for (int64_t left = std::min(battery.size(), most); left > 0; --left) {
        auto next = battery.next();
        REQUIRE(next);
        requests.push_back(std::move(*next));
    }
    return requests;
}

// Drawn once for all tests, because it takes a second or two.
const std::vector<Request>& whole_battery(const Family& family, const Chip& chip = processor) {
    static std::map<std::pair<std::string, Backend>, std::vector<Request>> drawn;
    const auto [found, is_new] = drawn.try_emplace({family.name, chip.backend});
    if (is_new) found->second = draw_battery(family, chip);
    return found->second;
}

CheckRequest check_of(const std::string& family) {
    CheckRequest request;
    request.base.family = family;
    request.base.threads = 2;
    return request;
}

TEST_CASE("a battery is the same every time, and another one for another seed", "[check]") {
    for (const Family* family : families()) {
        INFO(family->name);
        const auto& first = whole_battery(*family);
        REQUIRE(first.size() >= 60);
        CHECK(draw_battery(*family, processor, 60) == std::vector(first.begin(), first.begin() + 60));
        Request other = request_for(*family);
        other.seed = 2;
        CHECK(Battery(*family, other, processor).next() != first.front());
    }
}

TEST_CASE("a battery tries every variant with every choice that it accepts", "[check]") {
    for (const Family* family : families()) {
        std::map<std::string, std::set<std::string>> tried;  // settings that were tried, by variant
        for (const Request& request : whole_battery(*family)) {
            const Parameters values = settled_values(*family, request.parameters, Backend::cpu);
            std::set<std::string>& of_variant = tried[request.variants.front()];
            for (const Parameter& row : family->parameters)
                if (row.why_unused(values, Backend::cpu).empty())
                    of_variant.insert(row.name + "=" + to_text(values.at(row.name)));
            of_variant.insert(name_of(request.values));
        }
        for (const Variant& variant : family->variants) {
            if (!variant.runs_on(Backend::cpu)) continue;
            const auto& seen = tried[variant.name];
            INFO(family->name << " " << variant.name);
            for (const auto& [name, values] : value_names) CHECK(seen.contains(name));
            for (const Parameter& row : family->parameters) {
                if (row.type != Type::choice || row.renews == Renews::figures) continue;
                for (const Value& choice : row.choices) {
                    const Parameters set = settled(*family, {{row.name, choice}});
                    const bool accepted = row.why_unused(set, Backend::cpu).empty() &&
                                          !(family->check && family->check(set)) &&
                                          !variant.refusal(set, processor) && set.at(row.name) == choice;
                    INFO(row.name << " " << to_text(choice));
                    CHECK((!accepted || seen.contains(row.name + "=" + to_text(choice))));
                }
            }
        }
    }
}

// The places of lengths in tiles of every size that variants have: whole tiles, one more, one less.
std::map<std::string, std::set<std::string>> places_in_tiles(const Family& family, const Chip& chip) {
    std::map<std::string, std::set<std::string>> places;
    for (const Request& request : whole_battery(family, chip)) {
        const Variant& variant = *family.variant(request.variants.front());
        const Parameters values = settled_values(family, request.parameters, chip.backend);
        for (const std::string& output : variant.outputs)
            for (const Tiling& tiling : family.tilings(variant, output, values, chip.backend)) {
                const int64_t length = values.integer(tiling.dimension), rest = length % tiling.size;
                auto& seen = places[tiling.name];
                if (length < 2 * tiling.size || tiling.size < 3) continue;
                if (rest == 0) seen.insert("whole");
                if (rest == 1) seen.insert("one more");
                if (rest == tiling.size - 1) seen.insert("one less");
            }
    }
    return places;
}

// All tiles except the larger ones of a few variants, which need long lengths.
bool is_common(const std::string& tiling) {
    return tiling != "totals" && tiling != "group" && tiling != "stretch" && tiling != "C_L";
}

TEST_CASE("a battery has lengths at the borders of tiles, over several tiles", "[check]") {
    for (const Chip& chip : {processor, schema_facts::h200})
        for (const Family* family : families()) {
            if (!family->tilings) continue;
            for (const auto& [name, places] : places_in_tiles(*family, chip)) {
                INFO(family->name << " " << name << " on " << name_of(chip.backend));
                CHECK(places.size() >= (is_common(name) ? 3 : 1));
            }
        }
}

// The kernels of a file whose entry is the macro STEP, which are the enumerators of Step.
std::vector<std::string> steps_of(const std::string& code) {
    std::smatch list;
    const std::regex steps("enum class Step \\{([^}]*)\\}"), name("\\w+");
    if (!std::regex_search(code, list, steps)) return {};
    const std::string names = list.str(1);
    return {std::sregex_token_iterator(names.begin(), names.end(), name), {}};
}

// The kernels in all .cu files of families: "kernels/scan/cuda/blelloch.cu up_sweep".
std::set<std::string> written_kernels() {
    const std::filesystem::path root = SAWTOOTH_SOURCE_DIR;
    const std::regex entry(R"(__global__\s+void\s+(?:__\w+__\([^)]*\)\s+)*(\w+)\()");
    std::set<std::string> written;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / "kernels")) {
        if (file.path().extension() != ".cu" || file.path().parent_path() == root / "kernels/cuda") continue;
        std::ostringstream text;
        text << std::ifstream(file.path()).rdbuf();
        const std::string code = text.str();
        const std::string name = std::filesystem::relative(file.path(), root).string();
        for (const std::string& step : steps_of(code)) written.insert(name + " " + step);
        for (std::sregex_iterator match(code.begin(), code.end(), entry), end; match != end; ++match)
            if (match->str(1) != "STEP") written.insert(name + " " + match->str(1));
    }
    return written;
}

TEST_CASE("a battery runs every kernel on a GPU, with and without jitter", "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    std::set<std::string> run[2];  // the kernels that ran without jitter, and with it
    for (const Family* family : families())
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            const Variant& variant = *family->variant(request.variants.front());
            for (const std::string& source : planned.of(*family, variant, request))
                run[request.jitter != 0].insert(source.substr(0, source.find(' ', source.find(' ') + 1)));
        }
    const auto written = written_kernels();
    CHECK(written.size() > 50);
    for (const std::string& kernel : written)
        for (const int jitter : {0, 1}) {
            INFO(kernel << (jitter ? " with jitter" : ""));
            CHECK(run[jitter].contains(kernel));
        }
}

TEST_CASE("a battery plans settings for few multiprocessors where that changes a kernel or a grid",
          "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    std::map<std::string, int> on_few;
    for (const Family* family : families())
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            if (request.multiprocessors == 0) continue;
            ++on_few[family->name];
            INFO(setting_words(request));
            CHECK(planned.depends_on_multiprocessors(*family, *family->variant(request.variants.front()),
                                                     request));
        }
    for (const char* name : {"ar_ssm", "btp", "lut", "memory", "scan"}) {
        INFO(name);
        CHECK(on_few[name] >= 3);
    }
}

TEST_CASE("a GPU can take every setting of a battery", "[check]") {
    const auto device = cuda::Device::theory(schema_facts::h200.architecture, {});
    REQUIRE(device);
    for (const Family* family : families())
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            const auto configuration = configure(request, {}, Backend::cuda);
            REQUIRE(configuration);
            const Variant& variant = *family->variant(request.variants.front());
            const Arrays inputs = input_shapes(*family, configuration->parameters, request.optional);
            const auto plan = make_plan({.family = *family,
                                         .variant = variant,
                                         .parameters = configuration->parameters,
                                         .inputs = inputs,
                                         .dry = true,
                                         .device = device->get(),
                                         .multiprocessors = request.multiprocessors,
                                         .stores_extras = true});
            INFO(setting_words(request));
            CHECK((plan ? "" : plan.error().text) == "");
        }
}

TEST_CASE("drawn settings are accepted and cost little", "[check]") {
    Random random(1, "drawn settings");
    for (const Family* family : families())
        for (const Variant& variant : family->variants) {
            if (!variant.runs_on(Backend::cpu)) continue;
            const auto set = draw_setting(random, *family, variant, processor, {.operations = 1e5});
            REQUIRE(set);
            const Parameters values = settled_values(*family, *set, Backend::cpu);
            CHECK_FALSE((family->check && family->check(values)));
            CHECK_FALSE(variant.refusal(values, processor));
            CHECK(family->work(values).operations <= 1e5);
        }
}

TEST_CASE("no setting is drawn whose hash table is so crowded that a launch seems never to end", "[check]") {
    const Family& family = **find_offered_family("lut_sequence");
    Parameters crowded;
    const std::vector<std::pair<std::string, Value>> values = {
        {"backward", true},         {"hash", "sum"},
        {"connectivity", "sparse"}, {"detectors", int64_t{1023}},
        {"inputs", int64_t{2}},     {"anchors_per_detector", int64_t{2}},
        {"outputs", int64_t{14}},   {"synapses_per_neuron", int64_t{2}},
        {"batch", int64_t{1}}};
    for (const auto& [name, value] : values) crowded.set(name, value);
    const auto is_drawn = [&](int64_t length) {
        Random random(1, "crowded");
        Parameters kept = crowded;
        kept.set("sequence_length", length);
        return draw_setting(random, family, *family.variant("unfused"), processor, {.operations = 2e7}, kept)
            .has_value();
    };
    CHECK(is_drawn(5));
    CHECK_FALSE(is_drawn(47));  // minutes on two cores, where its work takes a millisecond
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
    CHECK(first_report("") == "the tool did not finish its report");
    CHECK(first_report("========= COMPUTE-SANITIZER\n"
                       "========= Invalid __global__ read of size 4 bytes\n"
                       "=========     at scan+0x10 in scan.cu:12\n"
                       "========= \n"
                       "========= Invalid __global__ read of size 8 bytes\n"
                       "========= ERROR SUMMARY: 2 errors\n") ==
          "Invalid __global__ read of size 4 bytes at scan+0x10 in scan.cu:12");
}

TEST_CASE("the kernels of a trial are compiled while it is prepared", "[check][cuda]") {
    if (!cuda::compiler_version()) return;
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
    CHECK_FALSE(has_judged(report));
    CHECK(summary_of(report) ==
          "scan: 3 settings (3 undefined, too slow or too large), 0 outputs judged, 0.0 s: nothing could be "
          "judged");
    report.judged = report.cannot_judge = 2;
    CHECK_FALSE(has_judged(report));
    report.judged = 3;
    CHECK(contains(summary_of(report), "no variant is wrong"));
}

TEST_CASE("a check refuses what it cannot do, and hears a stop", "[check]") {
    const auto unknown = check_in_workers("", {check_of("nothing")}, {}, {});
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().kind == Error::Kind::usage);
    CheckRequest variant = check_of("scale");
    variant.base.variants = {"nothing"};
    CHECK_FALSE(check_in_workers("", {variant}, {}, {}));
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
    const uint64_t second = engine.check(endless);
    CHECK_FALSE(wait_for(engine, second, Event::Kind::checked).report->complete);
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
