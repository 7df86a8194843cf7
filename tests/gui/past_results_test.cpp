#include "app/gui/state/past_results.h"

#include <imgui_internal.h>

#include "app/engine/run/configure.h"
#include "app/gui/panels/panels.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/history.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/gui/wait_for.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

int64_t shown_length(const LabState& lab) { return lab.result->parameters.integer("length"); }

// Three results, with lengths 64, 128 and 256.
struct ThreeResults {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    ThreeResults() {
        for (const int64_t length : {64, 128, 256}) run_with_length(lab, engine, length);
    }
    uint64_t ticket(size_t index) const { return lab.past_results[index].ticket; }
};

TEST_CASE("the history keeps the last 32 complete results", "[gui][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.answer(false);
    update(lab, 1);
    CHECK(lab.past_results.empty());  // not complete
    for (int64_t i = 1; i <= 33; ++i) run_with_length(lab, engine, 8 * i);
    REQUIRE(lab.past_results.size() == most_past_results);
    CHECK(lab.past_results.front().parameters.integer("length") == 16);
    CHECK(lab.past_results.back().parameters.integer("length") == 264);
    CHECK(shown_past(lab) == &lab.past_results.back());
}

TEST_CASE("an earlier result that is shown is not forgotten", "[gui][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    for (int64_t i = 1; i <= 32; ++i) run_with_length(lab, engine, 8 * i);
    const uint64_t oldest = lab.past_results.front().ticket;
    set_parameter(lab, row(lab, "length"), int64_t{512});
    look_back(lab, oldest);
    finish_run(lab, engine);
    REQUIRE(lab.past_results.size() == most_past_results);
    REQUIRE(shown_past(lab));
    CHECK(shown_past(lab)->ticket == oldest);
    CHECK(lab.past_results[1].parameters.integer("length") == 24);
    CHECK(lab.past_results.back().parameters.integer("length") == 512);
    return_to_newest(lab);
    run_with_length(lab, engine, 1024);
    CHECK(lab.past_results.front().parameters.integer("length") == 24);
}

TEST_CASE("a result of the history says what it changed, with the time and error of its fastest variant",
          "[gui][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 64);
    run_with_length(lab, engine, 256);
    submit(lab);
    auto result = std::make_shared<Result>(*lab.result);
    result->main_output = "y";
    result->variants[0].time->median = 7;
    result->variants[0].verdicts = {{"y", Verdict::wrong}};
    result->variants[1].time->median = 9;
    result->variants[1].errors[0].rel_l2 = 3e-7;
    engine.answer(engine.run_ticket, result, FakeEngine::figures(""));
    update(lab, lab.now);
    REQUIRE(lab.past_results.size() == 3);
    CHECK(what_changed(lab, lab.past_results[0]) == "first result");
    CHECK(what_changed(lab, lab.past_results[1]) == "length 64 -> 256");
    CHECK(what_changed(lab, lab.past_results[2]) == "the same settings");
    CHECK(lab.past_results[2].wrong == std::vector<std::string>{result->variants[0].name});
    CHECK(words_of_numbers(lab.past_results[2]) == result->variants[1].name + ": 9 us, rel L2 3e-07");
    CHECK(clock_of(lab.past_results[2]).size() == 8);
}

TEST_CASE("an earlier result is shown again without a run, and the newest one returns", "[gui][history]") {
    ThreeResults at;
    const bool packed = GENERATE(false, true);
    if (packed) wait_until_packed(at.lab);
    const size_t sent = at.engine.requests.size();
    const auto newest = at.lab.result;
    const Figures figures = at.lab.figures;
    look_back(at.lab, at.ticket(0));
    CHECK(shown_length(at.lab) == 64);
    CHECK(at.lab.figures->size() == figures->size());
    CHECK(shown_past(at.lab) == &at.lab.past_results[0]);
    CHECK(at.lab.told.measured.rows.size() == newest->variants.size());
    CHECK(why_outdated(at.lab).empty());
    CHECK(at.lab.request.parameters.integer("length") == 256);  // the settings stay
    step_back(at.lab, 1);
    CHECK(shown_length(at.lab) == 128);
    CHECK_FALSE(has_step_back(at.lab, 2));
    return_to_newest(at.lab);
    CHECK_FALSE(at.lab.looking_back);
    CHECK(at.lab.result == newest);
    CHECK(at.lab.figures == figures);
    CHECK(at.engine.requests.size() == sent);
    look_back(at.lab, at.ticket(1));
    look_back(at.lab, at.ticket(2));  // the newest
    CHECK_FALSE(at.lab.looking_back);
}

