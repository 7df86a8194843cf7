#include "app/gui/state/lab.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/engine/files/npz.h"
#include "app/engine/run/run_rows.h"
#include "app/engine/tables/tables.h"
#include "app/gui/panels/panels.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/kept_times.h"
#include "app/gui/state/launch_words.h"
#include "app/gui/state/pacing.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "kernels/families.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/gpu_result.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("the lab starts with its first family already running", "[gui]") {
    FakeEngine engine;
    const LabState lab = std::move(*open_lab({}, engine.calls()));
    REQUIRE(engine.requests.size() == 1);
    CHECK(engine.requests[0].family == offered_families().front()->name);
    CHECK(engine.requests[0].parameters.values.empty());
    CHECK(lab.pending.ticket == 1);
}

TEST_CASE("a change is sent at once while the lab is live, and waits for F5 otherwise", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    set_parameter(lab, row(lab, "length"), int64_t{1024});
    REQUIRE(engine.requests.size() == 2);
    CHECK(engine.requests[1].parameters.integer("length") == 1024);
    finish_run(lab, engine);
    CHECK(why_outdated(lab).empty());

    lab.live = false;
    set_parameter(lab, row(lab, "length"), int64_t{2048});
    CHECK(engine.requests.size() == 2);
    CHECK(why_outdated(lab).find("F5") != std::string::npos);
    submit(lab);
    CHECK(engine.requests.size() == 3);
}

TEST_CASE("the old result stays during a run and is marked once the run takes long", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    const auto old = lab.result;
    set_parameter(lab, row(lab, "length"), int64_t{512});
    update(lab, lab.now + patience / 2);
    CHECK(why_outdated(lab).empty());
    update(lab, lab.now + patience);
    CHECK(why_outdated(lab).find("running") != std::string::npos);
    CHECK(lab.result == old);
    engine.answer();
    update(lab, lab.now + 0.01);
    CHECK(lab.result != old);
    CHECK(why_outdated(lab).empty());
}

const Figure& figure_of(const LabState& lab, const std::string& id) {
    return *std::find_if(lab.figures->begin(), lab.figures->end(),
                         [&](const Figure& figure) { return figure.id == id; });
}

TEST_CASE("partial results have new outputs, and keep labelled old times until new ones are measured",
          "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    set_parameter(lab, row(lab, "block_size"), int64_t{128});
    finish_run(lab, engine);
    set_parameter(lab, row(lab, "block_size"), int64_t{256});
    for (const int64_t length : {512, 256}) {  // the slider moves on before the times arrive
        set_parameter(lab, row(lab, "length"), length);
        engine.answer(false);
        update(lab, lab.now + 1);
        CHECK(lab.result->parameters.integer("length") == length);
        CHECK(figure_of(lab, "outputs").title == "of its outputs");
        CHECK(why_outdated(lab, figure_of(lab, "outputs")).empty());
        CHECK(figure_of(lab, "times").title == "of the result");
        CHECK(contains(why_outdated(lab, figure_of(lab, "times")), "measuring"));
        CHECK(contains(why_times_outdated(lab), "length = 4096, block_size = 128"));
        CHECK(lab.result->variants[0].time);
        CHECK(lab.told.measured.rows == numbers_table(*lab.result).rows);
    }
    engine.answer();
    update(lab, lab.now + 0.01);
    CHECK(figure_of(lab, "times").title == "of the result");
    CHECK(why_outdated(lab, figure_of(lab, "times")).empty());
    CHECK(why_times_outdated(lab).empty());
    CHECK(lab.kept_figures.empty());
}

TEST_CASE("a run that ends between its outputs and its times leaves only the times out of date", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.answer(false);
    update(lab, lab.now + 0.01);
    CHECK(figure_of(lab, "times").marks.empty());  // there are no older times
    finish_run(lab, engine);
    auto timed = std::make_shared<Result>(*lab.result);
    timed->in_turns = true;  // decides what is said about the times
    lab.result = timed;
    set_parameter(lab, row(lab, "length"), int64_t{512});
    engine.answer(false);
    update(lab, lab.now + 0.01);
    CHECK(lab.result->in_turns);
    const bool fails = GENERATE(false, true);
    engine.fail(fails ? Error::failure("the worker ended") : Error::cancelled());
    update(lab, lab.now + 0.01);
    CHECK(lab.failure.has_value() == fails);
    CHECK(why_outdated(lab, figure_of(lab, "outputs")).empty());
    CHECK(contains(why_outdated(lab, figure_of(lab, "times")), fails ? "failed" : "stopped"));
    choose_family(lab, *find_family("memory"));
    CHECK_FALSE(lab.times_of);
    CHECK(lab.kept_figures.empty());
}

