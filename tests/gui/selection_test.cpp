// How the selected launch stays selected over runs, and its facts.

#include "app/gui/state/selection.h"

#include "kernels/figures/figures.h"
#include "tests/gui/gpu_answer.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

std::string told_of(const LabState& lab) {
    std::string told;
    for (const auto& [name, value] : facts_of_selected(lab)) told += name + ": " + value + "\n";
    return told;
}

TEST_CASE("the launch at a time is selected, or the nearest one", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    answer_from_gpu(engine);
    update(lab, 1);
    // Its launches last from 0 to 13, 15 to 18 and 20 to 33 us.
    const VariantResult& variant = lab.result->variants[1];
    select_launch(lab, ink_of(variant), 16);
    REQUIRE(selected_launch(lab));
    CHECK(selected_launch(lab)->variant == &variant);
    CHECK(selected_launch(lab)->launch == &variant.launches[1]);
    select_launch(lab, ink_of(variant), 19.5);
    CHECK(selected_launch(lab)->launch == &variant.launches[2]);
    select_launch(lab, {Ink::Role::quiet}, 16);
    CHECK(selected_launch(lab)->launch == &variant.launches[2]);
}

TEST_CASE("a run with the selected launch keeps the selection, another one drops it", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    answer_from_gpu(engine);
    update(lab, 1);
    select_launch(lab, ink_of(lab.result->variants[1]), 16);
    submit(lab);
    engine.answer(false);  // a partial result, with outputs but no times
    update(lab, 2);
    CHECK(selected_launch(lab));
    answer_from_gpu(engine, [](Result& result) { result.variants[1].launches[1].start_us = 17; });
    update(lab, 3);
    REQUIRE(selected_launch(lab));
    CHECK(selected_launch(lab)->launch->start_us == 17);

    submit(lab);
    answer_from_gpu(engine,
                    [](Result& result) { result.variants[1].launches[1] = gpu_launch("other", 15, 3, 24); });
    update(lab, 4);
    CHECK_FALSE(lab.selected);

    select_launch(lab, ink_of(lab.result->variants[1]), 16);
    REQUIRE(lab.selected);
    submit(lab);
    answer_from_gpu(engine, [](Result& result) { result.variants.resize(1); });
    update(lab, 5);
    CHECK_FALSE(lab.selected);
}

TEST_CASE("the selected launch shows its index, its time and its workers", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    answer_from_gpu(engine, [](Result& result) {
        result.processors = 132;
        for (VariantResult& variant : result.variants) variant.launch_count = 3;
    });
    update(lab, 1);
    CHECK(facts_of_selected(lab).empty());
    select_launch(lab, ink_of(lab.result->variants[0]), 12);
    CHECK(title_of_selected(lab) == "Launch 2: fold");
    const std::string told = told_of(lab);
    INFO(told);
    for (const char* part :
         {"variant: ", "launch: 2 of 3, starts at 11 us", "duration: 3 us, 12 % of the recorded repeat",
          "works on: at most 132 of 132 SMs", "grid: 64 x 4 blocks", "bandwidth: 333.3 GB/s, 977 KiB"})
        CHECK(contains(told, part));
}

TEST_CASE("on the CPU the workers used by a launch are shown", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    answer_from_gpu(engine, [](Result& result) {
        result.backend = Backend::cpu;
        result.processors = 2;
        for (VariantResult& variant : result.variants)
            for (LaunchRecord& launch : variant.launches)
                launch.busy = {{0, launch.start_us, launch.start_us + launch.duration_us}};
    });
    update(lab, 1);
    select_launch(lab, ink_of(lab.result->variants[0]), 1);
    CHECK(contains(told_of(lab), "works on: 1 of 2 workers"));
    CHECK(workers_of_selected(lab) == "1 of 2 workers");
}

TEST_CASE("a measured range shows its length, its launches and the utilisation", "[gui]") {
    Request request;
    request.family = "scan";
    const auto result = gpu_result(request, "a GPU");
    const Ink ink = ink_of(result->variants[0]);  // its launches last from 0 to 9, 11 to 14 and 16 to 25 us
    CHECK(measured_words(result.get(), ink, {5, 15}) == "10 us: 2 launches of sequential, utilisation 70 %");
    CHECK(measured_words(result.get(), ink, {9.5, 10.5}) ==
          "1 us: 0 launches of sequential, utilisation 0 %");
    CHECK(measured_words(result.get(), {Ink::Role::quiet}, {5, 15}) == "10 us");
    CHECK(measured_words(nullptr, ink, {5, 15}) == "10 us");
}

}  // namespace
}  // namespace sawtooth
