// Using the window by keyboard.

#include <imgui_internal.h>

#include <set>

#include "app/gui/shell/appearance.h"
#include "app/gui/state/shown_values.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

TEST_CASE("keys run, stop and scale", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_F5); });
    CHECK(engine.requests.size() == sent + 1);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_F5); });
    CHECK(engine.cancelled_runs == 1);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal, 2); });
    CHECK(scale_of(lab) == 1.5);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Minus); });
    CHECK(scale_of(lab) == 1.25);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0); });
    CHECK(scale_of(lab) == 1);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_F11); });
    CHECK(lab.full_screen);
}

TEST_CASE("keys of the window do nothing behind a dialog", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S); });
    REQUIRE(lab.saving);
    const size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiKey_F5);
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    });
    CHECK(engine.requests.size() == sent);
    CHECK(lab.pins.empty());
    CHECK_FALSE(lab.palette);
    CHECK(lab.saving);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
    CHECK_FALSE(lab.saving);
}

TEST_CASE("F1 explains the control, figure or panel under the mouse; Esc closes it", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto words_at = [&](const std::function<void(ImGuiTestContext*)>& place_mouse) {
        const Help help = help_at(lab, user, place_mouse);
        return help.title + "\n" + help.text;
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(words_at([](ImGuiTestContext* ctx) { ctx->MouseMove("//Parameters/length/##control"); }),
              row(lab, "length").meaning));
    const auto over = [](const char* panel) {
        return [panel](ImGuiTestContext* ctx) {
            ctx->WindowFocus(panel);
            ctx->MouseMoveToPos(ctx->GetWindowByRef(panel)->Rect().GetCenter());
        };
    };
    CHECK(has(words_at(over("//Outputs")), "of the result"));
    CHECK(has(words_at(over("//Log")), "Log\n"));
}

TEST_CASE("Ctrl+Z takes back a drag of a slider in one step, Ctrl+Shift+Z and Ctrl+Y repeat it",
          "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto length = [&] { return shown_value(lab, row(lab, "length")); };
    const Value first = length();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemDragWithDelta("//Parameters/length/##control", {-60, 0});
    });
    const Value dragged = length();
    REQUIRE(dragged != first);
    CHECK(engine.requests.size() > 2);  // one at every step of the slider
    const auto press = [&](ImGuiKeyChord keys) {
        user.play([&](ImGuiTestContext* ctx) { ctx->KeyPress(keys); });
    };
    press(ImGuiMod_Ctrl | ImGuiKey_Z);
    CHECK(length() == first);
    CHECK(engine.requests.back() == engine.requests.front());
    press(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
    CHECK(length() == dragged);
    press(ImGuiMod_Ctrl | ImGuiKey_Z);
    press(ImGuiMod_Ctrl | ImGuiKey_Y);
    CHECK(length() == dragged);
}

TEST_CASE("Ctrl+Z in a field takes back what was typed there", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    set_parameter(lab, row(lab, "length"), int64_t{512});
    user.frames(2);
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemInput("//Parameters/##filter");
        ctx->KeyCharsAppend("drawn");
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    });
    CHECK(lab.filter != "drawn");
    CHECK(shown_value(lab, row(lab, "length")) == Value(int64_t{512}));
}

TEST_CASE("the menu undoes and redoes, and greys what cannot be", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto is_on = [&](const char* entry) {
        bool on = false;
        user.play([&](ImGuiTestContext* ctx) {
            ctx->ItemClick("//top bar/Menu");
            const ImGuiTestItemInfo item = ctx->ItemInfo((std::string("//$FOCUSED/###") + entry).c_str());
            on = !(item.ItemFlags & ImGuiItemFlags_Disabled);
            ctx->PopupCloseAll();
        });
        return on;
    };
    CHECK_FALSE(is_on("Undo"));
    CHECK_FALSE(is_on("Redo"));
    set_parameter(lab, row(lab, "length"), int64_t{512});
    user.frames(2);
    CHECK(is_on("Undo"));
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemClick("//top bar/Menu");
        ctx->ItemClick("//$FOCUSED/###Undo");
    });
    CHECK(shown_value(lab, row(lab, "length")) == Value(int64_t{4096}));
    CHECK_FALSE(is_on("Undo"));
    CHECK(is_on("Redo"));
}

TEST_CASE("the menu fits into a small window", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 1280, 720);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemClick("//top bar/Menu");
        CHECK(ctx->GetWindowByRef("//$FOCUSED")->ScrollMax.y == 0);
        CHECK(ctx->ItemExists("//$FOCUSED/###Shortcuts"));
    });
}

TEST_CASE("no tooltip follows the keyboard focus, or covers what a drag changes", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    bool by_mouse = false, by_keys = false, after_drag = false, later = false;
    user.play([&](ImGuiTestContext* ctx) {
        ctx->MouseMove("//Parameters/length/##control");
        ctx->SleepNoSkip(1, 1.0f / 60);
        by_mouse = lab.tooltips.shown;
        ctx->MouseMoveToPos({1100, 5});
        ctx->NavMoveTo("//Parameters/length/##control");
        ctx->KeyPress(ImGuiKey_Tab);
        ctx->SleepNoSkip(1, 1.0f / 60);
        by_keys = lab.tooltips.shown;
        ctx->ItemDragWithDelta("//Parameters/length/##control", {-30, 0});
        ctx->SleepNoSkip(1, 1.0f / 60);
        after_drag = lab.tooltips.shown;
        ctx->MouseMove("//Parameters/channels/##control");
        ctx->MouseMove("//Parameters/batch/##control");
        ctx->SleepNoSkip(1, 1.0f / 60);
        later = lab.tooltips.shown;
    });
    CHECK(by_mouse);
    CHECK_FALSE(by_keys);
    CHECK_FALSE(after_drag);
    CHECK(later);
}

TEST_CASE("the filter finds titles and what is drawn, and offers a way out if it finds nothing",
          "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    Family titled = *lab.family;
    for (Parameter& parameter : titled.parameters)
        if (parameter.name == "batch") parameter.title = "songs";
    lab.family = &titled;
    User user(lab);
    finish_run(engine, user);
    const auto finds = [&](const char* filter, const char* item) {
        lab.filter = filter;
        user.frames(3);
        bool found = false;
        user.play([&](ImGuiTestContext* ctx) { found = ctx->ItemExists(item); });
        return found;
    };
    CHECK(finds("song", "//Parameters/batch/##control"));
    CHECK_FALSE(finds("song", "//Parameters/length/##control"));
    CHECK(finds("drawn", "//Parameters/drawn_batch/##control"));
    CHECK_FALSE(finds("", "//Parameters/drawn_batch/##control"));
    CHECK_FALSE(finds("drawn", "//Parameters/Clear the filter"));
    CHECK(finds("apples", "//Parameters/Clear the filter"));
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Parameters/Clear the filter"); });
    CHECK(lab.filter.empty());
}

TEST_CASE("Tab moves between controls and skips plots", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Outputs");
        ctx->MouseMoveToPos(ctx->GetWindowByRef("//Outputs")->Rect().GetCenter());
        const ImGuiID plot = ctx->GetID("//Outputs/result/outputs/outputs/##plot");
        CHECK(ctx->UiContext->HoveredId == plot);
        std::set<ImGuiID> visited;
        for (int i = 0; i < 12; ++i) {
            ctx->KeyPress(ImGuiKey_Tab);
            visited.insert(ctx->UiContext->NavId);
        }
        CHECK_FALSE(visited.contains(plot));
    });
}

}  // namespace
}  // namespace sawtooth