TEST_CASE("the window draws outputs at once, and other events during measurements rarely", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    set_parameter(lab, row(lab, "length"), int64_t{512});
    Pacing pacing;
    for (int frame = 0; frame < 4; ++frame) pacing.drawn(lab, lab.now);
    engine.progress(0.1, "reference");
    pacing.woken();
    update(lab, lab.now + 0.001);
    CHECK(pacing.next(lab, false) > lab.now);
    engine.answer(false);
    pacing.woken();
    update(lab, lab.now + 0.001);
    CHECK(pacing.next(lab, false) <= lab.now);
    pacing.drawn(lab, lab.now);
    engine.progress(0.5, "lookback, repeat 3 of 9");
    pacing.woken();
    update(lab, lab.now + 0.001);
    CHECK(pacing.next(lab, false) > lab.now);
}

TEST_CASE("the facts that panels show change with the result", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    CHECK(lab.told.measured.rows.empty());
    finish_run(lab, engine);
    CHECK(lab.told.measured.rows == numbers_table(*lab.result).rows);
    CHECK_FALSE(lab.told.measured.rows.empty());
    CHECK_FALSE(lab.told.has_achieved);

    auto counted = std::make_shared<Result>(*lab.result);
    LaunchRecord launch;
    launch.info = std::make_shared<LaunchInfo>();
    launch.occupancy.achieved = 0.5;
    counted->variants = {counted->variants.front()};
    counted->variants[0].launches = {launch};
    counted->variants[0].compiled = {{"rows", "sm_80", {}, {}}};
    submit(lab);
    engine.answer(engine.run_ticket, std::move(counted), {});
    update(lab, lab.now + 0.01);
    CHECK(lab.told.measured.rows.size() == 1);
    CHECK(lab.told.compiled.rows.size() == 1);
    CHECK(lab.told.has_achieved);

    auto wrong = std::make_shared<Result>(*lab.result);
    wrong->variants[0].verdicts = {
        {.output = "y", .verdict = Verdict::wrong, .judged = 1000, .elements = 12}};
    submit(lab);
    engine.answer(engine.run_ticket, wrong, {});
    update(lab, lab.now + 0.01);
    CHECK(lab.told.wrong ==
          std::map<std::string, std::string>{{wrong->variants[0].name, "y is wrong: 12 of 1,000 elements"}});

    choose_family(lab, *lab.families[lab.families[0] == lab.family ? 1 : 0]);
    CHECK(lab.told.measured.rows.empty());
    CHECK(lab.told.wrong.empty());
    CHECK_FALSE(lab.told.has_achieved);
}

TEST_CASE("results of older requests are shown meanwhile, but never after newer ones", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    set_parameter(lab, row(lab, "length"), int64_t{512});
    set_parameter(lab, row(lab, "length"), int64_t{256});
    engine.answer(2, engine.requests[1], true);
    update(lab, lab.now + 0.01);
    REQUIRE(lab.result);
    CHECK(lab.result->parameters.integer("length") == 512);
    CHECK(lab.pending.ticket == 3);
    engine.answer(3, engine.requests[2], true);
    engine.answer(2, engine.requests[1], true);
    update(lab, lab.now + 0.01);
    CHECK(lab.result->parameters.integer("length") == 256);
    CHECK(lab.pending.ticket == 0);
}

TEST_CASE("figures that arrive when no result is shown are ignored", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.figures_anew();
    update(lab, lab.now + 0.01);
    CHECK_FALSE(lab.figures);
    finish_run(lab, engine);
    const Figures of_result = lab.figures;
    engine.figures_anew();
    update(lab, lab.now + 0.01);
    CHECK(lab.figures != of_result);
}

TEST_CASE("refused settings are not sent but shown at their control, and the old result stays", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    set_parameter(lab, row(lab, "length"), int64_t{0});
    CHECK(engine.requests.size() == 1);
    REQUIRE(lab.problem);
    CHECK(lab.problem->parameter == "length");
    CHECK(lab.problem->error.text.find('\n') == std::string::npos);
    CHECK(lab.result);
    CHECK(why_outdated(lab).find("cannot run") != std::string::npos);
    reset_parameter(lab, row(lab, "length"));
    CHECK_FALSE(lab.problem);
}

TEST_CASE("a failure of the engine is a problem and a line in the log, stopping is neither", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.fail(Error::failure("it would take 9 GiB, and 2 GiB are free"));
    update(lab, 0.1);
    REQUIRE(lab.problem);
    CHECK(lab.problem->error.text.find("9 GiB") != std::string::npos);
    CHECK(lab.log.back().kind == LogLine::Kind::problem);

    submit(lab);
    CHECK_FALSE(lab.problem);
    stop(lab);
    CHECK(engine.cancelled_runs == 1);
    engine.fail(Error::cancelled());
    update(lab, 0.2);
    CHECK_FALSE(lab.problem);
    CHECK(lab.pending.ticket == 0);
    CHECK(lab.log.back().text == "stopped");
}

