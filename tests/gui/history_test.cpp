// Undo and redo, and the settings at which a family was left.

#include "app/gui/state/history.h"
#include "app/engine/run/run_rows.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/shown_values.h"

#include <algorithm>

#include "app/gui/state/backends.h"
#include "app/gui/state/lab.h"
#include "kernels/families.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

// A lab that has its first result and looks for changes like a window.
struct Hands {
    FakeEngine engine;
    LabState lab = lab_with(engine);

    Hands() {
        finish_run(lab, engine);
        follow_changes(lab, false);
    }
    void set(const char* name, Value value) {
        set_parameter(lab, row(lab, name), std::move(value));
        follow_changes(lab, false);
    }
    int64_t length() const { return std::get<int64_t>(shown_value(lab, row(lab, "length"))); }
    const Request& sent() const { return engine.requests.back(); }
};

TEST_CASE("undo takes changes back one by one, and redo makes them again", "[gui]") {
    Hands at;
    at.set("length", int64_t{512});
    at.set("length", int64_t{1024});
    CHECK(words_of_undo(at.lab) == "length");
    undo(at.lab);
    CHECK(at.length() == 512);
    CHECK(at.sent().parameters.integer("length") == 512);
    undo(at.lab);
    CHECK(at.length() == 4096);
    CHECK(at.sent() == at.engine.requests.front());
    CHECK(words_of_undo(at.lab).empty());
    const size_t sent = at.engine.requests.size();
    undo(at.lab);
    CHECK(at.engine.requests.size() == sent);
    redo(at.lab);
    redo(at.lab);
    CHECK(at.length() == 1024);
    CHECK(words_of_redo(at.lab).empty());
}

TEST_CASE("the last 200 changes can be undone", "[gui]") {
    Hands at;
    for (int64_t length = 1; length <= 201; ++length) at.set("length", length);
    for (int64_t length = 200; length >= 1; --length) {
        undo(at.lab);
        CHECK(at.length() == length);
    }
    CHECK(words_of_undo(at.lab).empty());
}

TEST_CASE("a change after undo ends what could be redone", "[gui]") {
    Hands at;
    at.set("length", int64_t{512});
    undo(at.lab);
    at.set("channels", int64_t{8});
    CHECK(words_of_redo(at.lab).empty());
    redo(at.lab);
    CHECK(at.length() == 4096);
}

TEST_CASE("a drag is one step", "[gui]") {
    Hands at;
    for (int64_t length = 8; length <= 2048; length *= 2) {
        set_parameter(at.lab, row(at.lab, "length"), length);
        follow_changes(at.lab, true);
    }
    follow_changes(at.lab, false);
    undo(at.lab);
    CHECK(at.length() == 4096);
    CHECK(words_of_undo(at.lab).empty());
}

TEST_CASE("variants, presets, examples, resets, rows of the run and the chip are steps", "[gui]") {
    Hands at;
    LabState& lab = at.lab;
    choose_family(lab, *find_family("memory"));
    follow_changes(lab, false);
    const auto is_a_step = [&](auto&& change) {
        const Request before = request_of(lab);
        const size_t steps = lab.history.undo.size();
        change();
        const Request after = request_of(lab);
        REQUIRE(after != before);
        follow_changes(lab, false);
        CHECK(lab.history.undo.size() == steps + 1);
        undo(lab);
        CHECK(request_of(lab) == before);
        redo(lab);
        CHECK(request_of(lab) == after);
    };
    is_a_step([&] { enable_variant(lab, lab.family->variants.front().name, false); });
    is_a_step([&] { choose_preset(lab, lab.family->presets.front().name); });
    is_a_step([&] { try_out(lab, lab.family->about.tries.front()); });
    is_a_step([&] { set_parameter(lab, run_rows().front(), int64_t{7}); });
    is_a_step([&] { reset_parameters(lab); });
    is_a_step([&] { choose_chip(lab, "sm_90a"); });
    is_a_step([&] { choose_backend(lab, BackendChoice::automatic, 0); });
}