TEST_CASE("beside an earlier result the figures of sweeps are those of other settings", "[gui][history]") {
    ThreeResults at;
    update(at.lab, at.lab.now + 10);  // the figures of the newest result have their sweeps
    REQUIRE_FALSE(at.lab.sweeps.empty());
    const auto& sweep = *std::ranges::find_if(at.lab.sweeps, [](const BackgroundSweep& each) {
        return std::ranges::none_of(each.sweep.axes,
                                    [](const SweepAxis& axis) { return axis.parameter == "length"; });
    });
    CHECK_FALSE(is_of_other_settings(at.lab, sweep));
    CHECK(values_of_earlier(at.lab).empty());
    look_back(at.lab, at.ticket(1));  // of another length
    CHECK(values_of_earlier(at.lab) == "length " + to_text(at.lab.result->parameters.at("length")));
    CHECK(is_of_other_settings(at.lab, sweep));
    CHECK_FALSE(is_outdated(at.lab, sweep));
    return_to_newest(at.lab);
    CHECK_FALSE(is_of_other_settings(at.lab, sweep));
}

TEST_CASE("a change of the settings returns to the newest result, which the next one replaces",
          "[gui][history]") {
    ThreeResults at;
    look_back(at.lab, at.ticket(0));
    at.lab.live = GENERATE(true, false);
    set_parameter(at.lab, row(at.lab, "length"), int64_t{512});
    CHECK_FALSE(at.lab.looking_back);
    CHECK(shown_length(at.lab) == 256);
    CHECK((at.engine.requests.back().parameters.integer("length") == 512) == at.lab.live);
}

TEST_CASE("a result that arrives while an earlier one is shown stays behind it", "[gui][history]") {
    ThreeResults at;
    set_parameter(at.lab, row(at.lab, "length"), int64_t{512});
    look_back(at.lab, at.ticket(0));
    at.engine.answer(false);
    update(at.lab, at.lab.now);
    CHECK(shown_length(at.lab) == 64);
    finish_run(at.lab, at.engine);
    CHECK(shown_length(at.lab) == 64);
    CHECK(at.lab.pending.ticket == 0);
    CHECK(at.lab.past_results.size() == 4);
    CHECK(at.engine.sweeps.empty() == at.lab.sweeps.empty());
    return_to_newest(at.lab);
    CHECK(shown_length(at.lab) == 512);
}

TEST_CASE("background sweeps wait until the newest result is shown again", "[gui][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, **find_offered_family("memory"));
    finish_run(lab, engine);
    submit(lab);
    engine.answer();
    update(lab, lab.now);
    REQUIRE(lab.sweeps_due);
    lab.sweeps.clear();
    const size_t before = engine.sweeps.size();
    look_back(lab, lab.past_results.front().ticket);
    update(lab, lab.now);
    CHECK_FALSE(due(lab));
    update(lab, lab.now + 1);
    CHECK(engine.sweeps.size() == before);
    return_to_newest(lab);
    update(lab, lab.now + 1);
    CHECK(engine.sweeps.size() > before);
}

TEST_CASE("the settings of an earlier result run again, and undo returns", "[gui][history]") {
    ThreeResults at;
    follow_changes(at.lab, false);
    look_back(at.lab, at.ticket(0));
    run_again(at.lab, at.ticket(0));
    CHECK(at.engine.requests.back().parameters.integer("length") == 64);
    CHECK_FALSE(at.lab.looking_back);
    finish_run(at.lab, at.engine);
    CHECK(what_changed(at.lab, at.lab.past_results.back()) == "length 256 -> 64");
    follow_changes(at.lab, false);
    undo(at.lab);
    CHECK(at.engine.requests.back().parameters.integer("length") == 256);
    // They also run if they are the present ones.
    finish_run(at.lab, at.engine);
    const size_t sent = at.engine.requests.size();
    look_back(at.lab, at.ticket(2));
    run_again(at.lab, at.ticket(2));
    CHECK(at.engine.requests.size() == sent + 1);
}

