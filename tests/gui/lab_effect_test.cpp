// Changes without effect: the lab stores them but sends nothing.

#include <algorithm>

#include "app/engine/files/npz.h"
#include "app/engine/run/run_rows.h"
#include "app/gui/state/effect.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "kernels/memory/family.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// A lab of the family memory with short sequences, a first result on display, and all sweeps complete.
struct MemoryLab {
    FakeEngine engine;
    LabState lab = lab_with(engine);

    MemoryLab() {
        choose_family(lab, **find_offered_family("memory"));
        set("length", int64_t{256});
        finish();
    }
    void set(const char* name, Value value) { set_parameter(lab, row(lab, name), std::move(value)); }
    void finish() {
        finish_run(lab, engine);
        for (BackgroundSweep& sweep : lab.sweeps)
            if (sweep.ticket) engine.cell(sweep.ticket, sweep.sweep, sweep.sweep.cells());
        update(lab, lab.now + 0.01);
    }
    const BackgroundSweep& by_hand() const {
        return *std::find_if(lab.sweeps.begin(), lab.sweeps.end(), [](const auto& s) { return s.by_person; });
    }
};

TEST_CASE("a unit is in the singular beside one", "[gui]") {
    const Family* const family = &memory_family();
    const Parameter& chunk = *family->parameter("chunk");
    CHECK(with_unit("16", chunk) == "16 tokens");
    CHECK(with_unit("1", chunk) == "1 token");
    CHECK(with_unit("auto (1)", chunk) == "auto (1) token");
    CHECK(with_unit("11", chunk) == "11 tokens");
    for (const Parameter& row : run_rows())
        if (row.name == "time_limit") CHECK(with_unit("1", row) == "1 s");
}

TEST_CASE("a change without effect is stored and sends nothing", "[gui]") {
    MemoryLab at;
    const size_t sent = at.engine.requests.size();
    CHECK(reason_unused(at.lab, row(at.lab, "slot_count")) == "only for rule lattice");
    at.set("slot_count", int64_t{64});
    at.set("chunk", int64_t{1024});
    at.set("precision", "bf16");
    CHECK(at.engine.requests.size() == sent + 1);  // chunk was smaller than the length
    at.finish();
    at.set("chunk", int64_t{1 << 20});
    at.set("slot_count", int64_t{32});
    reset_parameter(at.lab, row(at.lab, "precision"));
    CHECK(at.engine.requests.size() == sent + 1);
    CHECK(at.lab.pending.ticket == 0);
    CHECK(why_outdated(at.lab).empty());
    for (const BackgroundSweep& sweep : at.lab.sweeps) CHECK_FALSE(is_outdated(at.lab, sweep));
    CHECK_FALSE(due(at.lab));
    CHECK(shown_value(at.lab, row(at.lab, "slot_count")) == Value(int64_t{32}));
    CHECK(at.lab.parameters.integer("chunk") == 1 << 20);
    CHECK(at.lab.result->parameters.integer("chunk") == 1024);

    // Later requests include the change, and there it may have an effect.
    const size_t swept = at.engine.sweeps.size();
    at.set("rule", "lattice");
    REQUIRE(at.engine.requests.size() == sent + 2);
    CHECK(at.engine.requests.back().parameters.integer("slot_count") == 32);
    at.finish();
    CHECK(at.engine.sweeps.size() > swept);
    CHECK(reason_unused(at.lab, row(at.lab, "slot_count")).empty());
    at.set("slot_count", int64_t{16});
    CHECK(at.engine.requests.size() == sent + 3);
}

TEST_CASE("a change without effect does not disturb a run", "[gui]") {
    MemoryLab at;
    at.set("length", int64_t{128});
    const size_t sent = at.engine.requests.size();
    const uint64_t ticket = at.lab.pending.ticket;
    at.set("slot_count", int64_t{64});
    CHECK(at.engine.requests.size() == sent);
    CHECK(at.lab.pending.ticket == ticket);
    finish_run(at.lab, at.engine);
    CHECK(why_outdated(at.lab).empty());
}

TEST_CASE("an index beyond its limit is drawn as before", "[gui]") {
    MemoryLab at;
    at.set("drawn_channel", int64_t{1000});
    update(at.lab, at.lab.now + 0.01);
    CHECK(at.engine.looks.size() == 1);
    at.set("drawn_channel", int64_t{900});
    at.set("drawn_batch", int64_t{3});
    update(at.lab, at.lab.now + 0.01);
    CHECK(at.engine.looks.size() == 1);
}

