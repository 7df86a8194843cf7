#include "app/gui/state/pins.h"

#include "app/gui/shell/actions.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/history.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/notes.h"
#include "app/gui/state/shown_values.h"
#include "kernels/families.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

bool has_column(const LabState& lab, const std::string& name) {
    for (const Table::Column& column : lab.told.measured.columns)
        if (column.name == name) return true;
    return false;
}

TEST_CASE("a pinned result is kept by the engine and named by what differs", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    CHECK(reason_not_pinned(lab) == "Nothing was run yet.");
    toggle_pin(lab);
    CHECK(lab.pins.empty());
    run_with_length(lab, engine, 64);
    toggle_pin(lab);
    REQUIRE(engine.kept.size() == 1);
    CHECK(engine.kept[0].ticket == lab.shown_ticket);
    CHECK(ghosts_of(lab).empty());  // it is the shown one
    CHECK(names_of_pins(lab).front() == "the same settings");

    run_with_length(lab, engine, 128);
    CHECK(names_of_pins(lab) == std::vector<std::string>{"length 64"});
    REQUIRE(lab.told.ghosts.size() == 1);
    CHECK(lab.told.ghosts[0].name == "length 64");
    CHECK(has_column(lab, "time vs length 64"));
    toggle_pin(lab);
    run_with_length(lab, engine, 256);
    CHECK(names_of_pins(lab) == std::vector<std::string>{"length 64", "length 128"});
    CHECK(has_column(lab, "time vs length 64"));
    choose_baseline(lab, lab.pins[1].ticket);
    CHECK(has_column(lab, "time vs length 128"));
    CHECK_FALSE(has_column(lab, "time vs length 64"));
    unpin(lab, lab.pins[1].ticket);
    CHECK(has_column(lab, "time vs length 64"));  // the next one is the baseline
    unpin_all(lab);
    CHECK(engine.kept.empty());
    CHECK(lab.told.ghosts.empty());
    CHECK_FALSE(has_column(lab, "time vs length 64"));
}

TEST_CASE("a pinned result brings its settings back, and undo returns", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 64);
    follow_changes(lab, false);
    toggle_pin(lab);
    run_with_length(lab, engine, 128);
    follow_changes(lab, false);
    const uint64_t ticket = lab.pins.front().ticket;
    bring_back(lab, ticket);
    CHECK(engine.requests.back().parameters.integer("length") == 64);
    follow_changes(lab, false);
    undo(lab);
    CHECK(engine.requests.back().parameters.integer("length") == 128);

    const Family* const first = lab.family;
    for (const Family* family : lab.families)
        if (family != first) {
            choose_family(lab, *family);
            break;
        }
    finish_run(lab, engine);
    CHECK(lab.told.ghosts.empty());
    CHECK(names_of_pins(lab) == std::vector<std::string>{first->name});
    bring_back(lab, ticket);
    CHECK(lab.family == first);
    CHECK(engine.requests.back().parameters.integer("length") == 64);
}

TEST_CASE("a figure no longer shows a pin that is gone, whatever has its number later", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    toggle_pin(lab);
    lab.pin_in_place["outputs"] = lab.pins.front().number;
    SECTION("one by one") { unpin(lab, lab.pins.front().ticket); }
    SECTION("all") { unpin_all(lab); }
    CHECK(lab.pin_in_place.empty());
}

TEST_CASE("at most eight results are pinned, each with a number of its own", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    for (int64_t i = 1; i <= 8; ++i) {
        run_with_length(lab, engine, 8 * i);
        toggle_pin(lab);
    }
    CHECK(lab.pins.size() == 8);
    run_with_length(lab, engine, 8 * 9);
    CHECK(contains(reason_not_pinned(lab), "8 results are pinned"));
    toggle_pin(lab);
    CHECK(lab.pins.size() == 8);
    unpin(lab, lab.pins[2].ticket);
    toggle_pin(lab);
    CHECK(lab.pins.back().number == 3);
}

TEST_CASE("new figures of a pinned result replace its own, not the shown ones", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 64);
    toggle_pin(lab);
    run_with_length(lab, engine, 128);
    const Figures shown = lab.figures;
    Event event{.kind = Event::Kind::figures, .ticket = lab.pins.front().ticket};
    event.figures = std::make_shared<const std::vector<Figure>>(1);
    CHECK(take_figures_of_pin(lab, event));
    CHECK(lab.figures == shown);
    CHECK(lab.told.ghosts.at(0).figures == event.figures.get());
    event.ticket = 12345;
    CHECK_FALSE(take_figures_of_pin(lab, event));
}

