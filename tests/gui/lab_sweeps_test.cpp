// Background sweeps that figures request or the user starts.

#include <algorithm>
#include <set>

#include "app/engine/run/result_figures.h"
#include "app/engine/run/run_rows.h"
#include "app/engine/tables/commands.h"
#include "app/gui/figures/figure_view.h"
#include "app/gui/panels/panels.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "kernels/families.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

TEST_CASE("figure sweeps start after a pause, and again only if their base changed", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.answer();
    update(lab, 0.1);
    CHECK(engine.sweeps.empty());
    REQUIRE(due(lab));
    update(lab, *due(lab));
    const std::vector<Sweep> first = engine.sweeps;
    REQUIRE(first.size() == figure_sweeps(engine.requests[0], lab.parameters, Backend::cpu).size());
    REQUIRE(sweeps_run(lab));

    // One of the sweeps moves this parameter: it continues, and the others restart.
    const std::string swept = first[0].axes[0].parameter;
    const Parameter& changed = row(lab, swept.c_str());
    const auto values = sweep_values(changed, present_value(lab, changed));
    set_parameter(lab, changed,
                  values.front() == present_value(lab, changed) ? values.back() : values.front());
    finish_run(lab, engine);
    for (size_t i = first.size(); i < engine.sweeps.size(); ++i)
        CHECK(engine.sweeps[i].axes[0].parameter != swept);
    CHECK(engine.sweeps.size() > first.size());
    CHECK(engine.cancelled_sweeps.size() == engine.sweeps.size() - first.size());
}

TEST_CASE("sweeps wait for a pause in what only figures show, and then start", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.answer();
    update(lab, 0.1);
    REQUIRE(lab.sweeps_due);
    lab.now = 0.3;
    set_parameter(lab, row(lab, "drawn_channel"), int64_t{3});
    REQUIRE(lab.sweeps_due);
    CHECK(*lab.sweeps_due > 0.75);
    update(lab, *lab.sweeps_due);
    CHECK_FALSE(engine.sweeps.empty());
}

TEST_CASE("sweeps of figures end once their settings are left, or no figure shows them", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, **find_offered_family("memory"));
    finish_run(lab, engine);
    REQUIRE(sweeps_run(lab));
    const size_t running = lab.sweeps.size();
    set_parameter(lab, row(lab, "batch"), int64_t{3});
    for (const BackgroundSweep& sweep : lab.sweeps) {
        INFO(sweep.key);
        const bool has_own_batch = sweep.key == "growth";
        CHECK((sweep.ticket != 0) == has_own_batch);
    }
    set_parameter(lab, run_rows().front(), int64_t{77});
    CHECK_FALSE(sweeps_run(lab));
    CHECK(engine.cancelled_sweeps.size() == running);

    finish_run(lab, engine);
    CHECK(sweeps_run(lab));
    const auto keys = [&] {
        std::set<std::string> all;
        for (const BackgroundSweep& sweep : lab.sweeps) all.insert(sweep.key);
        return all;
    };
    for (const Value& rule : row(lab, "rule").choices) {
        set_parameter(lab, row(lab, "rule"), rule);
        finish_run(lab, engine);
        std::set<std::string> wanted;
        for (const Sweep& sweep : figure_sweeps(lab.result->request, lab.parameters, Backend::cpu))
            wanted.insert(sweep.id);
        CHECK(keys() == wanted);
    }
}

TEST_CASE("figures of sweeps have their place and title from the first result on", "[gui]") {
    for (const Family* family : offered_families()) {
        INFO(family->name);
        FakeEngine engine;
        LabState lab = lab_with(engine);
        choose_family(lab, *family);
        engine.answer();
        update(lab, 0.1);
        CHECK(engine.sweeps.empty());
        CHECK(lab.sweeps.size() == figure_sweeps(lab.result->request, lab.parameters, Backend::cpu).size());
        for (const BackgroundSweep& sweep : lab.sweeps) {
            INFO(sweep.key);
            REQUIRE(sweep.figures);
            CHECK_FALSE(sweep.figures->empty());
            CHECK_FALSE(is_outdated(lab, sweep));
            for (const Figure& figure : *sweep.figures) {
                CHECK_FALSE(figure.title.empty());
                CHECK(figure.missing == "0 of " + std::to_string(sweep.sweep.cells()) + " points");
            }
        }
    }
}

