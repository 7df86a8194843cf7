// The table of actions, the palette, and the list of shortcuts.

#include "app/gui/shell/palette.h"

#include <imgui_internal.h>

#include <algorithm>
#include <functional>
#include <set>

#include "app/gui/shell/appearance.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

void type(User& user, const char* words) {
    user.play([&](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
        ctx->KeyChars(words);
        ctx->Yield(2);
    });
}

// Presses keys and returns the number of open popups. (The test engine closes them after each play.)
int press(User& user, ImGuiKeyChord keys) {
    int popups = 0;
    user.play([&](ImGuiTestContext* ctx) {
        ctx->KeyPress(keys);
        popups = ctx->UiContext->OpenPopupStack.Size;
    });
    return popups;
}

TEST_CASE("no two actions have a key or a name in common, and none says nothing", "[gui][palette]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    std::set<int> keys;
    std::set<std::string> names;
    std::vector<Action> all = actions();
    for (Action& each : choices(lab)) all.push_back(std::move(each));
    for (const Action& each : all) {
        INFO(each.group << ": " << each.name);
        CHECK_FALSE(each.name.empty());
        CHECK(each.act);
        CHECK(names.insert(each.group + ": " + each.name).second);
        for (const int key : each.keys) CHECK(keys.insert(key).second);
    }
}

TEST_CASE("the palette has every family, device, panel and theme", "[gui][palette]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const std::vector<Action> all = choices(lab);
    const auto count = [&](const char* group) {
        return std::count_if(all.begin(), all.end(), [&](const Action& each) { return each.group == group; });
    };
    CHECK(count("Family") == static_cast<long>(lab.families.size()));
    CHECK(count("Backend") == 2 + static_cast<long>(engine.devices.gpus.size()));
    CHECK(count("Variant") == static_cast<long>(lab.family->variants.size()));
    CHECK(count("Show") > 8);
    CHECK(count("Theme") == 3);
    CHECK(count("Sweep") == static_cast<long>(lab.family->parameters.size()));
}

TEST_CASE("typed words are found in any order, the best first", "[gui][palette]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    std::vector<Action> all = actions();
    for (Action& each : choices(lab)) all.push_back(std::move(each));
    const auto first = [&](const char* typed) {
        const auto found = matches(lab, all, typed);
        return found.empty() ? "" : found.front()->group + ": " + found.front()->name;
    };
    CHECK(matches(lab, all, "").size() == all.size());
    CHECK(first("light theme") == "Theme: Light");
    CHECK(first("THEME  li") == "Theme: Light");
    CHECK(first("sweep length") == "Sweep: length…");
    CHECK(first("run") == "Run: Run");
    CHECK(first("full") == "View: Full screen");
    CHECK(first("zebra") == "");
}

TEST_CASE("an action is found by the words of its meaning, after those that have them in their name",
          "[gui][palette]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    engine.devices.gpus.front().name = "NVIDIA H200";  // the name of its action is short
    LabState lab = lab_with(engine);
    std::vector<Action> all = actions();
    for (Action& each : choices(lab)) all.push_back(std::move(each));
    const auto found = matches(lab, all, "nvidia h200");
    REQUIRE_FALSE(found.empty());
    CHECK(found.front()->group == "Backend");
    const auto panels = matches(lab, all, "panel");
    REQUIRE_FALSE(panels.empty());
    const auto has_word = [](const Action* each) {
        return (each->group + each->name).find("anel") != std::string::npos;
    };
    CHECK(std::is_partitioned(panels.begin(), panels.end(), has_word));
    CHECK_FALSE(has_word(panels.back()));
}

TEST_CASE("in the palette arrows and Enter choose, Esc closes, and what is typed starts anew",
          "[gui][window][palette]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    type(user, "theme");
    REQUIRE(lab.palette);
    CHECK(lab.palette->selected == 0);
    press(user, ImGuiKey_DownArrow);
    press(user, ImGuiKey_DownArrow);
    CHECK(lab.palette->selected == 2);
    press(user, ImGuiKey_UpArrow);
    CHECK(press(user, ImGuiKey_Enter) == 0);
    CHECK_FALSE(lab.palette);
    CHECK(lab.settings.theme == ThemeChoice::dark);
    type(user, "panel that is not there");
    REQUIRE(lab.palette);
    press(user, ImGuiKey_Enter);
    CHECK(lab.palette);
    CHECK(press(user, ImGuiKey_Escape) == 0);
    CHECK_FALSE(lab.palette);
    type(user, "");
    REQUIRE(lab.palette);
    CHECK(std::string(lab.palette->text.data()).empty());
    CHECK(press(user, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P) == 0);
}

