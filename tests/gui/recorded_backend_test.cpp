// A recorded GPU as a backend of the window, with the recordings of assets/.

#include "app/gui/state/backends.h"

#include <set>

#include "app/engine/run/run_rows.h"
#include "app/gui/state/history.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/settings.h"
#include "app/gui/state/shown_values.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

const std::string name = "h200-2026-11";

LabState lab_with_recordings(FakeEngine& engine) {
    LabState lab = lab_with(engine);
    lab.recordings = recording_names();
    return lab;
}

TEST_CASE("recordings are offered among the backends, and one stays chosen at the next start",
          "[gui][recordings]") {
    FakeEngine engine;
    LabState lab = lab_with_recordings(engine);
    const auto options = backend_options(lab);
    REQUIRE(options.back().recording == name);
    CHECK(options.back().name == "H200, recorded 2026-11");
    CHECK(options.back().reason.empty());
    choose_backend(lab, BackendChoice::cuda, 0, name);
    CHECK(present_backend(lab).is_same(options.back()));
    CHECK(engine.requests.back().recording == name);
    CHECK_FALSE(lab.problem);
    WindowSettings kept;
    CHECK(read_settings(settings_text(lab.settings), kept).skipped.empty());
    CHECK(kept.recording == name);

    LabState next = lab_with_recordings(engine);
    next.settings = kept;
    next.wants_kept_backend = true;
    choose_kept_recording(next);
    CHECK(next.request.recording == name);
    choose_backend(lab, BackendChoice::cpu, 0);
    CHECK(lab.request.recording.empty());
    CHECK_FALSE(lab.recording);
}

TEST_CASE("undo takes a recording back, also for the next start", "[gui][recordings]") {
    FakeEngine engine;
    LabState lab = lab_with_recordings(engine);
    follow_changes(lab, false);
    choose_backend(lab, BackendChoice::cuda, 0, name);
    follow_changes(lab, false);
    CHECK(words_of_undo(lab) == "the backend");
    undo(lab);
    CHECK(lab.request.recording.empty());
    CHECK(lab.settings.recording.empty());
    redo(lab);
    CHECK(lab.settings.recording == name);
}

TEST_CASE("values without recorded times name the nearest, which can be set", "[gui][recordings]") {
    FakeEngine engine;
    LabState lab = lab_with_recordings(engine);
    choose_backend(lab, BackendChoice::cuda, 0, name);
    CHECK(lab.nearest_recorded.values.empty());  // the defaults are recorded
    const Parameter& length = row(lab, "length");
    const auto usual = lab.parameters.integer("length");
    set_parameter(lab, length, usual + 1);
    CHECK(words_of(lab.nearest_recorded) == "length = " + std::to_string(usual));
    choose_nearest_recorded(lab);
    CHECK(lab.nearest_recorded.values.empty());
    CHECK(lab.parameters.integer("length") == usual);
    CHECK(reason_fixed(lab, length).empty());
    // Only one direction was recorded.
    CHECK(contains(reason_fixed(lab, row(lab, "direction")), "H200, recorded 2026-11 has only direction = "));
    for (const Parameter& run_row : run_rows()) {
        INFO(run_row.name);
        const std::set<std::string> recorded_once = {"seed", "values", "optional", "cache"};
        CHECK(reason_fixed(lab, run_row).empty() != recorded_once.contains(run_row.name));
    }
    lab.request.seed = 5;  // as left by another backend: it must be possible to set it back
    for (const Parameter& run_row : run_rows())
        if (run_row.name == "seed") CHECK(reason_fixed(lab, run_row).empty());
}

TEST_CASE("an unknown recording is a problem in words", "[gui][recordings]") {
    FakeEngine engine;
    LabState lab = lab_with_recordings(engine);
    const size_t sent = engine.requests.size();
    choose_backend(lab, BackendChoice::cuda, 0, "no-such-gpu");
    REQUIRE(lab.problem);
    CHECK(contains(lab.problem->error.text,
                   "recording no-such-gpu: not known; accepted: h100-2026-11, " + name));
    CHECK(engine.requests.size() == sent);
}

TEST_CASE("the top bar sets the nearest recorded values", "[gui][window][recordings]") {
    FakeEngine engine;
    LabState lab = lab_with_recordings(engine);
    User user(lab);
    finish_run(engine, user);
    choose_backend(lab, BackendChoice::cuda, 0, name);
    const auto usual = lab.parameters.integer("length");
    set_parameter(lab, row(lab, "length"), usual + 1);
    engine.answer(engine.run_ticket, std::make_shared<Result>(*lab.result), FakeEngine::figures("recorded"));
    user.frames(3);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//top bar/###set nearest"); });
    CHECK(lab.parameters.integer("length") == usual);
}

}  // namespace
}  // namespace sawtooth
