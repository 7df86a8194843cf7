#include <imgui.h>
#include <imgui_internal.h>

#include "app/engine/run/runner.h"
#include "app/gui/figures/figure_view.h"
#include "app/gui/state/family_choice.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kernels/figures/story_figures.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"
#include "viz/layout.h"

namespace sawtooth {

TEST_CASE("every figure of a story is completely visible and high enough to read at three sizes",
          "[gui][window]") {
    for (const Family* family : offered_families()) {
        if (family->story.empty()) continue;
        for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 900}, {2560, 1440}}) {
            INFO(family->name << " " << width << " x " << height);
            FakeEngine engine;
            LabState lab = lab_with(engine);
            choose_family(lab, *family);
            User user(lab, width, height);
            finish_run(engine, user);
            engine.answer(engine.run_ticket, lab.result, story_figures(*family));
            user.frames(6);
            const ImGuiWindow* const panel = ImGui::FindWindowByName("Story");
            REQUIRE(panel);
            CHECK(panel->DockTabIsVisible);
            CHECK(panel->ScrollMax.y == 0);
            const ImVec2 room = panel->WorkRect.GetSize();
            const auto placed = story_layout(lab, room);
            CHECK(placed.size() >= 3);
            for (const PlacedFigure& each : placed) {
                INFO(each.shown.figure->id);
                CHECK(each.size.y >= (has_axis_on_top(*each.shown.figure) ? 80 : 120));
                CHECK(each.size.x >= 240);
                CHECK(each.at.x + each.size.x <= room.x + 1);
                CHECK(each.at.y + each.size.y <= room.y + 1);
                const std::string& id = each.shown.figure->id;
                if (!id.ends_with("-zoom")) continue;
                const auto whole = std::find_if(placed.begin(), placed.end(), [&](const auto& other) {
                    return other.shown.figure->id + "-zoom" == id;
                });
                REQUIRE(whole != placed.end());  // right above, so that lines join them
                CHECK(whole->at.y + whole->size.y <= each.at.y);
                CHECK(each.at.y - whole->at.y - whole->size.y < 20);
            }
        }
    }
}

TEST_CASE("the claims of the examples in About are true", "[story]") {
    Runner runner(shared_cache());
    for (const Family* family : offered_families()) {
        for (const Try& example : family->about.tries) {
            INFO(family->name << ": " << example.words);
            Request request;
            request.family = family->name;
            request.repeats = 1;
            for (const auto& [name, value] : example.values) request.parameters.set(name, value);
            const auto result = runner.run(request, {});
            REQUIRE(result);
            REQUIRE(example.holds);
            CHECK(example.holds(**result));
        }
    }
}

}  // namespace sawtooth
