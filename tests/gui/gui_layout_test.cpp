// The first screen and the layout at several sizes and scales.

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <map>

#include "app/gui/figures/figure_view.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/shell/frame.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/pins.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kernels/figures/story_figures.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

const ImGuiWindow& window_of(const char* panel) { return *ImGui::FindWindowByName(panel); }
bool is_in_sight(const char* panel) { return window_of(panel).DockTabIsVisible; }

// The place and the size of the dock of every panel; tabs of one dock have the same.
std::map<std::string, std::array<float, 4>> docks_of_panels() {
    std::map<std::string, std::array<float, 4>> docks;
    for (const Panel& panel : panels())
        if (const ImGuiDockNode* const node = window_of(panel.name).DockNode)
            docks[panel.name] = {node->Pos.x, node->Pos.y, node->Size.x, node->Size.y};
    return docks;
}

// The sizes of panels that have a place of their own, as shares of the window.
struct Sizes {
    int width, height;
    double scale;
};
std::string words_of(const Sizes& at) {
    return std::to_string(at.width) + " x " + std::to_string(at.height) + " at " + std::to_string(at.scale);
}

void show_story_of(FakeEngine& engine, LabState& lab, User& user) {
    finish_run(engine, user);
    engine.answer(engine.run_ticket, lab.result, story_figures(*lab.family));
    user.frames(6);
}

TEST_CASE("outputs, error, times and occupancy are in sight together on the first screen", "[gui][window]") {
    const Sizes at = GENERATE(Sizes{1280, 720, 1}, Sizes{1600, 900, 1}, Sizes{2560, 1440, 1},
                              Sizes{2560, 1440, 1.5}, Sizes{3840, 2160, 2});
    INFO(words_of(at));
    for (const Family* family : offered_families()) {
        if (family->story.empty()) continue;  // without a list, Story has all figures
        INFO(family->name);
        FakeEngine engine;
        LabState lab = lab_with(engine);
        lab.settings.scale = at.scale;
        choose_family(lab, *family);
        User user(lab, at.width, at.height);
        show_story_of(engine, lab, user);
        CHECK(is_in_sight("Times"));
        CHECK(is_in_sight("Occupancy"));
        REQUIRE(is_in_sight("Story"));
        const auto placed = story_layout(lab, window_of("Story").WorkRect.GetSize());
        const auto shows = [&](Place place) {
            return std::any_of(placed.begin(), placed.end(),
                               [&](const PlacedFigure& each) { return each.shown.figure->place == place; });
        };
        CHECK(shows(Place::outputs));
        CHECK(shows(Place::error));
    }
}

TEST_CASE("every story has the main output beside its error", "[story]") {
    for (const Family* family : offered_families()) {
        if (family->story.empty()) continue;
        INFO(family->name);
        const bool has = std::any_of(family->story.begin(), family->story.end(), [&](const StoryRow& row) {
            const auto output =
                std::find(row.figures.begin(), row.figures.end(), "output-" + family->main_output);
            return row.figures.end() - output > 1 && output[1] == "error-" + family->main_output;
        });
        CHECK(has);
    }
}

TEST_CASE("About is in sight at every size, and Numbers stands behind Occupancy in a small window",
          "[gui][window]") {
    for (const auto& [width, height, has_numbers] :
         {std::tuple{1280, 720, false}, {1600, 900, true}, {2560, 1440, true}}) {
        INFO(width);
        FakeEngine engine;
        LabState lab = lab_with(engine);
        User user(lab, width, height);
        finish_run(engine, user);
        CHECK(is_in_sight("About"));
        CHECK(has_own_dock("About"));
        CHECK(is_in_sight("Numbers") == has_numbers);
        CHECK(has_own_dock("Numbers") == has_numbers);
        user.play([](ImGuiTestContext* ctx) { CHECK_FALSE(ctx->ItemExists("//top bar/###about")); });
    }
}

TEST_CASE("a notice below the panels does not change which panels have their own place", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    lab.session.offer.emplace();
    User user(lab, 1600, 900);
    finish_run(engine, user);
    CHECK(has_own_dock("Numbers"));
    lab.session.offer.reset();
    user.frames(3);
    CHECK(has_own_dock("Numbers"));
}

