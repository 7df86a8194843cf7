#include "app/gui/state/session_file.h"

#include <filesystem>
#include <set>
#include <thread>

#include "app/engine/run/configure.h"
#include "app/gui/figures/saving.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/recent_files.h"
#include "app/gui/state/sweeps.h"
#include "kernels/scan/family.h"
#include "tests/engine/run_engine.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/gui/wait_for.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// A session with three results of scan, of which two are pinned, a sweep, and a result of memory.
void make_session(LabState& lab, FakeEngine& engine) {
    choose_family(lab, **find_offered_family("memory"));
    finish_run(lab, engine);
    choose_family(lab, **find_offered_family("scan"));
    for (const int64_t length : {64, 128, 256}) {
        run_with_length(lab, engine, length);
        if (length < 256) toggle_pin(lab);
    }
    choose_baseline(lab, lab.pins[1].ticket);
    open_sweep_form(lab, row(lab, "length"));
    lab.sweep_form->values = "32,64";
    start_sweep(lab);
    const BackgroundSweep& sweep = lab.sweeps.back();
    engine.cell(sweep.ticket, sweep.sweep, sweep.sweep.cells());
    update(lab, lab.now);
}

void save_to(LabState& lab, const std::string& path) {
    lab.session.path = path;
    save_session(lab);
    finish_writes(lab);
}

// Waits until the session is written and the window knows it.
void wait_until_saved(LabState& lab) {
    wait_for(lab, [&] { return lab.log.back().text == "saved " + lab.session.path; });
}

void open_and_wait(LabState& lab, const std::string& path) {
    open_any_file(lab, path);
    wait_for(lab, [&] { return !lab.session.opening; });
}

std::vector<int64_t> lengths_of(const std::vector<Pin>& pins) {
    std::vector<int64_t> lengths;
    for (const Pin& pin : pins) lengths.push_back(pin.result->parameters.integer("length"));
    return lengths;
}

TEST_CASE("a saved session brings history, pins and sweeps back, and opening it runs nothing",
          "[gui][session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("one.sawtooth");
    FakeEngine engine, other_engine;
    LabState lab = lab_with(engine), other = lab_with(other_engine);
    make_session(lab, engine);
    save_to(lab, path);

    choose_family(other, **find_offered_family("lut"));
    finish_run(other, other_engine);
    const size_t sent = other_engine.requests.size();
    open_and_wait(other, path);
    CHECK(other_engine.requests.size() == sent);
    CHECK(other.family->name == "scan");
    REQUIRE(other.past_results.size() == 4);
    CHECK(other.past_results.front().settings.family->name == "memory");
    CHECK(words_of_numbers(other.past_results.back()) == words_of_numbers(lab.past_results.back()));
    CHECK(other.past_results.back().date == lab.past_results.back().date);
    CHECK(lengths_of(other.pins) == std::vector<int64_t>{64, 128});
    CHECK(baseline(other) == &other.pins[1]);
    CHECK(other.told.ghosts.size() == 2);
    // The newest result is shown, with its settings.
    REQUIRE(other.looking_back);
    CHECK(other.result->parameters.integer("length") == 256);
    CHECK(other.figures->size() == lab.figures->size());
    CHECK(other.request.parameters.integer("length") == 256);
    const auto is_by_person = [](const BackgroundSweep& sweep) { return sweep.by_person; };
    const auto swept = std::find_if(other.sweeps.begin(), other.sweeps.end(), is_by_person);
    REQUIRE(swept != other.sweeps.end());
    CHECK(swept->done == 2);
    CHECK(other.session.path == path);
    CHECK(other.settings.recent == std::vector<std::string>{path});

    // The next action runs live as ever.
    run_with_length(other, other_engine, 512);
    CHECK_FALSE(other.looking_back);
    CHECK(other.result->parameters.integer("length") == 512);
    CHECK(other.past_results.size() == 5);
    CHECK(what_changed(other, other.past_results.back()) == "length 256 -> 512");
    toggle_pin(other);
    CHECK(other_engine.kept.size() == 1);  // those of the file are not known to the engine
    save_to(other, path);
    const auto again = read_session(path);
    REQUIRE(again);
    CHECK(again->session.history.size() == 5);
    CHECK(again->session.pins.size() == 3);
    CHECK(again->session.sweeps.size() == 1);
}

