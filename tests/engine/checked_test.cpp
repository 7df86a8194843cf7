// Messages from the other end of a conversation are checked before anything uses them.

#include "app/engine/wire/checked.h"

#include <cmath>
#include <limits>

#include "app/engine/run/runner.h"
#include "app/engine/wire/messages.h"
#include "app/engine/wire/wire.h"
#include "kernels/families.h"
#include "kernels/scan/family.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/presets.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

Request small_request() {
    Request request;
    request.family = "scan";
    request.parameters.set("length", int64_t{64});
    request.repeats = 1;
    request.threads = 1;
    return request;
}

const Result& honest() {
    static const auto result = *Runner(shared_cache()).run(small_request(), {});
    return *result;
}

TEST_CASE("an honest result passes, whatever the settings of a family", "[checked]") {
    const auto checked = checked_result(honest(), small_request());
    REQUIRE(checked);
    CHECK((*checked)->variants.size() == honest().variants.size());
    for (const Family* family : offered_families())
        for (const Backend backend : {Backend::cpu, Backend::cuda}) {
            for (const std::string& preset : preset_names(*family)) {
                INFO(family->name << " " << preset);
                Request request;
                request.family = family->name;
                request.preset = preset;
                const auto configuration = configure(request, {}, backend);
                REQUIRE(configuration);
                Result result;
                result.parameters = configuration->parameters;
                CHECK(checked_result(result, request));
            }
        }
}

TEST_CASE("nothing of the Request in an answer is used: no command, no file, no family", "[checked]") {
    Result answer = honest();
    answer.request.on = "touch evil";
    answer.request.input = "/etc/passwd";
    answer.request.family = "memory";
    answer.request.kernels = "/evil";
    answer.request.backend = BackendChoice::cuda;
    answer.request.parameters = {};
    answer.request.variants = {"x"};
    const auto checked = checked_result(answer, small_request());
    REQUIRE(checked);
    CHECK((*checked)->request == small_request());

    Sweep sweep{"", small_request(), {{"length", {int64_t{32}, int64_t{64}}}}};
    SweepCell cell{{}, "", std::make_shared<const Result>(answer)};
    const auto checked_one = checked_cell(cell, sweep, 1);
    REQUIRE(checked_one);
    CHECK(checked_one->values == std::vector<Value>{int64_t{64}});
    CHECK(checked_one->result->request == sweep.request(1));
}

TEST_CASE("an answer that does not agree with the schema is refused in words", "[checked]") {
    const double nan = std::nan("");
    const std::vector<std::pair<const char*, std::function<void(Result&)>>> lies = {
        {"no value of parameter", [](Result& r) { r.parameters = {}; }},
        {"length", [](Result& r) { r.parameters.set("length", int64_t{0}); }},
        {"length", [](Result& r) { r.parameters.set("length", std::string("x")); }},
        {"unknown parameter", [](Result& r) { r.parameters.set("evil", int64_t{1}); }},
        {"unknown variant", [](Result& r) { r.variants[0].name = "evil"; }},
        {"index", [](Result& r) { r.variants[0].index = 1 << 30; }},
        {"not in order", [](Result& r) { std::swap(r.variants[0], r.variants[1]); }},
        {"not in order", [](Result& r) { r.variants.push_back(r.variants.back()); }},
        {"unknown output", [](Result& r) { r.variants[0].errors[0].output = "evil"; }},
        {"impossible shape",
         [](Result& r) {
             r.inputs[0].shape = {int64_t{1} << 40, int64_t{1} << 40};
         }},
        {"impossible shape", [](Result& r) { r.variants[0].outputs[0].shape = {-1}; }},
        {"unknown input", [](Result& r) { r.inputs[0].name = "../../evil"; }},
        {"unknown input", [](Result& r) { r.inputs[0].name = r.variants[0].outputs[0].name; }},
        {"twice", [](Result& r) { r.inputs.push_back(r.inputs[0]); }},
        {"unknown output", [](Result& r) { r.variants[0].outputs[0].name = "/evil"; }},
        {"unknown output", [](Result& r) { r.reference[0].name = "evil/" + r.reference[0].name; }},
        {"no distance", [&](Result& r) { r.variants[0].errors[0].max_abs = nan; }},
        {"no distance", [](Result& r) { r.variants[0].errors[0].rel_l2 = -5; }},
        {"no distance", [](Result& r) { r.variants[0].errors[0].nonfinite = -1; }},
        {"no durations", [&](Result& r) { r.variants[0].time->median = nan; }},
        {"no durations", [&](Result& r) { r.variants[0].time->samples = {-1}; }},
        {"without a duration", [&](Result& r) { r.variants[0].launches[0].duration_us = nan; }},
        {"more launches", [](Result& r) { r.variants[0].launch_count = -1; }},
        {"processors", [](Result& r) { r.processors = -1; }},
    };
    for (const auto& [words, lie] : lies) {
        INFO(words);
        Result answer = honest();
        lie(answer);
        const auto checked = checked_result(answer, small_request());
        REQUIRE_FALSE(checked);
        CHECK(contains(checked.error().text, words));
        Sweep sweep{"", small_request(), {{"length", {int64_t{64}}}}};
        CHECK_FALSE(checked_cell({{}, "", std::make_shared<const Result>(answer)}, sweep, 0));
    }
}

