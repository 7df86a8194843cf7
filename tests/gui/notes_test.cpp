#include "app/gui/state/notes.h"

#include <filesystem>

#include "app/gui/figures/figure_menu.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/session_autosave.h"
#include "app/gui/state/session_file.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/gui/wait_for.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"
#include "viz/figure_csv.h"

namespace sawtooth {
namespace {

// Writes a note on a figure of the shown result.
void write_note(LabState& lab, const std::string& id, const std::string& text) {
    begin_note(lab, FakeEngine::figure(id, Place::outputs, "a title"), 3, 4, lab.shown_ticket);
    lab.note_form->note.note.text = text;
    finish_note(lab);
}

std::vector<Note> notes_in(const Figure& figure) {
    std::vector<Note> notes;
    for (const Mark& mark : figure.marks)
        if (const Note* const note = std::get_if<Note>(&mark)) notes.push_back(*note);
    return notes;
}

// The notes on the figure of the shown result with that id, as it is drawn.
std::vector<Note> drawn_notes(const LabState& lab, const std::string& id) {
    for (const Figure& figure : *lab.figures)
        if (figure.id == id) return notes_in(with_marks(lab, figure, lab.shown_ticket));
    return {};
}

TEST_CASE("a note is on the figure of its result, and returns with it", "[gui][session]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    CHECK_FALSE(reason_no_note(lab).empty());
    finish_run(lab, engine);
    const uint64_t ticket = lab.shown_ticket, revision = lab.session.revision;
    write_note(lab, "outputs", "a peak");
    CHECK(lab.session.revision > revision);
    CHECK(has_unsaved_marks(lab));
    REQUIRE(drawn_notes(lab, "outputs").size() == 1);
    const Note note = drawn_notes(lab, "outputs").front();
    CHECK(note.x == 3);
    CHECK(note.y == 4);
    CHECK(note.text == "a peak");
    CHECK(note.by_user);
    CHECK(drawn_notes(lab, "times").empty());
    run_with_length(lab, engine, 64);
    CHECK(drawn_notes(lab, "outputs").empty());
    look_back(lab, ticket);
    CHECK(drawn_notes(lab, "outputs").size() == 1);

    edit_note(lab, 0, "outputs");
    lab.note_form->note.note.text = "no peak";
    finish_note(lab);
    CHECK(drawn_notes(lab, "outputs").front().text == "no peak");
    edit_note(lab, 0, "outputs");
    remove_note(lab);
    CHECK(lab.session.notes.empty());
    CHECK_FALSE(lab.note_form);
}

TEST_CASE("a result with a note stays in the history when older ones go", "[gui][session]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 8);
    write_note(lab, "outputs", "look here");
    const uint64_t ticket = lab.shown_ticket;
    for (int64_t i = 2; i <= 40; ++i) run_with_length(lab, engine, 8 * i);
    CHECK(lab.past_results.size() == most_past_results);
    CHECK(find_past(lab, ticket));
}

TEST_CASE("a note is written from the menu of a figure, at the place of the mouse",
          "[gui][window][session]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto open_menu = [](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Outputs");
        ctx->MouseMoveToPos(ctx->GetWindowByRef("//Outputs")->Rect().GetCenter());
        ctx->MouseClick(ImGuiMouseButton_Right);
    };
    user.play([&](ImGuiTestContext* ctx) {
        open_menu(ctx);
        ctx->ItemClick("//$FOCUSED/Add note…");
        ctx->ItemInputValue("//Note/##text", "the gap");
    });
    REQUIRE(lab.session.notes.size() == 1);
    const SessionNote& note = lab.session.notes.front().note;
    CHECK(note.text == "the gap");
    CHECK(note.figure == "outputs");
    CHECK(note.x > 30);  // of 0 to 99
    CHECK(note.x < 70);
    CHECK(note.y > 3);  // of 0 to 16
    CHECK(note.y < 13);
    user.play([&](ImGuiTestContext* ctx) {
        open_menu(ctx);
        ctx->ItemClick("//$FOCUSED/$$0/Edit note: the gap");
        ctx->ItemClick("//Note/Remove");
    });
    CHECK(lab.session.notes.empty());
    user.play([&](ImGuiTestContext* ctx) {
        open_menu(ctx);
        ctx->ItemClick("//$FOCUSED/Add note…");
        ctx->KeyPress(ImGuiKey_Escape);
    });
    CHECK(lab.session.notes.empty());
    CHECK_FALSE(lab.note_form);
}

TEST_CASE("a window that closes with pins or notes that were not saved leaves its autosaved file",
          "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    SessionAutosave autosave(lab, folder.path());
    finish_run(lab, engine);
    autosave.follow(lab, 10);
    toggle_pin(lab);
    autosave.end(lab);
    finish_writes(lab);
    const auto left = read_session(lab.session.autosave_path);
    REQUIRE(left);
    CHECK(left->session.pins.size() == 1);

    SECTION("not once they are saved") {
        lab.session.path = folder.file("mine.sawtooth");
        save_session(lab);
        wait_for(lab, [&] { return !lab.settings.recent.empty(); });
    }
    SECTION("not while they are being saved") {
        lab.session.path = folder.file("mine.sawtooth");
        save_session(lab);
    }
    SECTION("not without pins") { toggle_pin(lab); }
    autosave.end(lab);
    finish_writes(lab);
    CHECK_FALSE(std::filesystem::exists(lab.session.autosave_path));
}