TEST_CASE("the figures of a restarted sweep stay, dimmed, until it has two points", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    const auto sweep_at = [&](size_t i) -> const BackgroundSweep& { return lab.sweeps[i]; };
    engine.cell(sweep_at(0).ticket, sweep_at(0).sweep, sweep_at(0).sweep.cells());
    update(lab, lab.now + 0.01);
    CHECK(sweep_at(0).figures);
    CHECK(sweep_at(0).ticket == 0);
    CHECK_FALSE(is_outdated(lab, sweep_at(0)));

    set_parameter(lab, run_rows().front(), int64_t{77});
    CHECK(is_outdated(lab, sweep_at(0)));
    finish_run(lab, engine);
    REQUIRE(sweep_at(0).ticket != 0);
    CHECK(is_outdated(lab, sweep_at(0)));
    engine.cell(sweep_at(0).ticket, sweep_at(0).sweep, 1);
    update(lab, lab.now + 0.01);
    CHECK(is_outdated(lab, sweep_at(0)));
    engine.cell(sweep_at(0).ticket, sweep_at(0).sweep, 2);
    update(lab, lab.now + 0.01);
    CHECK_FALSE(is_outdated(lab, sweep_at(0)));
}

TEST_CASE("a sweep by the user takes the values of its parameter and can be cancelled", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    open_sweep_form(lab, row(lab, "length"));
    CHECK(lab.sweep_form->values == "256..65536");
    start_sweep(lab);
    CHECK_FALSE(lab.sweep_form);
    REQUIRE(engine.sweeps.size() == 1);
    const Sweep sweep = engine.sweeps[0];
    CHECK(sweep.id.empty());
    CHECK(sweep.axes[0].parameter == "length");
    CHECK(sweep.axes[0].values == sweep_values(row(lab, "length"), row(lab, "length").initial));
    CHECK(command_of(sweep).find("sawtooth sweep " + lab.family->name + " --over length=") == 0);
    const uint64_t ticket = lab.sweeps[0].ticket;
    stop(lab);
    CHECK(engine.cancelled_sweeps == std::vector<uint64_t>{ticket});
    CHECK_FALSE(sweeps_run(lab));
}

TEST_CASE("a finished sweep by the user is kept until it has run again", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    open_sweep_form(lab, row(lab, "length"));
    start_sweep(lab);
    const auto of_user = [&]() -> const BackgroundSweep& {
        return *std::ranges::find_if(lab.sweeps, [](const BackgroundSweep& each) { return each.by_person; });
    };
    engine.cell(of_user().ticket, of_user().sweep, of_user().sweep.cells());
    update(lab, lab.now);
    const auto result = of_user().result;
    const Figures figures = of_user().figures;
    REQUIRE(result);

    set_parameter(lab, row(lab, "op"), std::string("max"));
    finish_run(lab, engine);
    REQUIRE(of_user().ticket != 0);
    engine.cell(of_user().ticket, of_user().sweep, 2);
    update(lab, lab.now);
    CHECK(of_user().result == result);
    SECTION("it returns with its family") {
        choose_family(lab, **find_offered_family("memory"));
        choose_family(lab, **find_offered_family("scan"));
        CHECK(of_user().result == result);
        CHECK(of_user().figures == figures);
    }
    SECTION("the new one takes its place, and one in a file stays there") {
        const bool is_saved = GENERATE(false, true);
        for (BackgroundSweep& sweep : lab.sweeps) sweep.is_saved = is_saved && sweep.by_person;
        engine.cell(of_user().ticket, of_user().sweep, of_user().sweep.cells());
        update(lab, lab.now);
        CHECK(of_user().result->sweep.base.parameters.at("op") == Value("max"));
        CHECK_FALSE(of_user().is_saved);
        REQUIRE(lab.session.sweeps.size() == (is_saved ? 1 : 0));
        if (is_saved) CHECK(lab.session.sweeps.front().result == result);
    }
}