TEST_CASE("Ctrl+B pins, and the row of pins compares, brings back and unpins", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B); });
    REQUIRE(lab.pins.size() == 1);
    set_parameter(lab, row(lab, "length"), int64_t{64});
    finish_run(engine, user);
    user.frames(3);
    const std::string pin = "//pins/$$" + std::to_string(lab.pins.front().ticket);
    const size_t sent = engine.requests.size();
    user.play([&](ImGuiTestContext* ctx) { ctx->ItemClick((pin + "/###bring back").c_str()); });
    CHECK(engine.requests.size() == sent + 1);
    finish_run(engine, user);
    user.play([&](ImGuiTestContext* ctx) { ctx->ItemClick((pin + "/###unpin").c_str()); });
    CHECK(lab.pins.empty());
}

// A figure with a heat map, and its title, with a control for each of many parameters beside it.
std::vector<Figure> with_map(const std::string& title, std::vector<double> values) {
    HeatMap map;
    map.rows = 1, map.columns = static_cast<int64_t>(values.size());
    map.values = std::move(values);
    Figure figure;
    figure.id = "map";
    figure.title = title;
    figure.chosen_by = {"batch", "length",     "channels",     "op",      "direction",
                        "dtype", "block_size", "distribution", "backward"};
    figure.marks.emplace_back(std::move(map));
    return {figure};
}

// The lower half of Outputs: a part of the map, without its title and controls.
std::vector<uint8_t> drawn_map(User& user) {
    user.play([](ImGuiTestContext* ctx) { ctx->MouseTeleportToPos({1, 1}); });
    user.frames(3);
    const Picture picture = user.picture();
    const ImRect panel = ImGui::FindWindowByName("Outputs")->Rect();
    std::vector<uint8_t> part;
    for (int y = static_cast<int>(panel.GetCenter().y); y < static_cast<int>(panel.Max.y); ++y) {
        const auto row = picture.rgb.begin() + 3 * static_cast<ptrdiff_t>(y) * picture.width;
        part.insert(part.end(), row + 3 * static_cast<ptrdiff_t>(panel.Min.x),
                    row + 3 * static_cast<ptrdiff_t>(panel.Max.x));
    }
    return part;
}

TEST_CASE("a heat map shows a pinned result in its place, and the newest one again, and keeps its title",
          "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 1000, 600);
    finish_run(engine, user);
    const auto answer = [&](const std::string& title, std::vector<double> values) {
        auto result = std::make_shared<Result>(*lab.result);
        result->request = engine.requests.back();
        engine.answer(engine.run_ticket, result, with_map(title, std::move(values)));
        user.frames(3);
    };
    submit(lab);
    answer("the earlier map", {1, 2, 4});
    toggle_pin(lab);
    set_parameter(lab, row(lab, "length"), int64_t{64});
    answer("the newest map", {4, 2, 1});
    REQUIRE(lab.told.ghosts.size() == 1);
    const auto choose = [&](const char* entry) {
        user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Outputs");
            ctx->ItemClick("//Outputs/result/map/##pin");
            ctx->ItemClick(entry);
        });
        user.frames(2);
    };
    user.play([](ImGuiTestContext* ctx) { ctx->WindowFocus("//Outputs"); });
    const auto newest = drawn_map(user);
    choose("//$FOCUSED/$$1/the same settings");
    CHECK(lab.pin_in_place == std::map<std::string, int>{{"map", 1}});
    const auto pinned = drawn_map(user);
    CHECK((pinned != newest));
    begin_note(lab, with_map("", {1}).front(), 0.5, 0.75, lab.pins.front().ticket);
    lab.note_form->note.note.text = "a note on the pinned result";
    finish_note(lab);
    CHECK((drawn_map(user) != pinned));
    choose("//$FOCUSED/newest");
    CHECK(lab.pin_in_place.empty());
    CHECK((drawn_map(user) == newest));

    // The chooser is the leftmost control.
    float title = 0, room = 0;
    user.play([&](ImGuiTestContext* ctx) {
        room = ctx->ItemInfo("//Outputs/result/map/##pin").RectFull.Min.x -
               ctx->WindowInfo("//Outputs/result").RectFull.Min.x;
        title = ImGui::CalcTextSize("the newest map").x;
    });
    CHECK(title > 0);
    CHECK(room > title);
}

}  // namespace
}  // namespace sawtooth