TEST_CASE("parameters that only renew figures run nothing", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    const auto& rows = lab.family->parameters;
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [](const Parameter& r) { return r.renews == Renews::figures; });
    REQUIRE(found != rows.end());
    set_parameter(lab, *found, static_cast<int64_t>(found->maximum));
    update(lab, lab.now + 0.01);
    CHECK(engine.requests.size() == 1);
    REQUIRE(engine.looks.size() == 1);
    CHECK(engine.looks[0].chosen.integer(found->name) == static_cast<int64_t>(found->maximum));
    CHECK(why_outdated(lab).empty());
}

TEST_CASE("zooming requests new figures after a pause", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    look_at(lab, "position", View::Range{10, 20});
    look_at(lab, "position", View::Range{10, 30});
    CHECK(engine.looks.empty());
    REQUIRE(due(lab));
    update(lab, *due(lab));
    REQUIRE(engine.looks.size() == 1);
    CHECK(engine.looks[0].view.visible.at("position") == View::Range{10, 30});
    look_at(lab, "position", {});
    update(lab, lab.now + 1);
    CHECK(engine.looks.back().view.visible.empty());
    look_at(lab, "axis of one figure alone", View::Range{0, 1});
    update(lab, lab.now + 1);
    CHECK(engine.looks.size() == 2);
}

TEST_CASE("figures that cannot be recomputed are noted once in the Log, and the result stays", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    const auto result = lab.result;
    const Figures figures = lab.figures;
    const size_t lines = lab.log.size();
    for (int times = 0; times < 2; ++times) {
        engine.fail(Error::failure("the worker that has this result is gone; run it again"));
        update(lab, lab.now + 1);
    }
    CHECK(lab.log.size() == lines + 1);
    CHECK(lab.log.back().kind == LogLine::Kind::problem);
    CHECK(lab.log.back().text.find("run it again") != std::string::npos);
    CHECK_FALSE(lab.problem);
    CHECK_FALSE(lab.failure);
    CHECK(lab.result == result);
    CHECK(lab.figures == figures);
}

TEST_CASE("a variant that is not selected is not requested, and at least one must be selected", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    CHECK(engine.requests.back().variants.empty());
    const std::string first = lab.family->variants.front().name;
    enable_variant(lab, first, false);
    const auto& asked = engine.requests.back().variants;
    CHECK(asked.size() == lab.family->variants.size() - 1);
    CHECK(std::find(asked.begin(), asked.end(), first) == asked.end());
    enable_variant(lab, first, true);
    CHECK(engine.requests.back().variants.empty());

    const size_t sent = engine.requests.size();
    for (const Variant& variant : lab.family->variants) enable_variant(lab, variant.name, false);
    CHECK(engine.requests.size() == sent + lab.family->variants.size() - 1);
    REQUIRE(lab.problem);
}

TEST_CASE("a file fixes the sizes of its arrays until it is closed", "[gui]") {
    const TemporaryFolder folder;
    Array x = Array::zeros("x", Dtype::f32, {3, 40, 5});
    REQUIRE_FALSE(write_npz(folder.file("in.npz"), {x}));
    FakeEngine engine;
    LabState lab = lab_with(engine);
    set_parameter(lab, row(lab, "length"), int64_t{512});
    open_file(lab, folder.file("in.npz"));
    lab.opening->file.result.wait();
    update(lab, 0.1);
    REQUIRE_FALSE(lab.problem);
    CHECK(engine.requests.back().input == folder.file("in.npz"));
    CHECK(shown_value(lab, row(lab, "length")) == Value(int64_t{40}));
    CHECK_FALSE(reason_fixed(lab, row(lab, "length")).empty());
    CHECK(reason_fixed(lab, row(lab, "op")).empty());
    close_file(lab);
    CHECK(engine.requests.back().input.empty());
    CHECK(reason_fixed(lab, row(lab, "length")).empty());
}

TEST_CASE("a second file is not opened while the first is being read, and the Log says so", "[gui]") {
    const TemporaryFolder folder;
    REQUIRE_FALSE(write_npz(folder.file("first.npz"), {Array::zeros("x", Dtype::f32, {3, 40, 5})}));
    FakeEngine engine;
    LabState lab = lab_with(engine);
    open_file(lab, folder.file("first.npz"));
    open_file(lab, folder.file("second.npz"));
    CHECK(lab.opening->path == folder.file("first.npz"));
    CHECK(lab.log.back().text.find("still reading") != std::string::npos);
    lab.opening->file.result.wait();
    update(lab, 0.1);
    CHECK(engine.requests.back().input == folder.file("first.npz"));
}