TEST_CASE("an earlier result of another family brings its family along, and Esc goes back",
          "[gui][history]") {
    ThreeResults at;
    const Family* const first = at.lab.family;
    choose_family(at.lab, **find_offered_family("memory"));
    set_parameter(at.lab, row(at.lab, "chunk"), int64_t{16});
    finish_run(at.lab, at.engine);
    follow_changes(at.lab, false);
    const size_t sent = at.engine.requests.size(), steps = at.lab.history.undo.size();
    at.lab.sweeps_due.reset();
    look_back(at.lab, at.ticket(1));
    follow_changes(at.lab, false);
    CHECK(at.lab.family == first);
    CHECK(shown_length(at.lab) == 128);
    CHECK(at.lab.request.parameters.integer("length") == 256);  // as the family was left
    return_to_newest(at.lab);
    CHECK(at.lab.family->name == "memory");
    CHECK(at.lab.request.parameters.integer("chunk") == 16);
    CHECK(at.lab.result->request.family == "memory");
    CHECK(at.engine.requests.size() == sent);
    follow_changes(at.lab, false);
    CHECK(at.lab.history.undo.size() == steps);  // looking is no change
    CHECK(at.lab.sweeps_due);                    // which looking back ended

    // With another family shown, a change runs that one.
    look_back(at.lab, at.ticket(1));
    set_parameter(at.lab, row(at.lab, "length"), int64_t{512});
    CHECK(at.engine.requests.back().family == "scan");
    CHECK(shown_length(at.lab) == 128);  // until the new one is there
    finish_run(at.lab, at.engine);
    CHECK(shown_length(at.lab) == 512);
    CHECK_FALSE(at.lab.looking_back);
}

TEST_CASE("another family can be chosen while an earlier result is shown", "[gui][history]") {
    ThreeResults at;
    const Family& memory = **find_offered_family("memory");
    const Family& scan = *at.lab.family;
    follow_changes(at.lab, false);
    choose_family(at.lab, memory);
    finish_run(at.lab, at.engine);
    toggle_pin(at.lab);
    const Family* expected = &memory;
    size_t sent = 0;
    SECTION("from the list") {
        choose_family(at.lab, scan);
        finish_run(at.lab, at.engine);
        look_back(at.lab, at.ticket(1));
        sent = at.engine.requests.size();
        choose_family(at.lab, memory);
    }
    SECTION("by a pin") {
        choose_family(at.lab, scan);
        finish_run(at.lab, at.engine);
        look_back(at.lab, at.ticket(1));
        sent = at.engine.requests.size();
        bring_back(at.lab, at.lab.pins.front().ticket);
    }
    SECTION("by undo") {
        submit(at.lab);
        finish_run(at.lab, at.engine);
        follow_changes(at.lab, false);
        look_back(at.lab, at.ticket(3));
        sent = at.engine.requests.size();
        undo(at.lab);
        expected = &scan;
    }
    CHECK_FALSE(at.lab.looking_back);
    CHECK(at.lab.family == expected);
    CHECK(at.engine.requests.size() == sent + 1);
    finish_run(at.lab, at.engine);
    REQUIRE(at.lab.result);
    CHECK(at.lab.result->request.family == expected->name);
}

TEST_CASE("an earlier result gets figures for the present zoom and the present parameters of figures",
          "[gui][history]") {
    ThreeResults at;
    set_parameter(at.lab, row(at.lab, "drawn_channel"), int64_t{3});
    at.lab.view.visible["position"] = {10, 30};
    update(at.lab, at.lab.now + 1);
    const size_t before = at.engine.looks.size();
    look_back(at.lab, at.ticket(0));
    update(at.lab, at.lab.now);
    REQUIRE(at.engine.looks.size() == before + 1);
    CHECK(at.engine.looks.back().view.visible.contains("position"));
    CHECK(at.engine.looks.back().chosen.integer("drawn_channel") == 3);
}

TEST_CASE("zoom in an earlier result of another family asks for figures of that family", "[gui][history]") {
    ThreeResults at;
    choose_family(at.lab, **find_offered_family("memory"));
    finish_run(at.lab, at.engine);
    look_back(at.lab, at.ticket(1));
    look_at(at.lab, "position", View::Range{10, 30});
    update(at.lab, at.lab.now + 1);
    REQUIRE_FALSE(at.engine.looks.empty());
    CHECK(at.engine.looks.back().family == "scan");
}