TEST_CASE("a button shows About where there is no column for it", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    lab.settings.scale = 1.5;
    User user(lab, 1280, 720);
    finish_run(engine, user);
    CHECK_FALSE(is_in_sight("About"));
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//top bar/###about"); });
    user.frames(3);
    CHECK(is_in_sight("About"));
}

TEST_CASE("the story has at least three figures at scale 1.5 in a small window", "[gui][window]") {
    for (const Family* family : offered_families()) {
        if (family->story.empty()) continue;
        INFO(family->name);
        FakeEngine engine;
        LabState lab = lab_with(engine);
        lab.settings.scale = 1.5;
        choose_family(lab, *family);
        User user(lab, 1280, 720);
        show_story_of(engine, lab, user);
        CHECK(story_layout(lab, window_of("Story").WorkRect.GetSize()).size() >= 3);
    }
}

TEST_CASE("the layout follows the scale, and tabs in front stay in front", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 1280, 720);
    finish_run(engine, user);
    const float before = window_of("Parameters").SizeFull.x;
    user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Outputs");
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal, 2);
    });
    user.frames(8);
    CHECK(window_of("Parameters").SizeFull.x > before);
    CHECK(window_of("Times").DockId == window_of("Story").DockId);  // no room for a third column
    CHECK(is_in_sight("Outputs"));
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0); });
    user.frames(8);
    CHECK(window_of("Parameters").SizeFull.x == before);
    CHECK(window_of("Times").DockId != window_of("Story").DockId);
    CHECK(is_in_sight("Times"));
    CHECK(is_in_sight("Outputs"));
    CHECK_FALSE(lab.settings.own_layout);
}

TEST_CASE("resetting the layout brings every panel back into its place", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto docks = docks_of_panels();
    CHECK(docks.size() == panels().size());
    user.play([](ImGuiTestContext* ctx) {
        ctx->UndockWindow("//Times");
        ctx->DockInto("//About", "//Parameters");
    });
    CHECK(docks_of_panels().count("Times") == 0);
    CHECK(docks_of_panels()["About"] == docks_of_panels()["Parameters"]);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//top bar/Reset layout"); });
    user.frames(3);
    CHECK(docks_of_panels() == docks);
}

TEST_CASE("a panel that the user docks or resizes keeps the layout until it is reset", "[gui][window]") {
    const bool resizes = GENERATE(false, true);
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.frames(10);
    REQUIRE_FALSE(lab.settings.own_layout);
    user.play([&](ImGuiTestContext* ctx) {
        if (!resizes) return ctx->UndockWindow("//Times");
        const ImRect panel = ctx->GetWindowByRef("//Parameters")->Rect();
        ctx->MouseMoveToPos({panel.Max.x + 1, panel.GetCenter().y});
        ctx->Yield(30);
        ctx->MouseDragWithDelta({80, 0});
    });
    user.frames(3);
    CHECK(lab.settings.own_layout);
    const float own = window_of("Parameters").SizeFull.x;
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal); });
    user.frames(8);
    CHECK(window_of("Parameters").SizeFull.x == own);
    user.play([](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0);
        ctx->ItemClick("//top bar/Reset layout");
    });
    user.frames(8);
    CHECK_FALSE(lab.settings.own_layout);
    CHECK(window_of("Times").DockId != 0);
}

TEST_CASE("a failure's row and tabs in front are not taken for a change by the user", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.frames(10);
    submit(lab);
    engine.fail(Error::failure("out of memory"));
    user.frames(5);
    REQUIRE(lab.failure);
    lab.failure.reset();
    user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Timeline");
        ctx->WindowFocus("//About");
    });
    user.frames(5);
    CHECK_FALSE(lab.settings.own_layout);
}

