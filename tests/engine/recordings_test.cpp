// Recorded GPUs: their times beside outputs that this machine computes.

#include "app/engine/recordings/recordings.h"

#include <algorithm>
#include <functional>
#include <set>

#include "app/engine/run/result_figures.h"
#include "app/engine/sources/local_source.h"
#include "kernels/families.h"
#include "tests/engine/engine_events.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/gpu_result.h"
#include "tests/kit/temporary_folder.h"
#include "tests/kit/workshop.h"

namespace sawtooth {
namespace {

const Family& scan() { return *find_family("scan"); }

Request recorded_scan(int64_t length) {
    Request request = scan_request({{"length", length}, {"channels", int64_t{4}}});
    request.backend = BackendChoice::cuda;
    request.recording = "h200-2026-11";
    return request;
}

// A result of scan "on a GPU" as a recording has it.
std::shared_ptr<Result> recorded_result(int64_t length) {
    Request request = recorded_scan(length);
    request.recording.clear();
    auto result = gpu_result(request, "NVIDIA H200, sm_90a");
    result->parameters = configure_shapes(request, {}, Backend::cuda)->parameters;
    for (VariantResult& variant : result->variants)
        variant.launch_count = static_cast<int64_t>(variant.launches.size());
    return result;
}

Recording recording_with(const std::vector<std::shared_ptr<Result>>& recorded) {
    std::vector<SessionResult> results;
    for (const auto& result : recorded) results.emplace_back(*result, Figures(), "2026-11-26 10:20:30");
    return Recording(scan(), std::move(results));
}

Recording recording_of(const std::vector<int64_t>& lengths) {
    std::vector<std::shared_ptr<Result>> recorded;
    for (const int64_t length : lengths) recorded.push_back(recorded_result(length));
    return recording_with(recorded);
}

std::shared_ptr<const Result> live_result(const Request& request) {
    Runner runner(shared_cache());
    const auto result = runner.run(request, {});
    REQUIRE(result);
    return *result;
}

TEST_CASE("recorded settings have the recorded times, and outputs of this CPU", "[recordings]") {
    const Recording recording = recording_of({64, 256});
    const auto run = RecordedRun::prepare(recorded_scan(256), recording);
    REQUIRE(run);
    REQUIRE(run->live());
    CHECK(run->live()->backend == BackendChoice::cpu);
    CHECK(run->live()->recording.empty());
    const auto live = live_result(*run->live());
    const auto shown = run->shown(live.get());
    REQUIRE(shown);
    const Result& result = **shown;
    CHECK(result.device == "NVIDIA H200, sm_90a, recorded 2026-11-26");
    CHECK(result.backend == Backend::cuda);
    CHECK(result.request == recorded_scan(256));
    CHECK(result.inputs.size() == live->inputs.size());
    size_t with_outputs = 0;
    for (const VariantResult& variant : result.variants) {
        CHECK(variant.time);
        const VariantResult* const computed = find(*live, variant.name);
        CHECK(variant.outputs.empty() == (!computed || !computed->ran()));
        with_outputs += !variant.outputs.empty() && variant.outputs.front().data;
    }
    CHECK(with_outputs > 0);
    CHECK(std::any_of(result.notes.begin(), result.notes.end(), [](const std::string& note) {
        return contains(note, "outputs were computed by this CPU");
    }));
}

TEST_CASE("a variant that was not recorded at these settings says so in its place", "[recordings]") {
    const auto result = recorded_result(64);
    const std::string left_out = result->variants[1].name;
    result->variants.erase(result->variants.begin() + 1);
    const Recording recording = recording_with({result});
    const auto shown = RecordedRun::prepare(recorded_scan(64), recording)->shown(nullptr);
    REQUIRE(shown);
    CHECK((*shown)->variants.at(1).name == left_out);
    CHECK((*shown)->variants.at(1).refused == "was not recorded at these settings");
    CHECK_FALSE((*shown)->variants.at(1).time);
    // A result with all variants comes first, wherever it is in the recording.
    const Recording both = recording_with({result, recorded_result(64)});
    const auto whole = RecordedRun::prepare(recorded_scan(64), both)->shown(nullptr);
    REQUIRE(whole);
    CHECK((*whole)->variants.at(1).time);
    Request few = recorded_scan(64);
    few.variants = {result->variants[0].name};
    CHECK((*RecordedRun::prepare(few, recording)->shown(nullptr))->variants.size() == 1);
}

TEST_CASE("settings that were not recorded have no times, and name the nearest", "[recordings]") {
    const Recording recording = recording_of({64, 256});
    const auto run = RecordedRun::prepare(recorded_scan(200), recording);
    REQUIRE(run);
    const auto live = live_result(*run->live());
    const auto shown = run->shown(live.get());
    REQUIRE(shown);
    for (const VariantResult& variant : (*shown)->variants) {
        CHECK_FALSE(variant.time);
        CHECK(variant.launches.empty());
    }
    CHECK((*shown)->notes.back() ==
          "H200, recorded 2026-11: these settings were not recorded, so there are no times; nearest: length "
          "= 256");
    const Parameters asked = configure_shapes(recorded_scan(200), {}, Backend::cuda)->parameters;
    CHECK(words_of(recording.changes_to_nearest(asked)) == "length = 256");
    const Parameters known = configure_shapes(recorded_scan(64), {}, Backend::cuda)->parameters;
    CHECK(recording.changes_to_nearest(known).values.empty());
    CHECK(recording.values("length") == std::vector<Value>{int64_t{64}, int64_t{256}});

    // A cell of a sweep that had one variant is nearer, and would leave nothing to compare.
    const auto cell = recorded_result(192);
    cell->variants.resize(1);
    CHECK(words_of(recording_with({cell, recorded_result(64)}).changes_to_nearest(asked)) == "length = 64");
    CHECK(words_of(recording_with({cell}).changes_to_nearest(asked)) == "length = 192");
    const auto is_there = configure_shapes(recorded_scan(192), {}, Backend::cuda)->parameters;
    CHECK(recording_with({cell, recorded_result(64)}).changes_to_nearest(is_there).values.empty());
    CHECK(recording.values("channels") == std::vector<Value>{int64_t{4}});
}

TEST_CASE("a finished sweep of settings that were not recorded says so in its empty figures",
          "[recordings]") {
    SweepResult swept;
    swept.sweep = {"", recorded_scan(200), {{"length", {int64_t{200}, int64_t{300}}}}};
    for (size_t i = 0; i < swept.sweep.cells(); ++i) {
        auto cell = std::make_shared<Result>();
        cell->request = swept.sweep.request(i);
        swept.cells.push_back({swept.sweep.cell(i), "", std::move(cell)});
    }
    const auto missing = [&] {
        std::set<std::string> words;
        for (const Figure& figure : figures_of(swept)) words.insert(figure.missing);
        return words;
    };
    const std::string no_times = "H200, recorded 2026-11 has no times for these settings.";
    CHECK_FALSE(missing().contains(no_times));
    swept.complete = true;
    CHECK(missing() == std::set{no_times});
    for (SweepCell& cell : swept.cells) cell = {cell.values, "needs op sum", nullptr};
    CHECK_FALSE(missing().contains(no_times));
}

// Of most settings little or nothing was recorded: cells are refused, and of others a variant is missing.
TEST_CASE("sweeps of an installed recording have figures at every choice of every parameter",
          "[recordings]") {
    OpenRecording open;
    for (const std::string& name : recording_names())
        for (const Family* family : offered_families()) {
            if (family->name == "scale") continue;  // the example of the tests
            for (const Parameter& row : family->parameters)
                for (const Value& choice : row.choices) {
                    Request request;
                    request.family = family->name;
                    request.backend = BackendChoice::cuda;
                    request.recording = name;
                    request.parameters.set(row.name, choice);
                    const auto settled = configure_shapes(request, {}, Backend::cuda);
                    if (!settled) continue;
                    for (const Sweep& sweep : figure_sweeps(request, settled->parameters, Backend::cuda)) {
                        INFO(name << ", " << family->name << ", " << row.name << " " << to_text(choice)
                                  << ": " << sweep.id);
                        SweepResult swept;
                        swept.sweep = sweep;
                        for (size_t i = 0; i < sweep.cells(); ++i)
                            swept.cells.push_back(recorded_cell(sweep, i, open));
                        swept.complete = true;
                        CHECK_FALSE(figures_of(swept).empty());
                    }
                }
        }
}

TEST_CASE("parameters without effect do not tell recorded results apart", "[recordings]") {
    const Recording recording = recording_of({64});
    for (const Parameter& row : scan().parameters) {
        if (row.renews != Renews::figures) continue;
        Parameters other = configure_shapes(recorded_scan(64), {}, Backend::cuda)->parameters;
        other.set(row.name, row.initial);
        CHECK(recording.changes_to_nearest(other).values.empty());
    }
}

TEST_CASE("only the variants of the Request are shown of a recording", "[recordings]") {
    Request request = recorded_scan(64);
    request.variants = {"lookback"};
    const auto run = RecordedRun::prepare(request, recording_of({64}));
    INFO((run ? "" : run.error().text));
    REQUIRE(run);
    const auto shown = run->shown(nullptr, "out of memory");
    REQUIRE(shown);
    REQUIRE((*shown)->variants.size() == 1);
    CHECK((*shown)->variants.front().name == "lookback");
    CHECK(contains((*shown)->notes.back(), "outputs were not computed: out of memory"));
}

TEST_CASE("an unknown recording, an input file and a path are refused in words", "[recordings]") {
    for (const char* const name : {"no-such-gpu", "../scan", "/etc", ""}) {
        const auto opened = Recording::open(name, scan());
        REQUIRE_FALSE(opened);
        CHECK(contains(opened.error().text, "not known; accepted: "));
    }
    Request request = recorded_scan(64);
    request.input = "in.npz";
    const auto run = RecordedRun::prepare(request, recording_of({64}));
    REQUIRE_FALSE(run);
    CHECK(contains(run.error().text, "an input file cannot be used"));
}

TEST_CASE("times and errors of other inputs or caches are not shown as those of a recording",
          "[recordings]") {
    const Recording recording = recording_of({64});
    for (const auto& change :
         std::vector<std::function<void(Request&)>>{[](Request& request) { request.seed = 2; },
                                                    [](Request& request) { request.values = Values::zeros; },
                                                    [](Request& request) { request.optional = true; },
                                                    [](Request& request) { request.cache = Cache::hot; }}) {
        Request request = recorded_scan(64);
        change(request);
        const auto run = RecordedRun::prepare(request, recording);
        REQUIRE_FALSE(run);
        CHECK(run.error().exit_code() == 2);
        CHECK(contains(run.error().text, "seed 1, usual values, no optional inputs and cold caches"));
    }
}

TEST_CASE("every installed recording answers its own settings", "[recordings]") {
    for (const std::string& name : recording_names()) {
        INFO(name);
        for (const Family* family : offered_families()) {
            if (family->name == "scale") continue;  // the example of the tests
            INFO(family->name);
            const auto recording = Recording::open(name, *family);
            REQUIRE(recording);
            Request request;
            request.family = family->name;
            request.backend = BackendChoice::cuda;
            const auto defaults = configure_shapes(request, {}, Backend::cuda);
            REQUIRE(defaults);
            const auto found = (*recording)->find(defaults->parameters);
            REQUIRE(found);
            REQUIRE(*found);
            for (const VariantResult& variant : (*found)->variants)
                for (const Metric& metric : variant.metrics)
                    if (metric.id == "of_copy") CHECK(metric.label == share_of_copy);
        }
    }
}

}  // namespace
}  // namespace sawtooth