TEST_CASE("a form takes ranges, a second axis, repeats and a search, and says what is wrong", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const auto wrong = [&](const SweepForm& form) {
        const auto sweep = sweep_of(lab, form);
        REQUIRE_FALSE(sweep);
        lab.sweep_form = form;
        start_sweep(lab);
        CHECK(lab.sweep_form);  // the form stays
        return sweep.error().text;
    };
    CHECK(wrong({"length", "16..4"}).find("must not be above the last") != std::string::npos);
    CHECK(wrong({"lenght", "16"}).find("Did you mean length?") != std::string::npos);
    CHECK(wrong({"length", "16", "length", "32"}).find("only once") != std::string::npos);
    CHECK(wrong({"length", "16", "drawn_batch", "0"}).find("only affects figures") != std::string::npos);
    CHECK(wrong({"length", "1k..4k", "block_size", "128,256", 5, true}).find("differ in length") !=
          std::string::npos);
    CHECK(engine.sweeps.empty());

    const auto sizes = sweep_of(lab, {"length", "1k..4k", "block_size", "128,256", 5});
    REQUIRE(sizes);
    CHECK(sizes->axes[0].values == std::vector<Value>{int64_t{1024}, int64_t{2048}, int64_t{4096}});
    lab.sweep_form = SweepForm{"block_size", "128..512", "compensated", "false,true", 5, true};
    start_sweep(lab);
    REQUIRE(engine.sweeps.size() == 1);
    const Sweep& sweep = engine.sweeps.back();
    CHECK(sweep.axes[0].values.size() == 3);
    CHECK(sweep.axes[1].parameter == "compensated");
    CHECK(sweep.base.repeats == 5);
    CHECK(sweep.search);

    // A change of the settings restarts the sweep with its own repeats.
    set_parameter(lab, row(lab, "batch"), int64_t{3});
    finish_run(lab, engine);
    const auto again = std::find_if(engine.sweeps.begin() + 1, engine.sweeps.end(),
                                    [](const Sweep& each) { return each.search; });
    REQUIRE(again != engine.sweeps.end());
    CHECK(again->base.repeats == 5);
    CHECK(again->base.parameters.integer("batch") == 3);
}

TEST_CASE("a parameter without effect on the CPU is not swept, and the form says why", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, **find_offered_family("attention"));
    CHECK(reason_not_swept(lab, row(lab, "warps")) == "It has no effect now: only on CUDA.");
    CHECK(reason_not_swept(lab, row(lab, "BLOCK_M")).empty());
    CHECK(sweep_of(lab, {"warps", "4,8"}).error().text == "warps has no effect: only on CUDA");
}

TEST_CASE("the fastest exact result of a finished sweep is kept and can be set, unless cells have other work",
          "[gui]") {
    const auto [parameter, values] =
        GENERATE(table<std::string, std::string>({{"block_size", "256..1024"}, {"length", "1k..4k"}}));
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    lab.sweep_form = SweepForm{parameter, values};
    start_sweep(lab);
    const auto found =
        std::find_if(lab.sweeps.begin(), lab.sweeps.end(), [](const auto& s) { return s.by_person; });
    auto result = std::make_shared<SweepResult>();
    result->sweep = found->sweep;
    for (size_t i = 0; i < 3; ++i) {
        auto cell = std::make_shared<Result>();
        const auto add = [&](const char* name, bool exact, double us, Verdict verdict) {
            VariantResult& variant = cell->variants.emplace_back();
            variant.index = static_cast<int>(cell->variants.size());
            variant.name = name;
            variant.exact = exact;
            variant.time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
            variant.verdicts = {{.output = "y", .verdict = verdict}};
        };
        add("an approximation", false, 1, Verdict::right);
        add("lookback", true, i == 1 ? 10 : i == 2 ? 5 : 30, i == 2 ? Verdict::wrong : Verdict::right);
        add("a slower one", true, 20, Verdict::right);
        add("a close one", true, 11, Verdict::right);
        add("another approximation", false, 1, Verdict::right);
        result->cells.push_back({found->sweep.cell(i), "", cell});
    }
    result->complete = true;
    Event event{.kind = Event::Kind::cell, .ticket = found->ticket, .sweep_result = result};
    take_sweep_event(lab, event);
    if (parameter == "length") {
        CHECK(found->best.values.empty());
        return;
    }
    REQUIRE(found->best.values.size() == 1);
    CHECK(found->best.integer("block_size") == 512);
    CHECK(
        found->best_words ==
        "lookback: block_size 512, 10 us (quartiles 10 us to 10 us), 3x faster than 256; a close one may be "
        "as fast");
    set_best(lab, found->best);
    CHECK(engine.requests.back().parameters.integer("block_size") == 512);
}

