// The window by keyboard.

#include <imgui_internal.h>

#include <set>

#include "app/gui/appearance.h"
#include "tests/catch.h"
#include "tests/fake_engine.h"
#include "tests/user.h"

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

TEST_CASE("F1 explains the control, figure or panel under the mouse; Esc closes it", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto help_at = [&](auto&& place_mouse) {
        user.play([&](ImGuiTestContext* ctx) {
            place_mouse(ctx);
            ctx->KeyPress(ImGuiKey_F1);
            CHECK(ctx->UiContext->OpenPopupStack.Size == 1);
            ctx->KeyPress(ImGuiKey_Escape);
            CHECK(ctx->UiContext->OpenPopupStack.Size == 0);
        });
        REQUIRE(lab.help);
        return lab.help->title + "\n" + lab.help->text;
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(help_at([](ImGuiTestContext* ctx) { ctx->MouseMove("//Parameters/length/##control"); }),
              row(lab, "length").meaning));
    const auto over = [](const char* panel) {
        return [panel](ImGuiTestContext* ctx) {
            ctx->WindowFocus(panel);
            ctx->MouseMoveToPos(ctx->GetWindowByRef(panel)->Rect().GetCenter());
        };
    };
    CHECK(has(help_at(over("//Outputs")), "of the result"));
    CHECK(has(help_at(over("//Log")), "Log\n"));
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
