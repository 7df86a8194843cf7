// Mouse actions on plots: selecting launches, measuring ranges, and zooming and scrolling with the wheel.

#include "app/gui/state/family_choice.h"
#include "app/gui/state/selection.h"
#include "kernels/families.h"
#include "tests/gui/gpu_answer.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

ImRect rect_of(ImGuiTestContext* ctx, const char* panel) { return ctx->GetWindowByRef(panel)->Rect(); }

// A user who looks at launches of a GPU.
struct Watcher {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user;

    explicit Watcher(const std::function<void(Result&)>& change = {}, int height = 900)
        : user(lab, 1600, height) {
        answer_from_gpu(engine, change);
        user.frames(40);
    }

    // Clicks down the panel, at that share of its width, until `done` returns true.
    bool click_down(const char* panel, float share, const std::function<bool()>& done) {
        user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus(panel);
            const ImRect window = rect_of(ctx, panel);
            for (float y = window.Min.y + 60; y < window.Max.y && !done(); y += 4) {
                ctx->MouseMoveToPos({window.Min.x + share * window.GetWidth(), y});
                ctx->MouseClick();
                ctx->Yield(2);
            }
        });
        return done();
    }
    bool select() {
        return click_down("//Timeline", 0.25f, [&] { return lab.selected.has_value(); });
    }
};

TEST_CASE("a click on a launch selects it; a click beside it or Esc clears the selection", "[gui][window]") {
    Watcher watcher;
    LabState& lab = watcher.lab;
    REQUIRE(watcher.select());
    const auto found = selected_launch(lab);
    REQUIRE(found);
    const double us = lab.cursor.at("time");
    CHECK(us >= found->launch->start_us);
    // A click within half a microsecond counts.
    CHECK(us <= found->launch->start_us + found->launch->duration_us + 0.5);
    CHECK(watcher.click_down("//Timeline", 0.9f, [&] { return !lab.selected; }));
    REQUIRE(watcher.select());
    watcher.user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
    CHECK_FALSE(lab.selected);
}

TEST_CASE("a drag over launches pans and selects nothing", "[gui][window]") {
    Watcher watcher;
    watcher.user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Timeline");
        const ImRect window = rect_of(ctx, "//Timeline");
        for (float y = window.Min.y + 60; y < window.Max.y; y += 8) {
            ctx->MouseMoveToPos({window.Min.x + 0.25f * window.GetWidth(), y});
            ctx->MouseDragWithDelta({-30, 0});
        }
    });
    CHECK_FALSE(watcher.lab.selected);
}

TEST_CASE("Numbers brings the tab of the selected launch to the front", "[gui][window]") {
    Watcher watcher;
    watcher.user.play([](ImGuiTestContext* ctx) { ctx->WindowFocus("//Numbers"); });
    REQUIRE(watcher.select());
    watcher.user.frames(3);
    const auto leaf = [&] {
        bool is_there = false;
        watcher.user.play(
            [&](ImGuiTestContext* ctx) { is_there = ctx->ItemExists("//Numbers/tables/###launch"); });
        return is_there;
    };
    CHECK(leaf());
    CHECK(watcher.lab.selected->in_numbers);
    watcher.user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
    CHECK_FALSE(leaf());
}

TEST_CASE("variant, time, speed-up and error stand in Numbers without scrolling, and no column is cut",
          "[gui][window]") {
    const auto [width, height] = GENERATE(std::pair{1280, 720}, std::pair{1600, 900}, std::pair{2560, 1440});
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, *find_family("memory"));  // this family has the longest names
    User user(lab, width, height);
    finish_run(engine, user);
    INFO(width);
    user.play([&](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Numbers");
        ctx->Yield(3);
        const ImGuiTable* const table = ImGui::TableFindByID(ctx->GetID("//Numbers/numbers"));
        REQUIRE(table);
        const float edge = table->InnerClipRect.Max.x + 1;
        CHECK(table->Columns[3].WorkMaxX <= edge);
        for (const ImGuiTableColumn& column : table->Columns)
            CHECK((column.WorkMaxX <= edge || column.WorkMinX >= edge));
    });
}

TEST_CASE("Occupancy scrolls to the kernel of the selected launch", "[gui][window]") {
    Watcher watcher;
    watcher.user.play([](ImGuiTestContext* ctx) { ctx->WindowFocus("//Occupancy"); });
    const float before = ImGui::FindWindowByName("Occupancy")->Scroll.y;
    select_launch(watcher.lab, {Ink::Role::variant, 4}, 50);
    REQUIRE(watcher.lab.selected);
    watcher.user.frames(5);
    CHECK(watcher.lab.selected->in_occupancy);
    CHECK(ImGui::FindWindowByName("Occupancy")->Scroll.y > before);
}

