// Controls of parameters that have no effect or are limited by others.

#include "app/engine/run/configure.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/shown_values.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

TEST_CASE("an unused row can be changed and sends nothing", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 1600, 1400);
    choose_family(lab, **find_offered_family("memory"));
    finish_run(engine, user);
    lab.filter = "slot_count";  // a search opens the fold
    user.frames(3);
    const size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemDragWithDelta("//Parameters/slot_count/##control", {40, 0});
    });
    CHECK(shown_value(lab, row(lab, "slot_count")) != row(lab, "slot_count").initial);
    CHECK(engine.requests.size() == sent);
    CHECK(why_outdated(lab).empty());
    lab.filter.clear();  // the fold is as it was before the search
    user.frames(3);
    user.play(
        [](ImGuiTestContext* ctx) { CHECK_FALSE(ctx->ItemExists("//Parameters/slot_count/##control")); });
}

TEST_CASE("a slider ends at the limit set by other parameters", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 1600, 1400);
    choose_family(lab, **find_offered_family("memory"));
    set_parameter(lab, row(lab, "length"), int64_t{200});
    finish_run(engine, user);
    const auto to_the_end = [](ImGuiTestContext* ctx) {
        ctx->ItemDragWithDelta("//Parameters/chunk/##control", {1000, 0});
    };
    user.play(to_the_end);
    // The power of two that has the effect of 200.
    CHECK(engine.requests.back().parameters.integer("chunk") == 256);
    set_parameter(lab, row(lab, "length"), int64_t{32});
    finish_run(engine, user);
    user.play(to_the_end);
    CHECK(shown_value(lab, row(lab, "chunk")) == Value(int64_t{32}));
}

}  // namespace
}  // namespace sawtooth