TEST_CASE("a sweep of the command line is not out of date in the window that opens it", "[gui][session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("one.sawtooth");
    FakeEngine engine, other_engine;
    LabState lab = lab_with(engine), other = lab_with(other_engine);
    make_session(lab, engine);
    save_to(lab, path);
    auto saved = read_session(path);
    REQUIRE(saved);
    for (SessionSweep::Cell& cell : saved->session.sweeps.front().cells) {
        cell.refused.clear();
        cell.result = 1;
    }
    Request& base = saved->session.sweeps.front().sweep.base;
    base.extras = Extras::drawable;
    base.time_limit_seconds.reset();
    REQUIRE_FALSE(write_session(path, std::move(saved->session)));

    open_and_wait(other, path);
    const auto is_by_person = [](const BackgroundSweep& sweep) { return sweep.by_person; };
    const auto swept = [&]() -> const BackgroundSweep& {
        const auto found = std::find_if(other.sweeps.begin(), other.sweeps.end(), is_by_person);
        REQUIRE(found != other.sweeps.end());
        return *found;
    };
    CHECK_FALSE(is_outdated(other, swept()));
    const size_t sent = other_engine.sweeps.size();
    restart_sweeps(other);
    CHECK(std::none_of(other_engine.sweeps.begin() + static_cast<ptrdiff_t>(sent), other_engine.sweeps.end(),
                       [](const Sweep& sweep) { return sweep.id.empty(); }));
    set_parameter(other, row(other, "op"), std::string("max"));
    CHECK(is_outdated(other, swept()));
}

TEST_CASE("the sweeps of figures of a saved session are not out of date", "[gui][session]") {
    for (const Family* family : offered_families()) {
        INFO(family->name);
        const TemporaryFolder folder;
        FakeEngine engine, other_engine;
        LabState lab = lab_with(engine), other = lab_with(other_engine);
        choose_family(lab, *family);
        lab.request.profile = Profile::counters;
        submit(lab);
        finish_run(lab, engine);
        for (const BackgroundSweep& sweep : lab.sweeps)
            engine.cell(sweep.ticket, sweep.sweep, sweep.sweep.cells());
        update(lab, lab.now);
        save_to(lab, folder.file("one.sawtooth"));

        open_and_wait(other, folder.file("one.sawtooth"));
        CHECK(other.sweeps.size() == lab.sweeps.size());
        for (const BackgroundSweep& sweep : other.sweeps) {
            INFO(sweep.key);
            CHECK_FALSE(is_outdated(other, sweep));
        }
        const size_t sent = other_engine.sweeps.size();
        restart_sweeps(other);
        CHECK(other_engine.sweeps.size() == sent);
    }
}

TEST_CASE("a result of the command line has the figures that need no outputs in the window that opens it",
          "[gui][session]") {
    const TemporaryFolder folder;
    Session session;
    session.results.emplace_back(run_in_engine(scan_family(), {{"length", int64_t{64}}}));
    REQUIRE_FALSE(write_session(folder.file("one.sawtooth"), session));
    FakeEngine engine;
    LabState lab = lab_with(engine);
    open_and_wait(lab, folder.file("one.sawtooth"));
    REQUIRE(lab.result);
    std::set<std::string> drawn;
    for (const Figure& figure : *lab.figures)
        if (!figure.marks.empty()) drawn.insert(figure.id);
    CHECK(drawn.contains("times"));
    CHECK(drawn.contains("timeline"));
    CHECK_FALSE(drawn.contains("y"));
}

TEST_CASE("a pinned result that left the history is saved, too", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 8);
    toggle_pin(lab);
    for (int64_t i = 2; i <= 33; ++i) run_with_length(lab, engine, 8 * i);
    save_to(lab, folder.file("one.sawtooth"));
    const auto read = read_session(folder.file("one.sawtooth"));
    REQUIRE(read);
    CHECK(read->session.results.size() == 33);
    CHECK(read->session.history.size() == 32);
    CHECK(read->session.pins.front().result == 0);
    CHECK(read->session.results.front().summary().parameters.integer("length") == 8);
}

TEST_CASE("pins return in their order, whether or not they left the history", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine), other = lab_with(engine);
    for (int64_t i = 1; i <= 36; ++i) {
        run_with_length(lab, engine, 8 * i);
        if (i <= 3) toggle_pin(lab);
    }
    wait_until_packed(lab);
    for (const size_t index : {20, 10}) {
        look_back(lab, lab.past_results[index].ticket);
        toggle_pin(lab);
    }
    save_to(lab, folder.file("one.sawtooth"));
    open_and_wait(other, folder.file("one.sawtooth"));
    CHECK(lengths_of(other.pins) == lengths_of(lab.pins));
}

TEST_CASE("what the window has no control for stays as it is when a session is opened", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine, other_engine;
    LabState lab = lab_with(engine), other = lab_with(other_engine);
    lab.request.extras = Extras::none;
    lab.request.jitter = 3;
    lab.request.multiprocessors = 2;
    lab.request.memory_limit_bytes = 1 << 30;
    lab.request.seed = 7;
    submit(lab);
    finish_run(lab, engine);
    save_to(lab, folder.file("one.sawtooth"));
    open_and_wait(other, folder.file("one.sawtooth"));
    run_with_length(other, other_engine, 64);
    const Request& sent = other_engine.requests.back();
    CHECK(sent.seed == 7);
    CHECK(sent.extras == Extras::drawable);
    CHECK(sent.jitter == 0);
    CHECK(sent.multiprocessors == 0);
    CHECK_FALSE(sent.memory_limit_bytes);
}