TEST_CASE("Shift+drag measures a range of time, which Esc or a plain click clears", "[gui][window]") {
    Watcher watcher;
    LabState& lab = watcher.lab;
    const auto measure = [&] {
        watcher.user.play([](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Timeline");
            const ImRect window = rect_of(ctx, "//Timeline");
            ctx->MouseMoveToPos({window.Min.x + 0.3f * window.GetWidth(), window.GetCenter().y});
            ctx->KeyDown(ImGuiMod_Shift);
            ctx->MouseDragWithDelta({window.GetWidth() / 4, 0});
            ctx->KeyUp(ImGuiMod_Shift);
            ctx->Yield(2);
        });
    };
    measure();
    REQUIRE(lab.measured);
    CHECK(lab.view.visible.empty());  // nothing was panned
    CHECK_FALSE(lab.selected);
    const View::Range us = lab.measured->us;
    CHECK(us.low < us.high);
    CHECK(us.high == Approx(lab.cursor.at("time")));
    CHECK(contains(lab.measured->words, "launch"));
    CHECK(contains(lab.measured->words, ", utilisation "));

    // The range stays during a run, and then counts the new launches.
    submit(lab);
    answer_from_gpu(watcher.engine, [](Result& result) {
        for (VariantResult& variant : result.variants) variant.launches = {gpu_launch("one", 0, 1000, 32)};
    });
    watcher.user.frames(5);
    REQUIRE(lab.measured);
    CHECK(contains(lab.measured->words, ": 1 launch of "));
    CHECK(contains(lab.measured->words, "utilisation 100 %"));

    watcher.user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
    CHECK_FALSE(lab.measured);
    measure();
    REQUIRE(lab.measured);
    watcher.user.play([](ImGuiTestContext* ctx) { ctx->MouseClick(); });
    CHECK_FALSE(lab.measured);
}

TEST_CASE("the wheel zooms at the pointer; horizontally or with Shift it pans", "[gui][window]") {
    Watcher watcher;
    LabState& lab = watcher.lab;
    const auto at_middle = [&](const std::function<void(ImGuiTestContext*)>& action) {
        watcher.user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Timeline");
            ctx->MouseMoveToPos(rect_of(ctx, "//Timeline").GetCenter());
            ctx->Yield(2);
            action(ctx);
            ctx->Yield(3);
        });
        return lab.view.visible.contains("time") ? lab.view.visible.at("time") : View::Range{};
    };
    const float scrolled = ImGui::FindWindowByName("Timeline")->Scroll.y;
    const View::Range zoomed = at_middle([](ImGuiTestContext* ctx) { ctx->MouseWheelY(6); });
    const double width = zoomed.high - zoomed.low, at = lab.cursor.at("time");
    CHECK(width > 0);
    CHECK(zoomed.low < at);
    CHECK(at < zoomed.high);
    const View::Range left = at_middle([](ImGuiTestContext* ctx) {
        ctx->KeyDown(ImGuiMod_Shift);
        ctx->MouseWheelY(1);
        ctx->KeyUp(ImGuiMod_Shift);
    });
    CHECK(left.low < zoomed.low);
    CHECK(left.high - left.low == Approx(width));
    const View::Range right = at_middle([](ImGuiTestContext* ctx) { ctx->MouseWheelX(-2); });
    CHECK(right.low > left.low);
    CHECK(right.high - right.low == Approx(width));
    const View::Range first = at_middle([](ImGuiTestContext* ctx) { ctx->MouseWheelX(100); });
    CHECK(first.low == Approx(0).margin(1e-9));
    CHECK(first.high == Approx(width));
    CHECK(ImGui::FindWindowByName("Timeline")->Scroll.y == scrolled);
    CHECK(lab.view.visible.size() == 1);  // no plot with a different axis moved
}

TEST_CASE("a panel scrolls beside its plots, and over plots that cannot be zoomed", "[gui][window]") {
    constexpr int with_low_timeline = 1080;
    Watcher watcher(
        [](Result& result) {
            for (VariantResult& variant : result.variants)
                for (int i = 0; i < 8; ++i)
                    variant.launches.push_back(
                        gpu_launch(std::string(1, static_cast<char>('a' + i)) + "_kernel", 100 + i, 1, 32));
        },
        with_low_timeline);
    const auto scroll_after = [&](const char* panel, ImVec2 share) {
        watcher.user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus(panel);
            const ImRect window = rect_of(ctx, panel);
            ctx->MouseMoveToPos(
                {window.Min.x + share.x * window.GetWidth(), window.Min.y + share.y * window.GetHeight()});
            ctx->MouseWheelY(-2);
            ctx->Yield(5);
        });
        return ImGui::FindWindowByName(panel + 2)->Scroll.y;
    };
    CHECK(scroll_after("//Timeline", {0.02f, 0.6f}) > 0);
    CHECK(scroll_after("//Occupancy", {0.7f, 0.7f}) > 0);
    CHECK(watcher.lab.view.visible.empty());
}

}  // namespace
}  // namespace sawtooth