TEST_CASE("undo brings the claim of an example back with its values", "[gui]") {
    Hands at;
    const Try& example = at.lab.family->about.tries.front();
    try_out(at.lab, example);
    follow_changes(at.lab, false);
    reset_parameters(at.lab);
    CHECK(at.lab.tried.empty());
    follow_changes(at.lab, false);
    undo(at.lab);
    CHECK(at.lab.tried == example.words);
    undo(at.lab);
    CHECK(at.lab.tried.empty());
}

TEST_CASE("undo goes back across families", "[gui]") {
    Hands at;
    at.set("length", int64_t{512});
    choose_family(at.lab, *find_family("memory"));
    follow_changes(at.lab, false);
    at.set("length", int64_t{256});
    undo(at.lab);
    undo(at.lab);
    CHECK(at.lab.family->name == "scan");
    CHECK(at.length() == 512);
    CHECK(at.sent().family == "scan");
    CHECK_FALSE(at.lab.result);
    finish_run(at.lab, at.engine);
    CHECK(at.lab.result);
    redo(at.lab);
    redo(at.lab);
    CHECK(at.lab.family->name == "memory");
    CHECK(at.length() == 256);
}

TEST_CASE("undo of what only figures show runs nothing", "[gui]") {
    Hands at;
    const auto drawn = std::find_if(at.lab.family->parameters.begin(), at.lab.family->parameters.end(),
                                    [](const Parameter& each) { return each.renews == Renews::figures; });
    at.set(drawn->name.c_str(), static_cast<int64_t>(drawn->maximum));
    update(at.lab, at.lab.now + 1);
    const size_t sent = at.engine.requests.size(), looks = at.engine.looks.size();
    undo(at.lab);
    update(at.lab, at.lab.now + 1);
    CHECK(at.engine.requests.size() == sent);
    REQUIRE(at.engine.looks.size() == looks + 1);
    CHECK(Value(at.engine.looks.back().chosen.integer(drawn->name)) == drawn->initial);
}

TEST_CASE("undo waits for F5 like any change while the lab is not live", "[gui]") {
    Hands at;
    at.set("length", int64_t{512});
    at.lab.live = false;
    const size_t sent = at.engine.requests.size();
    undo(at.lab);
    CHECK(at.length() == 4096);
    CHECK(at.engine.requests.size() == sent);
}

TEST_CASE("undo leads out of settings that cannot run", "[gui]") {
    Hands at;
    at.set("length", int64_t{0});
    REQUIRE(at.lab.problem);
    undo(at.lab);
    CHECK_FALSE(at.lab.problem);
}

TEST_CASE("a family comes back as it was left: parameters, variants, what is drawn, hidden lines, zoom",
          "[gui]") {
    Hands at;
    LabState& lab = at.lab;
    at.set("length", int64_t{512});
    at.set("drawn_channel", int64_t{3});
    enable_variant(lab, lab.family->variants.back().name, false);
    lab.hidden_variants = {1};
    look_at(lab, "position", View::Range{10, 20});
    const Request left = request_of(lab);
    choose_family(lab, *find_family("memory"));
    CHECK(at.sent().parameters.values.empty());
    CHECK(at.sent().variants.empty());
    CHECK(lab.hidden_variants.empty());
    CHECK(lab.view.visible.empty());
    choose_family(lab, *find_family("scan"));
    CHECK(at.sent() == left);
    CHECK(lab.hidden_variants == std::set<int>{1});
    CHECK(lab.view.visible.at("position") == View::Range{10, 20});
}

TEST_CASE("rows of the run are the same for all families", "[gui]") {
    Hands at;
    at.set("length", int64_t{512});
    set_parameter(at.lab, run_rows().front(), int64_t{7});
    choose_family(at.lab, *find_family("memory"));
    CHECK(at.sent().seed == 7);
}

}  // namespace
}  // namespace sawtooth