TEST_CASE("a file that is still read when its family is left is opened when the family returns", "[gui]") {
    const TemporaryFolder folder;
    REQUIRE_FALSE(write_npz(folder.file("in.npz"), {Array::zeros("x", Dtype::f32, {3, 40, 5})}));
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const Family& scan = *lab.family;
    open_file(lab, folder.file("in.npz"));
    choose_family(lab, **find_offered_family("memory"));
    CHECK(contains(lab.log.back().text, "stopped reading"));
    CHECK_FALSE(lab.opening);
    while (!lab.given_up.empty()) update(lab, lab.now + 0.01);
    CHECK(lab.given.empty());
    CHECK(lab.open_problem.empty());
    CHECK(engine.requests.back().input.empty());
    choose_family(lab, scan);
    REQUIRE(lab.opening);
    lab.opening->file.result.wait();
    update(lab, lab.now + 0.01);
    CHECK(engine.requests.back().input == folder.file("in.npz"));
    CHECK(shown_value(lab, row(lab, "length")) == Value(int64_t{40}));
}

TEST_CASE("a file that cannot be read changes nothing and says why", "[gui]") {
    const TemporaryFolder folder;
    put(folder.file("bad.npz"), "not an archive");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const Request before = lab.request;
    for (const char* name : {"bad.npz", "absent.npz"}) {
        open_file(lab, folder.file(name));
        lab.opening->file.result.wait();
        update(lab, 0.1);
        CHECK(lab.open_problem.find(name) != std::string::npos);
        CHECK(lab.log.back().kind == LogLine::Kind::problem);
    }
    CHECK(lab.request == before);
    CHECK(engine.requests.size() == 1);
}

TEST_CASE("resetting everything selects and runs all variants again", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    for (const Variant& variant : lab.family->variants) enable_variant(lab, variant.name, false);
    REQUIRE(lab.problem);
    const size_t sent = engine.requests.size();
    reset_parameters(lab);
    CHECK_FALSE(lab.problem);
    CHECK(lab.disabled_variants.empty());
    CHECK(engine.requests.size() == sent + 1);
}

TEST_CASE("resetting everything leaves nothing changed", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    for (const Parameter& changed : run_rows())
        set_parameter(lab, changed,
                      changed.type == Type::choice    ? changed.choices.back()
                      : changed.type == Type::boolean ? Value(true)
                                                      : Value(int64_t{1}));
    set_parameter(lab, row(lab, "length"), int64_t{512});
    reset_parameters(lab);
    for (const Parameter& each : run_rows()) CHECK_FALSE(is_changed(lab, each));
    CHECK(engine.requests.back() == engine.requests.front());
}

TEST_CASE("nothing is due or drawn once everything is done", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    CHECK_FALSE(due(lab));
    Pacing pacing;
    double now = lab.now;
    for (int i = 0; i < 20 && pacing.next(lab, false) < now + 10; ++i) pacing.drawn(lab, now = now + 0.1);
    CHECK(pacing.next(lab, false) > now + 1000);
    pacing.happened(now);
    CHECK(pacing.next(lab, false) <= now);
}

TEST_CASE("during a run events of the engine are drawn rarely and the result at once", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    Pacing pacing;
    update(lab, 10);
    pacing.drawn(lab, 10);
    pacing.woken();
    CHECK(pacing.next(lab, false) > 10.05);
    engine.answer();
    update(lab, 10.01);
    CHECK(pacing.next(lab, false) <= 10.01);
}

TEST_CASE("a choice shows what was set, not the choice of an earlier result", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, **find_offered_family("memory"));
    finish_run(lab, engine);
    const Parameter& readout = row(lab, "readout");
    set_parameter(lab, readout, Value("boundary"));
    CHECK(shown_value(lab, readout) == Value("boundary"));
    CHECK_FALSE(settled_value(lab, readout));
    // Only a word such as auto stands for another value.
    choose_family(lab, **find_offered_family("attention"));
    CHECK(settled_value(lab, row(lab, "dtype")) == Value("f32"));
}

TEST_CASE("with a preset, a parameter is reset to the value of the preset", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_preset(lab, "paper");
    const Parameter& length = row(lab, "length");
    CHECK_FALSE(is_changed(lab, length));
    const Value of_preset = shown_value(lab, length);
    REQUIRE(of_preset != length.initial);
    CHECK(value_of_reset(lab, length) == of_preset);
    set_parameter(lab, length, length.initial);
    CHECK(is_changed(lab, length));
    reset_parameter(lab, length);
    CHECK(shown_value(lab, length) == of_preset);
    CHECK(value_of_reset(lab, row(lab, "op")) == row(lab, "op").initial);
}

}  // namespace
}  // namespace sawtooth