TEST_CASE("a session of a GPU changes the backend only where that GPU is, and not for the next start",
          "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine, other_engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    choose_backend(lab, BackendChoice::cuda, 1);
    finish_run(lab, engine);
    save_to(lab, folder.file("one.sawtooth"));
    const bool is_there = GENERATE(true, false);
    if (is_there) other_engine.devices = FakeEngine::with_gpus();
    LabState other = lab_with(other_engine);
    open_and_wait(other, folder.file("one.sawtooth"));
    CHECK(other.looking_back);
    CHECK(other.request.backend == (is_there ? BackendChoice::cuda : BackendChoice::cpu));
    CHECK(other.request.device == (is_there ? 1 : 0));
    CHECK(other.settings.backend == BackendChoice::cpu);
}

TEST_CASE("a late result of the run before is not shown in place of a session", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine, other_engine;
    LabState lab = lab_with(engine), other = lab_with(other_engine);
    make_session(lab, engine);
    save_to(lab, folder.file("one.sawtooth"));
    other_engine.answer();
    update(other, other.now);
    run_with_length(other, other_engine, 8);
    set_parameter(other, row(other, "length"), int64_t{16});
    open_and_wait(other, folder.file("one.sawtooth"));
    other_engine.answer();
    update(other, other.now);
    REQUIRE(other.looking_back);
    CHECK_FALSE(other.looking_back->result);
    CHECK(other.past_results.size() == 4);
    run_with_length(other, other_engine, 512);
    CHECK(other.result->parameters.integer("length") == 512);
}

TEST_CASE("a session that is opened while another one is being saved keeps its own file", "[gui][session]") {
    const TemporaryFolder folder;
    const std::string old_path = folder.file("old.sawtooth"), path = folder.file("one.sawtooth");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 64);
    save_to(lab, path);
    toggle_pin(lab);
    open_any_file(lab, path);
    while (!lab.session.opening->session.is_ready()) std::this_thread::yield();
    SECTION("under its name") {
        lab.session.path = old_path;
        save_session(lab);
    }
    SECTION("under another name") {
        begin_saving_session(lab);
        lab.saving->path = old_path;
        save(lab);
    }
    take_opened_session(lab);
    wait_for(lab, [&] { return lab.log.back().text == "saved " + old_path; });
    CHECK(lab.session.path == path);
    CHECK(lab.session.saved == std::set<uint64_t>{lab.past_results.front().ticket});
    CHECK(lab.settings.recent.front() == old_path);
    CHECK(read_session(old_path)->session.pins.size() == 1);
}

TEST_CASE("another baseline is not saved until the session is", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    make_session(lab, engine);
    lab.session.path = folder.file("one.sawtooth");
    save_session(lab);
    wait_until_saved(lab);
    CHECK_FALSE(has_unsaved_marks(lab));
    choose_baseline(lab, lab.pins[0].ticket);
    CHECK(has_unsaved_marks(lab));
}

TEST_CASE("what the window does not show of a session stays in its file", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    make_session(lab, engine);
    const uint64_t ticket = lab.past_results[1].ticket;
    lab.session.notes = {{{{}, "scan", "times", 1, 2, "", 0, "a peak"}, ticket},
                         {{{}, "scan", "", 0, 0, "lookback", 7, "of any result"}, 0},
                         {{{}, "scan", "times", 1, 2, "", 0, "of a result that is gone"}, 12345}};
    lab.session.benches = {{"a processor", "2030-01-02", "1.0", {}, {"a note"}, 9, Cache::hot}};
    save_to(lab, folder.file("one.sawtooth"));
    LabState other = lab_with(engine);
    open_and_wait(other, folder.file("one.sawtooth"));
    save_to(other, folder.file("two.sawtooth"));
    const auto read = read_session(folder.file("two.sawtooth"));
    REQUIRE(read);
    REQUIRE(read->session.notes.size() == 2);
    CHECK(read->session.notes[0].text == "a peak");
    CHECK(read->session.notes[0].result == uint64_t{1});
    CHECK_FALSE(read->session.notes[1].result);
    CHECK(read->session.benches.size() == 1);
}