TEST_CASE("Ctrl+4 puts figures and Numbers side by side, and Ctrl+1 returns", "[gui][window]") {
    const auto [width, height] = GENERATE(std::pair(1280, 720), std::pair(1600, 900), std::pair(2560, 1440));
    INFO(width);
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, width, height);
    finish_run(engine, user);
    const auto press = [&](ImGuiKeyChord keys) {
        user.play([&](ImGuiTestContext* ctx) { ctx->KeyPress(keys); });
        user.frames(8);
    };
    press(ImGuiMod_Ctrl | ImGuiKey_4);
    CHECK(lab.settings.arrangement == Arrangement::compare);
    CHECK(is_in_sight("Story"));
    CHECK(is_in_sight("Numbers"));
    CHECK(is_in_sight("Times"));
    CHECK(has_own_dock("Numbers"));
    CHECK(window_of("Numbers").Pos.x > window_of("Story").Pos.x);
    CHECK(window_of("Numbers").Pos.y == window_of("Story").Pos.y);
    CHECK_FALSE(lab.settings.own_layout);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//pins/Pin the result"); });
    CHECK(lab.pins.size() == 1);
    unpin_all(lab);  // the row of pins takes room
    press(ImGuiMod_Ctrl | ImGuiKey_1);
    CHECK((window_of("Numbers").DockId == window_of("Occupancy").DockId) == (width == 1280));
}

TEST_CASE("an own layout returns after Compare", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.frames(10);
    user.play([](ImGuiTestContext* ctx) { ctx->UndockWindow("//Times"); });
    user.frames(3);
    REQUIRE(lab.settings.own_layout);
    const auto press = [&](ImGuiKeyChord keys) {
        user.play([&](ImGuiTestContext* ctx) { ctx->KeyPress(keys); });
        user.frames(10);
    };
    press(ImGuiMod_Ctrl | ImGuiKey_1);  // it is in Explore already
    CHECK(window_of("Times").DockId == 0);
    press(ImGuiMod_Ctrl | ImGuiKey_4);
    CHECK(window_of("Times").DockId != 0);
    CHECK_FALSE(lab.settings.own_layout);
    press(ImGuiMod_Ctrl | ImGuiKey_1);
    CHECK(window_of("Times").DockId == 0);
    CHECK(window_of("Numbers").DockId != 0);
    CHECK(lab.settings.own_layout);
    CHECK(is_in_sight("Parameters"));
}

// This runs off screen, because the size of a display could not change.
TEST_CASE("the layout follows the size of the window once it rests", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const Context context(lab);
    ImGuiIO& io = ImGui::GetIO();
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
    const auto draw = [&](ImVec2 size, int frames) {
        for (int i = 0; i < frames; ++i) {
            io.DisplaySize = size;
            apply_appearance(lab);
            ImGui::NewFrame();
            draw_frame(lab);
            ImGui::Render();
            for (ImTextureData* texture : ImGui::GetPlatformIO().Textures)
                texture->SetStatus(texture->Status == ImTextureStatus_WantDestroy ? ImTextureStatus_Destroyed
                                                                                  : ImTextureStatus_OK);
        }
    };
    draw({1600, 900}, 12);
    const float times = window_of("Times").SizeFull.y;
    CHECK(window_of("Timeline").DockId == window_of("Story").DockId);
    for (int width = 1600; width <= 2560; width += 64) draw({static_cast<float>(width), 900}, 1);
    draw({2560, 1440}, 12);
    CHECK(window_of("Timeline").DockId != window_of("Story").DockId);
    CHECK(is_in_sight("About"));
    CHECK(window_of("Times").SizeFull.y > times);
    draw({1600, 900}, 12);
    CHECK(window_of("Timeline").DockId == window_of("Story").DockId);
    CHECK(window_of("Times").SizeFull.y == times);
    CHECK(is_in_sight("Story"));
    CHECK_FALSE(lab.settings.own_layout);
}

TEST_CASE("About begins at its top after a change of the family", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//About");
        ctx->ScrollToBottom("//About");
    });
    CHECK(window_of("About").Scroll.y > 0);
    choose_family(lab, **find_offered_family("memory"));
    user.frames(3);
    CHECK(window_of("About").Scroll.y == 0);
}

}  // namespace
}  // namespace sawtooth