TEST_CASE("numbers of a Request outside their range are refused before anything is started", "[checked]") {
    for (const auto& [option, change] : std::vector<std::pair<const char*, std::function<void(Request&)>>>{
             {"threads", [](Request& r) { r.threads = 1000000; }},
             {"threads", [](Request& r) { r.threads = -1; }},
             {"repeats", [](Request& r) { r.repeats = -1; }},
             {"device", [](Request& r) { r.device = -1; }}}) {
        Request request = small_request();
        change(request);
        const auto outcome = Runner(shared_cache()).run(request, {});
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().exit_code() == 2);
        CHECK(contains(outcome.error().text, option));
    }
}

TEST_CASE("figures of a finding have as many values as they say", "[checked]") {
    CheckRequest asked;
    asked.base = small_request();
    const Variant& variant = scan_family().variants.front();
    Finding finding;
    finding.variant = variant.name;
    finding.request = small_request();
    finding.request.variants = {variant.name};
    finding.verdict.output = "y";
    Figure figure;
    figure.id = "outputs";
    figure.marks.push_back(HeatMap{});
    finding.figures = {figure};
    CheckReport report;
    report.family = "scan";
    report.findings = {finding};
    CHECK(checked_report(report, asked));
    auto& map = std::get<HeatMap>(report.findings[0].figures[0].marks[0]);
    map.rows = map.columns = 4;
    const auto refused = checked_report(report, asked);
    REQUIRE_FALSE(refused);
    CHECK(contains(refused.error().text, "figure outputs has a heat map"));
}

TEST_CASE("a look may change only what figures show", "[checked]") {
    for (const Family* family : offered_families())
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name);
            Parameters chosen;
            chosen.set(row.name, row.initial);
            CHECK(check_look(*family, {}, chosen).has_value() == (row.renews != Renews::figures));
            chosen.set(row.name, std::string("evil"));
            CHECK(check_look(*family, {}, chosen));
            if (row.type != Type::integer) continue;
            chosen.set(row.name, std::numeric_limits<int64_t>::max());
            CHECK(check_look(*family, {}, chosen));
        }
    const Family& family = *offered_families().front();
    View view;
    CHECK_FALSE(check_look(family, view, {}));
    view.columns = 0;
    CHECK(check_look(family, view, {}));
    view = {};
    view.visible["time"] = {1, 1};
    CHECK(check_look(family, view, {}));
}

TEST_CASE("text of a worker has no control characters but line breaks and tabs", "[checked]") {
    CHECK(printable("plain \xC3\xA9 \xE2\x80\xA6\n\t") == "plain \xC3\xA9 \xE2\x80\xA6\n\t");
    CHECK(printable("\x1B[31mred\x07\x7F\r") == "?[31mred???");
    CHECK(printable("\xC2\x9B"
                    "31m\xC2\xA0") == "?31m\xC2\xA0");
    const auto message = decode_from_worker(encode(FromWorker(Failed{1, Error::failure("\x1B]0;evil\x07")})));
    REQUIRE(message);
    CHECK(std::get<Failed>(*message).error.text == "?]0;evil?");
    // A path that the client names reaches the worker unchanged.
    Request request = small_request();
    request.input = "odd\x01name";
    const auto job = decode_to_worker(encode(ToWorker(RunJob{1, 1, request, false, {}})));
    REQUIRE(job);
    CHECK(std::get<RunJob>(*job).request.input == request.input);
}

}  // namespace
}  // namespace sawtooth