TEST_CASE("sliders end at the limits of their rows", "[gui]") {
    MemoryLab at;
    CHECK(last_value(at.lab, row(at.lab, "chunk")) == 256);
    CHECK(last_value(at.lab, row(at.lab, "drawn_batch")) == 0);
    CHECK(last_value(at.lab, row(at.lab, "length")) == row(at.lab, "length").maximum);
    at.set("batch", int64_t{4});
    CHECK(last_value(at.lab, row(at.lab, "drawn_batch")) == 3);
    CHECK(last_value(at.lab, run_rows().front()) == run_rows().front().maximum);
    for (const Family* family : families()) {
        choose_family(at.lab, *family);
        for (const Parameter& parameter : family->parameters) {
            reason_unused(at.lab, parameter);
            CHECK(last_value(at.lab, parameter) <= parameter.maximum);
        }
    }
}

TEST_CASE("a sweep restarts if a change has an effect in one of its cells", "[gui]") {
    MemoryLab at;
    open_sweep_form(at.lab, row(at.lab, "rule"));
    start_sweep(at.lab);
    at.finish();
    CHECK_FALSE(is_outdated(at.lab, at.by_hand()));
    at.set("lambda_k", 0.5);  // trellis is a cell of the sweep
    CHECK(is_outdated(at.lab, at.by_hand()));
    CHECK(why_outdated(at.lab).empty());
    REQUIRE(due(at.lab));
    const size_t sent = at.engine.requests.size(), swept = at.engine.sweeps.size();
    update(at.lab, *due(at.lab));
    CHECK(at.engine.requests.size() == sent);
    REQUIRE(at.engine.sweeps.size() == swept + 1);
    CHECK(at.engine.sweeps.back().base.parameters.real("lambda_k") == 0.5);
    at.finish();
    CHECK_FALSE(is_outdated(at.lab, at.by_hand()));
}

TEST_CASE("settings that could not run before are sent after any change", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    set_parameter(lab, row(lab, "compensated"), true);
    finish_run(lab, engine);
    set_parameter(lab, row(lab, "op"), "max");
    const size_t sent = engine.requests.size();
    REQUIRE(lab.problem);
    CHECK(lab.problem->parameter == "compensated");
    set_parameter(lab, row(lab, "compensated"), false);
    CHECK_FALSE(lab.problem);
    REQUIRE(engine.requests.size() == sent + 1);
    CHECK(engine.requests.back().parameters.is("op", "max"));

    // A value without effect is still refused if it is not accepted.
    finish_run(lab, engine);
    set_parameter(lab, row(lab, "compensated"), true);
    CHECK(engine.requests.size() == sent + 1);
    CHECK(lab.problem);
}

TEST_CASE("a chosen chip makes parameters of CUDA used", "[gui]") {
    MemoryLab at;
    choose_chip(at.lab, "sm_90a");
    at.finish();
    CHECK(reason_unused(at.lab, row(at.lab, "precision")).empty());
    const size_t sent = at.engine.requests.size();
    at.set("precision", "bf16");
    CHECK(at.engine.requests.size() == sent + 1);
}

TEST_CASE("sizes of a file also limit the sliders", "[gui]") {
    const TemporaryFolder folder;
    REQUIRE_FALSE(write_npz(folder.file("in.npz"), {Array::zeros("k", Dtype::f32, {2, 40, 4})}));
    MemoryLab at;
    open_file(at.lab, folder.file("in.npz"));
    at.lab.opening->file.result.wait();
    update(at.lab, at.lab.now + 0.01);
    at.finish();
    CHECK(last_value(at.lab, row(at.lab, "chunk")) == 40);
    const size_t sent = at.engine.requests.size();
    at.set("chunk", int64_t{128});
    at.set("chunk", int64_t{512});
    CHECK(at.engine.requests.size() == sent);
    CHECK(why_outdated(at.lab).empty());
}

TEST_CASE("figures get the columns of the widest plot, in steps of 128", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    fit_columns(lab, 300);
    CHECK_FALSE(lab.look_due);  // there are no figures yet
    finish_run(lab, engine);
    // The columns, and how often figures were requested.
    const auto fitted = [&](int pixels) {
        fit_columns(lab, pixels);
        update(lab, lab.now + 1);
        return std::pair(lab.view.columns, engine.looks.size());
    };
    CHECK(fitted(1) == std::pair(128, size_t{1}));
    CHECK(fitted(128) == std::pair(128, size_t{1}));
    CHECK(fitted(129) == std::pair(256, size_t{2}));
    CHECK(fitted(1000000) == std::pair(View{}.columns, size_t{3}));
    CHECK(engine.looks.back().view.columns == View{}.columns);
}

}  // namespace
}  // namespace sawtooth
