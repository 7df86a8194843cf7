// The sliders that `bench window` moves, and its words. The end-to-end tests run the measurements.

#include "app/gui/shell/bench_sliders.h"
#include "app/gui/shell/bench_window_words.h"
#include "app/gui/state/family_choice.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

TEST_CASE("bench window moves sliders of every family that have an effect", "[gui][bench]") {
    const BackendChoice backend = GENERATE(BackendChoice::cpu, BackendChoice::cuda);
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    lab.request.backend = backend;
    for (const Family* family : offered_families()) {
        INFO(family->name);
        choose_family(lab, *family);
        REQUIRE_FALSE(lab.problem);
        REQUIRE(find_slider(lab, Renews::inputs).row);
        for (const Renews renews : {Renews::inputs, Renews::kernels}) {
            const BenchSlider slider = find_slider(lab, renews);
            if (!slider.row) continue;
            INFO(slider.row->name);
            for (const Value& value : {slider.other, slider.initial}) {
                finish_run(lab, engine);
                const size_t sent = engine.requests.size();
                set_parameter(lab, *slider.row, value);
                CHECK_FALSE(lab.problem);
                CHECK(engine.requests.size() == sent + 1);
            }
        }
    }
}

TEST_CASE("a family may have no slider that keeps the reference", "[gui][bench]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, **find_offered_family("lut"));
    CHECK_FALSE(find_slider(lab, Renews::kernels).row);
    CHECK(find_slider(lab, Renews::inputs).row);
}

TEST_CASE("bench window says which of its times are unstable", "[gui][bench]") {
    const SpreadMs stable = spread_of({3, 1, 2, 2, 2}), apart = spread_of({1, 9, 2, 8, 3});
    CHECK(stable.median == 2);
    CHECK(stable.worst == 3);
    CHECK_FALSE(contains(frame_words(stable), "unstable"));
    CHECK(contains(frame_words(apart), "unstable: 4x"));

    FamilyBench family{"lut", "a processor", stable, {}, {}, "a note", "no \"device\""};
    family.sliders = {{"chunk", "moved, reference kept", apart, {{"inputs", stable}}, {}}};
    family.pins = PinsBench{stable, stable, apart};
    const WindowBench bench{1600, 900, {family, {}}, 0.015};
    CHECK(contains(json_of(bench), R"("pins": {"pin_ms": {"median": 2.000)"));
    CHECK(contains(json_of(bench), R"("pins": null)"));
    CHECK(contains(words_of(*family.pins), "unstable: 4x"));
    CHECK(contains(json_of(bench), R"("problem": "no \"device\"")"));
    CHECK(contains(json_of(bench), R"("times_ms": null)"));
    CHECK(contains(words_of(family.sliders.front()), "chunk moved, reference kept"));
    CHECK(idle_words(bench.idle_share) == "idle: 1.50 % of a core\n");
}

}  // namespace
}  // namespace sawtooth