TEST_CASE("saving keeps every result and sweep of the file, however many there are", "[gui][session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("one.sawtooth");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const auto save = [&] {
        save_session(lab);
        wait_until_saved(lab);
    };
    const auto sweep_over_length = [&](const char* values) {
        open_sweep_form(lab, row(lab, "length"));
        lab.sweep_form->values = values;
        start_sweep(lab);
        const BackgroundSweep& sweep = lab.sweeps.back();
        engine.cell(sweep.ticket, sweep.sweep, sweep.sweep.cells());
        update(lab, lab.now);
    };
    lab.session.path = path;
    for (int64_t i = 1; i <= 20; ++i) run_with_length(lab, engine, 8 * i);
    sweep_over_length("32,64");
    save();
    for (int64_t i = 21; i <= 40; ++i) run_with_length(lab, engine, 8 * i);
    sweep_over_length("64,128");
    CHECK(lab.past_results.size() == 32);
    save();
    CHECK(read_session(path)->session.results.size() == 40);
    CHECK(read_session(path)->session.sweeps.size() >= 2);
    const size_t sweeps = read_session(path)->session.sweeps.size();

    LabState other = lab_with(engine);
    open_and_wait(other, path);
    CHECK(other.past_results.size() == 32);
    CHECK(other.session.unshown.size() == 8);
    CHECK(std::any_of(other.log.begin(), other.log.end(), [](const LogLine& line) {
        return line.text == "8 results and 1 earlier sweep of the session are not shown, and stay in it";
    }));
    for (int64_t i = 1; i <= 3; ++i) run_with_length(other, engine, 4 * i);
    CHECK(other.session.unshown.size() == 11);
    choose_family(other, **find_offered_family("memory"));
    choose_family(other, **find_offered_family("scan"));
    save_to(other, folder.file("two.sawtooth"));
    const auto read = read_session(folder.file("two.sawtooth"));
    REQUIRE(read);
    CHECK(read->session.results.size() == 43);
    CHECK(read->session.history.size() == 32);
    CHECK(read->session.sweeps.size() == sweeps);
    CHECK(read->session.results.front().summary().parameters.integer("length") == 8);
}

TEST_CASE("a file that is no session changes nothing, and the Log says why", "[gui][session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("bad.sawtooth");
    put(path, "broken");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 64);
    const auto shown = lab.result;
    open_and_wait(lab, path);
    CHECK(lab.result == shown);
    CHECK(lab.past_results.size() == 1);
    CHECK(lab.settings.recent.empty());
    CHECK(contains(lab.open_problem, path));
    CHECK(lab.log.back().text == lab.open_problem);
}

TEST_CASE("a window that starts with a session runs nothing", "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine, other_engine;
    LabState lab = lab_with(engine);
    make_session(lab, engine);
    save_to(lab, folder.file("one.sawtooth"));
    WindowOptions options;
    options.session = folder.file("one.sawtooth");
    LabState other = std::move(*open_lab(options, other_engine.calls()));
    wait_for(other, [&] { return !other.session.opening; });
    CHECK(other_engine.requests.empty());
    CHECK(other.family->name == "scan");
    REQUIRE(other.result);
    CHECK(other.result->parameters.integer("length") == 256);
}

TEST_CASE("the eight files that were opened last are the recent ones", "[gui][session]") {
    WindowSettings settings;
    for (int i = 0; i < 10; ++i) add_recent_file(settings, "/tmp/" + std::to_string(i));
    add_recent_file(settings, "/tmp/./5");
    add_recent_file(settings, "/tmp/of two\nlines");
    const std::vector<std::string> wanted{"/tmp/5", "/tmp/9", "/tmp/8", "/tmp/7",
                                          "/tmp/6", "/tmp/4", "/tmp/3", "/tmp/2"};
    CHECK(settings.recent == wanted);
}

TEST_CASE("Ctrl+S asks for a name the first time, and Ctrl+O opens the session", "[gui][window][session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("mine.sawtooth");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    const auto save = [&] {
        user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_S); });
    };
    save();
    CHECK_FALSE(lab.saving);  // there is no complete result yet
    finish_run(engine, user);
    save();
    REQUIRE(lab.saving);
    CHECK(lab.saving->figure.title == "Session: 1 result");
    user.play([&](ImGuiTestContext* ctx) {
        ctx->ItemInputValue("//Save session/##path", folder.file("mine").c_str());
    });
    wait_for(lab, [&] { return lab.session.path == path; });
    user.frames(3);
    CHECK_FALSE(lab.saving);
    REQUIRE(read_session(path));
    set_parameter(lab, row(lab, "length"), int64_t{64});
    finish_run(engine, user);
    save();
    CHECK_FALSE(lab.saving);
    finish_writes(lab);
    CHECK(read_session(path)->session.history.size() == 2);

    lab.past_results.clear();
    user.play([&](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
        ctx->ItemInputValue("//Open/##path", path.c_str());
    });
    wait_for(lab, [&] { return !lab.session.opening; });
    user.frames(3);
    CHECK(lab.past_results.size() == 2);
    CHECK_FALSE(lab.show_open);
}

}  // namespace
}  // namespace sawtooth
