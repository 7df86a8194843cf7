// Mouse actions on a map of kinds. What its readout says is tested in tests/viz/readout_test.cpp.

#include "app/gui/state/family_choice.h"
#include "kernels/families.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"

namespace sawtooth {

TEST_CASE("a cell of a map of kinds is named under the mouse, and the wheel zooms at it", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const Family& family = *find_family("scan");
    choose_family(lab, family);
    User user(lab);
    finish_run(engine, user);
    KindMap map{"tile", {{"near", {Ink::Role::kind, 0}}}, {"queries"}, {"keys"}, {0}, 0, 100, 0, 100};
    Figure figure;
    figure.id = family.story.front().figures.front();
    figure.x = {.label = "key", .minimum = 0, .maximum = 100, .shared = "key"};
    figure.marks = {map};
    engine.answer(engine.run_ticket, lab.result, {figure});
    user.frames(6);
    bool named = false;
    user.play([&](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Story");
        const ImRect story = ctx->GetWindowByRef("//Story")->Rect();  // the figure is the first of several
        ctx->MouseMoveToPos({story.GetCenter().x, story.Min.y + 0.2f * story.GetHeight()});
        ctx->Yield(3);
        ImGuiWindow* const tooltip = ctx->GetWindowByRef("//##Tooltip_00");
        named = tooltip && tooltip->Active && ImGui::TableFindByID(tooltip->GetID("readout"));
        ctx->MouseWheelY(3);
        ctx->Yield(3);
    });
    CHECK(named);
    REQUIRE(lab.view.visible.count("key") == 1);
    CHECK(lab.view.visible.at("key").low > 0);
    CHECK(lab.view.visible.at("key").high < 100);
    CHECK_FALSE(engine.looks.empty());  // figures are made anew for the visible keys
}

}  // namespace sawtooth