TEST_CASE("the settings of a result leave only those variants out that the user left out", "[gui][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, **find_offered_family("memory"));
    enable_variant(lab, "tnt", false);
    finish_run(lab, engine);
    REQUIRE_FALSE(reason_refused(lab, *lab.family->variant("lattice_gla")).empty());
    toggle_pin(lab);
    set_parameter(lab, row(lab, "rule"), Value("lattice"));
    finish_run(lab, engine);
    bring_back(lab, lab.pins.front().ticket);
    CHECK(lab.disabled_variants == std::set<std::string>{"tnt"});
}

TEST_CASE("a run of another family ends when an earlier result is shown", "[gui][history]") {
    ThreeResults at;
    choose_family(at.lab, **find_offered_family("memory"));
    look_back(at.lab, at.ticket(1));
    CHECK(at.engine.cancelled_runs == 1);
    CHECK(at.lab.pending.ticket == 0);
    at.engine.answer();  // it came before the stop
    update(at.lab, at.lab.now);
    CHECK(shown_length(at.lab) == 128);
    CHECK(at.lab.family->name == "scan");
}

TEST_CASE("an earlier result can be pinned, and the engine keeps it for new figures", "[gui][history]") {
    ThreeResults at;
    look_back(at.lab, at.ticket(0));
    REQUIRE(at.engine.kept.size() == 1);
    CHECK(at.engine.kept[0].ticket == at.ticket(0));
    toggle_pin(at.lab);
    CHECK(is_pinned(at.lab));
    CHECK(at.lab.pins.front().packed == at.lab.past_results.front().packed);
    return_to_newest(at.lab);
    CHECK(at.lab.told.ghosts.size() == 1);
    // New figures of the newest result, and of the earlier one while it is shown.
    look_back(at.lab, at.ticket(1));
    const Figures earlier = at.lab.figures;
    at.engine.figures_anew();
    update(at.lab, at.lab.now);
    CHECK(at.lab.figures == earlier);
    return_to_newest(at.lab);
    CHECK(at.lab.figures->front().title == "looked at");
}

TEST_CASE("the strip of the history appears with the second result, and can be hidden",
          "[gui][window][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto mark = [&](size_t index) {
        return "//status bar/history/$$" + std::to_string(lab.past_results[index].ticket) + "/mark";
    };
    const auto has_marks = [&] {
        bool has = false;
        user.play([&](ImGuiTestContext* ctx) { has = ctx->ItemExists(mark(0).c_str()); });
        return has;
    };
    CHECK_FALSE(has_marks());
    set_parameter(lab, row(lab, "length"), int64_t{64});
    finish_run(engine, user);
    CHECK(has_marks());
    lab.settings.shows_history = false;
    CHECK_FALSE(has_marks());
}

TEST_CASE("a click on the history shows a result, Enter runs it again, and Esc returns to the newest",
          "[gui][window][history]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    for (const int64_t length : {64, 128, 256}) {
        set_parameter(lab, row(lab, "length"), length);
        finish_run(engine, user);
    }
    const auto click = [&](size_t index) {
        const uint64_t ticket = lab.past_results[index].ticket;
        user.play([&](ImGuiTestContext* ctx) {
            ctx->ItemClick(("//status bar/history/$$" + std::to_string(ticket) + "/mark").c_str());
        });
    };
    const auto press = [&](ImGuiKey key) { user.play([&](ImGuiTestContext* ctx) { ctx->KeyPress(key); }); };
    const size_t sent = engine.requests.size();
    click(1);
    CHECK(shown_length(lab) == 128);
    CHECK(contains(words_of_earlier(lab), "length 64 -> 128. Enter runs these settings again, Esc returns"));
    press(ImGuiKey_Escape);
    CHECK(shown_length(lab) == 256);
    CHECK(words_of_earlier(lab).empty());
    press(ImGuiKey_F7);
    press(ImGuiKey_F7);
    CHECK(shown_length(lab) == 64);
    press(ImGuiKey_F8);
    CHECK(shown_length(lab) == 128);
    CHECK(engine.requests.size() == sent);
    click(0);
    press(ImGuiKey_Enter);
    REQUIRE(engine.requests.size() == sent + 1);
    CHECK(engine.requests.back().parameters.integer("length") == 64);
    press(ImGuiKey_Enter);  // the newest result is shown
    CHECK(engine.requests.size() == sent + 1);
}

}  // namespace
}  // namespace sawtooth