TEST_CASE("a note that was written while the session was being saved is not saved", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    lab.session.path = folder.file("mine.sawtooth");
    write_note(lab, "outputs", "first");
    save_session(lab);
    write_note(lab, "outputs", "second");
    wait_for(lab, [&] { return !lab.settings.recent.empty(); });
    CHECK(has_unsaved_marks(lab));
    save_session(lab);
    wait_for(lab, [&] { return !has_unsaved_marks(lab); });
}

TEST_CASE("another session closes the dialog of a note", "[gui][window][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    lab.session.path = folder.file("mine.sawtooth");
    save_session(lab);
    wait_for(lab, [&] { return !lab.settings.recent.empty(); });
    write_note(lab, "outputs", "a note");
    user.frames(2);
    edit_note(lab, 0, "outputs");
    user.frames(3);
    CHECK(ImGui::GetTopMostPopupModal());
    open_any_file(lab, lab.session.path);
    wait_for(lab, [&] { return !lab.session.opening; });
    user.frames(3);
    CHECK_FALSE(lab.note_form);
    CHECK_FALSE(ImGui::GetTopMostPopupModal());
}

TEST_CASE("opening a session keeps the one before it if its pins or notes were not saved", "[gui][session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("one.sawtooth");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    SessionAutosave autosave(lab, folder.path());
    finish_run(lab, engine);
    lab.session.path = path;
    save_session(lab);
    wait_for(lab, [&] { return !lab.settings.recent.empty(); });
    const auto open = [&] {
        open_any_file(lab, path);
        wait_for(lab, [&] { return !lab.session.opening; });
        finish_writes(lab);
    };
    open();
    CHECK(folder.names() == std::vector<std::string>{"one.sawtooth"});
    run_with_length(lab, engine, 64);
    write_note(lab, "outputs", "precious");
    const std::string first = path_of_replaced(lab);
    open();
    CHECK(lab.session.notes.empty());
    const auto replaced = read_session(first);
    REQUIRE(replaced);
    CHECK(replaced->session.notes.front().text == "precious");

    // What was kept is not overwritten by what is kept later.
    run_with_length(lab, engine, 128);
    toggle_pin(lab);
    const std::string second = path_of_replaced(lab);
    open();
    CHECK(read_session(first)->session.notes.size() == 1);
    CHECK(read_session(second)->session.pins.size() == 1);
}

TEST_CASE("finished sweeps of a family return with it, also from a session", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    REQUIRE_FALSE(lab.sweeps.empty());
    const auto finished = [](const LabState& state) {
        return std::count_if(state.sweeps.begin(), state.sweeps.end(),
                             [](const BackgroundSweep& sweep) { return sweep.result != nullptr; });
    };
    engine.cell(lab.sweeps.front().ticket, lab.sweeps.front().sweep, lab.sweeps.front().sweep.cells());
    update(lab, lab.now);
    REQUIRE(finished(lab) == 1);
    choose_family(lab, **find_offered_family("lut"));
    CHECK(finished(lab) == 0);
    lab.session.path = folder.file("one.sawtooth");
    save_session(lab);
    finish_writes(lab);
    CHECK(read_session(lab.session.path)->session.sweeps.size() == 1);
    choose_family(lab, **find_offered_family("scan"));
    CHECK(finished(lab) == 1);
    CHECK(lab.session.sweeps.empty());

    FakeEngine other_engine;
    LabState other = lab_with(other_engine);
    choose_family(other, **find_offered_family("lut"));
    open_any_file(other, lab.session.path);
    wait_for(other, [&] { return !other.session.opening; });
    choose_family(other, **find_offered_family("scan"));
    CHECK(finished(other) == 1);
}

TEST_CASE("earlier results are a trail in the roofline", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    const auto answer = [&](double y, const char* device = "a processor") {
        Figure figure = FakeEngine::figure("roofline", Place::views, "Roofline");
        Line mark{
            .label = "lookback", .ink = {Ink::Role::variant, 2}, .x = {0.25}, .y = {y}, .joined = false};
        Line measured = mark;
        measured.ink.dashed = true;
        figure.marks = {mark, measured};
        submit(lab);
        auto result = std::make_shared<Result>(*lab.result);
        result->device = device;
        engine.answer(engine.run_ticket, result, {figure});
        update(lab, lab.now);
        return with_marks(lab, lab.figures->front(), lab.shown_ticket);
    };
    const auto ys = [](const Figure& figure) { return std::get<Line>(figure.marks.front()).y; };
    CHECK(answer(10).marks.size() == 2);  // no earlier result has the figure
    answer(20);
    const uint64_t second = lab.shown_ticket;
    const Figure drawn = answer(40);
    REQUIRE(drawn.marks.size() == 3);
    const Line& trail = std::get<Line>(drawn.marks.front());
    CHECK(trail.label == "lookback, earlier results");
    CHECK(trail.y == std::vector<double>{10, 20, 40});
    CHECK(trail.joined);

    // Those of another device do not belong to it, nor those after a result that is shown again.
    CHECK(answer(30, "another device").marks.size() == 2);
    CHECK(ys(answer(80)) == std::vector<double>{10, 20, 40, 80});
    look_back(lab, second);
    CHECK(ys(with_marks(lab, lab.figures->front(), lab.shown_ticket)) == std::vector<double>{10, 20});
}

}  // namespace
}  // namespace sawtooth