TEST_CASE("time against length reaches the length that is set", "[gui]") {
    const Family& scan = **find_offered_family("scan");
    Parameters parameters = scan.defaults();
    Request request;
    request.family = scan.name;
    const auto lengths = [&] {
        return figure_sweeps(request, parameters, Backend::cpu).front().axes.front().values;
    };
    CHECK(lengths().back() == Value(int64_t{16384}));
    parameters.set("length", int64_t{1000000});
    CHECK(lengths().back() == Value(int64_t{1000000}));
    CHECK(lengths().size() < 12);
}

TEST_CASE("the finding of a sweep starts the caption of figures chosen by its parameter", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    BackgroundSweep& sweep = lab.sweeps.front();
    Figure found = FakeEngine::figure("ways", Place::views, "Ways");
    found.caption = "Idle: sync 80 %, graph 3 %.";
    sweep.figures = std::make_shared<const std::vector<Figure>>(std::vector{found});
    sweep.done = 1;
    Figure figure = FakeEngine::figure("sawtooth", Place::views, "The sawtooth");
    CHECK(found_by_sweeps(lab, {&figure, "", nullptr}).empty());
    figure.chosen_by = {sweep.sweep.axes.front().parameter};
    CHECK(found_by_sweeps(lab, {&figure, "", nullptr}) == "Idle: sync 80 %, graph 3 %. ");
    set_parameter(lab, run_rows().front(), int64_t{77});  // the sweep has other settings from here on
    CHECK(found_by_sweeps(lab, {&figure, "", nullptr}).empty());
}

TEST_CASE("values to sweep are all choices, powers of two, or even steps around the current value", "[gui]") {
    const auto integers = [](const std::vector<Value>& values) {
        std::vector<int64_t> numbers;
        for (const Value& value : values) numbers.push_back(std::get<int64_t>(value));
        return numbers;
    };
    const Parameter powers =
        integer_parameter("p", "", Group::shape, "", 64, 1, 4096, Step::powers_of_two, Renews::inputs);
    CHECK(integers(sweep_values(powers, int64_t{64})) ==
          std::vector<int64_t>{4, 8, 16, 32, 64, 128, 256, 512, 1024});
    CHECK(integers(sweep_values(powers, int64_t{2})) == std::vector<int64_t>{1, 2, 4, 8, 16, 32});
    const Parameter even =
        integer_parameter("e", "", Group::shape, "", 20, 1, 100, Step::linear, Renews::inputs);
    CHECK(integers(sweep_values(even, int64_t{20})) ==
          std::vector<int64_t>{5, 10, 15, 20, 25, 30, 35, 40, 45});
    const Parameter few = integer_parameter("f", "", Group::shape, "", 2, 1, 3, Step::linear, Renews::inputs);
    CHECK(integers(sweep_values(few, int64_t{2})) == std::vector<int64_t>{1, 2, 3});
    CHECK(sweep_values(flag_parameter("b", "", Group::shape, false, Renews::kernels), false).size() == 2);
    const Parameter drawn =
        integer_parameter("d", "", Group::run, "", 0, 0, 9, Step::linear, Renews::figures);
    CHECK(sweep_values(drawn, int64_t{0}).empty());

    for (const Family* family : families())
        for (const Parameter& parameter : family->parameters)
            for (const Value& value : sweep_values(parameter, parameter.initial)) {
                INFO(family->name << " " << parameter.name << " " << to_text(value));
                CHECK_FALSE(parameter.check(value));
            }
}

}  // namespace
}  // namespace sawtooth
