// Mouse actions on a map of kinds.

#include "kernels/attention/family.h"
#include "kernels/attention/figures/common.h"
#include "tests/catch.h"
#include "tests/user.h"

namespace sawtooth {

TEST_CASE("a cell of a map of kinds is named under the mouse, and the wheel zooms at it", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, attention_family());
    User user(lab);
    finish_run(engine, user);
    Result result = *lab.result;
    attention_family().settle(result.parameters, {}, Backend::cpu);
    engine.answer(engine.run_ticket, std::make_shared<const Result>(result),
                  {attention::tile_map_figure(result, {})});
    user.frames(6);
    bool named = false;
    user.play([&](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Story");
        ctx->MouseMoveToPos(ctx->GetWindowByRef("//Story")->Rect().GetCenter());
        ctx->Yield(3);
        const ImGuiWindow* const tooltip = ctx->GetWindowByRef("//##Tooltip_00");
        named = tooltip && tooltip->Active;
        ctx->MouseWheelY(3);
        ctx->Yield(3);
    });
    CHECK(named);
    REQUIRE(lab.view.visible.count("key") == 1);
    const View::Range seen = lab.view.visible.at("key");
    CHECK(seen.low > -0.5);
    CHECK(seen.high < 511.5);
    CHECK_FALSE(engine.looks.empty());  // figures are made anew for the visible keys
}

}  // namespace sawtooth