TEST_CASE("the palette opens dialogs, and does not do what cannot be done", "[gui][window][palette]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    type(user, "redo");
    press(user, ImGuiKey_Enter);
    CHECK(lab.palette);  // the row is greyed, so the palette stays open
    press(user, ImGuiKey_Escape);
    type(user, "open inputs");
    CHECK(press(user, ImGuiKey_Enter) == 1);
    CHECK(lab.show_open);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Open/Cancel"); });
    type(user, "sweep length");
    press(user, ImGuiKey_Enter);
    REQUIRE(lab.sweep_form);
    CHECK(lab.sweep_form->over == "length");
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Sweep/Cancel"); });
    type(user, "show log");
    press(user, ImGuiKey_Enter);
    user.play([](ImGuiTestContext* ctx) {
        CHECK(std::string(ctx->UiContext->NavWindow->RootWindow->Name) == "Log");
    });
    type(user, "svg result");
    press(user, ImGuiKey_Enter);
    REQUIRE(lab.saving);
    CHECK(lab.saving->format == Saving::Format::svg);
}

TEST_CASE("F1 beside every item lists all shortcuts, and beside a control only explains it",
          "[gui][window][palette]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const Help nothing = help_at(lab, user, [](ImGuiTestContext* ctx) { ctx->MouseMoveToPos({800, 895}); });
    CHECK(nothing.lists_shortcuts);
    CHECK(nothing.text.empty());
    CHECK(help_at(lab, user, [](ImGuiTestContext* ctx) {
              ctx->WindowFocus("//Log");
              ctx->MouseMoveToPos(ctx->GetWindowByRef("//Log")->Rect().GetCenter());
          }).lists_shortcuts);
    CHECK_FALSE(help_at(lab, user, [](ImGuiTestContext* ctx) {
                    ctx->MouseMove("//Parameters/length/##control");
                }).lists_shortcuts);
    type(user, "shortcuts");
    CHECK(press(user, ImGuiKey_Enter) == 1);
    CHECK(lab.help->lists_shortcuts);
}

TEST_CASE("Tab finds the first item of a panel that the palette has shown", "[gui][window][palette]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->MouseMoveToPos({800, 895});
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
        ctx->KeyChars("show error");
        ctx->KeyPress(ImGuiKey_Enter);
        ctx->Yield(2);
        ctx->KeyPress(ImGuiKey_Tab, 2);
        CHECK(std::string(ctx->UiContext->NavWindow->Name) == "Error");
        CHECK(ctx->UiContext->NavId != 0);
        CHECK(ctx->UiContext->NavCursorVisible);
    });
}

TEST_CASE("a figure takes the keyboard's focus, and all of its menu can be had by keys", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const char* const focus = "//Outputs/result/outputs/focus";
    const auto at_figure = [&](const std::function<void(ImGuiTestContext*)>& actions) {
        user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Outputs");
            ctx->MouseMoveToPos({800, 895});
            int presses = 0;
            do ctx->KeyPress(ImGuiKey_Tab);
            while (++presses < 20 && ctx->UiContext->NavId != ctx->GetID(focus));
            CHECK(ctx->UiContext->NavId == ctx->GetID(focus));
            CHECK(ctx->UiContext->NavCursorVisible);
            actions(ctx);
        });
    };
    const auto chosen_by = [&](ImGuiKeyChord keys, int down) {
        at_figure([&](ImGuiTestContext* ctx) {
            ctx->KeyPress(keys);
            ctx->Yield(2);
            CHECK(ctx->UiContext->OpenPopupStack.Size == 1);
            ctx->KeyPress(ImGuiKey_DownArrow, down);
            ctx->KeyPress(ImGuiKey_Enter);
        });
    };
    chosen_by(ImGuiMod_Shift | ImGuiKey_F10, 1);
    REQUIRE(lab.saving);
    CHECK(lab.saving->format == Saving::Format::svg);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save figure/Cancel"); });
    chosen_by(ImGuiKey_Menu, 4);
    CHECK(contains(lab.log.back().text, "Copied the command"));
    chosen_by(ImGuiKey_Enter, 2);
    REQUIRE(lab.saving);
    CHECK(lab.saving->format == Saving::Format::csv);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save figure/Cancel"); });

    // Zooms and pans, and then undoes both.
    View::Range zoomed, panned;
    at_figure([&](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiKey_W);
        zoomed = lab.view.visible["position"];
        ctx->KeyPress(ImGuiKey_D);
        panned = lab.view.visible["position"];
        ctx->KeyPress(ImGuiKey_F1);
    });
    CHECK(zoomed.high > zoomed.low);
    CHECK(panned.low > zoomed.low);
    REQUIRE(lab.help);
    CHECK(contains(lab.help->text, "when it has the focus"));
    chosen_by(ImGuiKey_Enter, 5);
    CHECK_FALSE(lab.view.visible.contains("position"));
}

}  // namespace
}  // namespace sawtooth
