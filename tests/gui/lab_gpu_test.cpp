// The state of the lab with kernels on a GPU: backends, countdowns, stopped workers and compilers.

#include "app/engine/run/run_rows.h"
#include "app/engine/tables/tables.h"
#include "app/gui/panels/panels.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/launch_words.h"
#include "app/gui/state/pacing.h"
#include "app/gui/state/shown_values.h"
#include "kernels/attention/family.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/gpu_result.h"

namespace sawtooth {
namespace {

TEST_CASE("the chosen backend and device are sent with every Request", "[gui]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    REQUIRE(backend_options(lab).size() == 4);
    for (const BackendOption& option : backend_options(lab)) CHECK(option.reason.empty());
    choose_backend(lab, BackendChoice::cuda, 1);
    CHECK(engine.requests.back().backend == BackendChoice::cuda);
    CHECK(engine.requests.back().device == 1);
    CHECK(present_backend(lab).meaning.find(engine.devices.gpus[1].name) == 0);
    set_parameter(lab, run_rows().front(), int64_t{7});
    CHECK(engine.requests.back().backend == BackendChoice::cuda);
    choose_backend(lab, BackendChoice::automatic, 0);
    CHECK(engine.requests.back().backend == BackendChoice::automatic);
    CHECK(lab.settings.backend == BackendChoice::automatic);
    lab.live = false;
    choose_backend(lab, BackendChoice::cpu, 0);
    CHECK(engine.requests.back().backend == BackendChoice::cpu);
}

TEST_CASE("an unavailable backend shows the reason given by the driver", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    Family without = *lab.family;
    for (Variant& variant : without.variants) variant.plan_cuda = nullptr;
    const Family* const real = lab.family;
    lab.family = &without;
    CHECK(backend_options(lab).back().reason.find("No variant of this family") == 0);
    CHECK_FALSE(reason_not_compiled(lab).empty());
    lab.family = real;
    const WithCudaForms forms(lab);
    CHECK(backend_options(lab).back().reason == engine.devices.gpu_reason);
    CHECK(reason_not_compiled(lab).empty());
    lab.devices.reset();
    CHECK(backend_options(lab).back().reason.find("Looking for") != std::string::npos);
}

TEST_CASE("with a worker command no local GPU is offered, and auto may find a remote one", "[gui]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    lab.request.on = "ssh far sawtooth worker";
    choose_backend(lab, BackendChoice::automatic, 0);
    CHECK(engine.requests.back().on == "ssh far sawtooth worker");
    CHECK(backend_in_force(lab) == Backend::cuda);
    CHECK_FALSE(chip_in_force(lab));
    for (const BackendOption& option : backend_options(lab)) {
        CHECK(option.reason.empty());
        CHECK(option.name.find("NVIDIA") == std::string::npos);
    }
    engine.answer(engine.run_ticket, gpu_result(engine.requests.back(), "NVIDIA Far"), {});
    update(lab, lab.now + 0.1);
    CHECK(device_words(lab).text == "ran on NVIDIA Far, through ssh far sawtooth worker");
}

TEST_CASE("a result of another device than requested says so", "[gui]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    const std::string first = engine.devices.gpus[0].name, second = engine.devices.gpus[1].name;
    const auto answer_from = [&](const std::string& device) {
        const auto result = gpu_result(engine.requests.back(), device);
        if (device.starts_with("AMD")) result->backend = Backend::cpu;
        engine.answer(engine.run_ticket, result, {});
        update(lab, lab.now + 0.1);
        return device_words(lab);
    };
    choose_backend(lab, BackendChoice::cuda, 1);
    CHECK_FALSE(answer_from(second + ", sm_90a").surprising);
    CHECK(answer_from("AMD EPYC, 2 threads").surprising);
    CHECK(answer_from("AMD EPYC, 2 threads").text == "requested " + second + ", ran on AMD EPYC, 2 threads");
    choose_backend(lab, BackendChoice::automatic, 0);
    CHECK_FALSE(answer_from(first).surprising);
    CHECK(answer_from("AMD EPYC, 2 threads").surprising);
    choose_backend(lab, BackendChoice::cpu, 0);
    CHECK_FALSE(answer_from("AMD EPYC, 2 threads").surprising);
}

TEST_CASE("the last backend is chosen at the start if it is available, otherwise the CPU", "[gui]") {
    const auto started = [](FakeEngine& engine, BackendChoice kept, int device) {
        LabState lab = lab_with(engine);
        const auto forms = std::make_unique<WithCudaForms>(lab);
        lab.settings.backend = kept;
        lab.settings.device = device;
        lab.wants_kept_backend = true;
        std::promise<Devices> found;
        found.set_value(engine.devices);
        lab.search = Background<Devices>{found.get_future(), {}};
        update(lab, lab.now + 0.01);
        return std::pair{engine.requests.back().backend, lab.log.empty() ? "" : lab.log.back().text};
    };
    FakeEngine with, without;
    with.devices = FakeEngine::with_gpus();
    CHECK(started(with, BackendChoice::cuda, 1).first == BackendChoice::cuda);
    CHECK(with.requests.back().device == 1);
    CHECK(started(with, BackendChoice::cpu, 0).first == BackendChoice::cpu);
    CHECK(started(with, BackendChoice::cuda, 2).first == BackendChoice::cpu);
    const auto [backend, told] = started(without, BackendChoice::cuda, 0);
    CHECK(backend == BackendChoice::cpu);
    CHECK(told.find("GPU 0") == 0);
    CHECK(told.find(without.devices.gpu_reason) != std::string::npos);
}

TEST_CASE("a choice that does not fit the chip says so before anything runs", "[gui]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    engine.devices.gpus[0].shared_bytes_per_block = 80 * 1024;
    LabState lab = lab_with(engine);
    choose_family(lab, attention_family());
    const Parameter& rows = row(lab, "BLOCK_M");
    CHECK(choice_refusal(lab, rows, int64_t{256}).reason.empty());  // the CPU has no such limit
    choose_backend(lab, BackendChoice::cuda, 0);
    const ChoiceRefusal some = choice_refusal(lab, rows, int64_t{256});
    CHECK(some.reason.find("streaming: BLOCK_M = 256") == 0);
    CHECK(some.reason.find(lab.devices->gpus[0].name + " has 81920") != std::string::npos);
    CHECK_FALSE(some.by_all);  // naive has no tiles
    CHECK(choice_refusal(lab, rows, int64_t{16}).reason.empty());
    enable_variant(lab, "naive", false);
    CHECK(choice_refusal(lab, rows, int64_t{256}).by_all);
    CHECK_FALSE(choice_refusal(lab, row(lab, "dtype"), std::string("f32")).reason.empty());
    CHECK(choice_refusal(lab, row(lab, "dtype"), std::string("f16")).reason.empty());
    // The refusal has a reason that no choice of this row changes.
    set_parameter(lab, row(lab, "dtype"), std::string("f32"));
    CHECK(choice_refusal(lab, rows, int64_t{16}).reason.empty());
}

TEST_CASE(
    "where the chip is not known, the result says which variants cannot run, and requests stay the same",
    "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    lab.request.on = "ssh far sawtooth worker";
    choose_backend(lab, BackendChoice::cuda, 0);
    REQUIRE_FALSE(chip_in_force(lab));
    const Variant &first = lab.family->variants[0], &second = lab.family->variants[1];
    enable_variant(lab, second.name, false);  // so that a Request names the others
    CHECK(shown_refusal(lab, first).empty());
    const auto result = gpu_result(engine.requests.back(), "NVIDIA Far");
    result->variants.front().refused = "needs 200 KiB of shared memory";
    engine.answer(engine.run_ticket, result, {});
    update(lab, lab.now + 0.1);
    CHECK(shown_refusal(lab, first) == "needs 200 KiB of shared memory");
    CHECK(shown_refusal(lab, lab.family->variants.back()).empty());
    CHECK(request_of(lab).variants == engine.requests.back().variants);
    CHECK(request_of(lab).variants.front() == first.name);

    lab.live = false;
    set_parameter(lab, row(lab, "length"), int64_t{77});  // the result is of another length
    CHECK(shown_refusal(lab, first).empty());
}

TEST_CASE("a long launch counts down to the stop of its worker, with one redraw per second", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.progress_with_deadline("lookback, repeat 3 of 9", 8);
    update(lab, 1);
    CHECK_FALSE(countdown(lab));
    Pacing pacing;
    pacing.drawn(lab, 1);
    for (int i = 0; i < 5; ++i) pacing.drawn(lab, 1);
    CHECK(pacing.next(lab, false) > 1.9);
    CHECK(pacing.next(lab, false) < 2.1);
    update(lab, 2.1);
    CHECK(countdown(lab) == 7);
    CHECK(countdown_words(7) == "Worker will be stopped in 7 s");
    pacing.drawn(lab, 2.1);
    CHECK(pacing.next(lab, false) > 2.8);
    update(lab, 3.5);
    CHECK(countdown(lab) == 6);

    // Progress restarts the countdown; progress without a deadline has none.
    engine.progress_with_deadline("lookback, repeat 4 of 9", 8);
    update(lab, 4);
    CHECK_FALSE(countdown(lab));
    update(lab, 5.5);
    CHECK(countdown(lab) == 7);
    engine.progress(0.7, "counters of lookback");
    update(lab, 5.6);
    CHECK_FALSE(countdown(lab));

    // A short limit is counted down from half of its time.
    engine.progress_with_deadline("lookback, repeat 5 of 9", 0.4);
    update(lab, 6);
    CHECK(changes_at(lab));
    update(lab, *changes_at(lab));
    CHECK(countdown(lab) == 1);
}

TEST_CASE("after a worker was stopped the error stays visible and the next run works", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    set_parameter(lab, row(lab, "length"), int64_t{512});
    const Request sent = engine.requests.back();
    engine.progress_with_deadline("lookback, repeat 3 of 9", 8);
    update(lab, 1);
    engine.fail(Error::failure("lookback did not finish within 8 s; its worker was stopped"));
    update(lab, 9);
    REQUIRE(lab.failure);
    CHECK(lab.failure->request == sent);
    CHECK_FALSE(countdown(lab));
    CHECK_FALSE(changes_at(lab));
    CHECK(lab.log.back().kind == LogLine::Kind::problem);
    REQUIRE(lab.problem);
    CHECK(problem_words(*lab.problem).find("Failed: lookback") == 0);
    submit(lab);
    CHECK_FALSE(lab.failure);
    CHECK_FALSE(lab.problem);
    CHECK(engine.requests.back() == sent);
    engine.answer();
    update(lab, 9.5);
    CHECK(lab.result->complete);
    CHECK(why_outdated(lab).empty());
}

TEST_CASE("during the first compilation of a kernel everything that waits says so", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    engine.progress(0.1, "compiling kernels/scan/lookback.cu (first time only)");
    update(lab, 1);
    CHECK(empty_sentence(lab, "the times").find("compiling kernels/scan/lookback.cu (first time only)") !=
          std::string::npos);
    finish_run(lab, engine);
    submit(lab);
    engine.progress(0.1, "compiling kernels/scan/lookback.cu (first time only)");
    update(lab, lab.now + 1);
    CHECK(why_outdated(lab) == "compiling (first time only)");
}

TEST_CASE("a chip and a profile are sent with the Request", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_chip(lab, "sm_89");
    CHECK(engine.requests.back().arch == "sm_89");
    choose_chip(lab, "");
    CHECK(engine.requests.back().arch.empty());
    set_profile(lab, Profile::counters);
    CHECK(engine.requests.back().profile == Profile::counters);
    const auto& rows = run_rows();
    const auto limit =
        std::find_if(rows.begin(), rows.end(), [](const Parameter& r) { return r.name == "time_limit"; });
    REQUIRE(limit != rows.end());
    CHECK_FALSE(is_changed(lab, *limit));
    set_parameter(lab, *limit, int64_t{3});
    CHECK(engine.requests.back().time_limit_seconds == 3.0);
    set_parameter(lab, *limit, std::string("none"));
    CHECK_FALSE(engine.requests.back().time_limit_seconds);
}

TEST_CASE("a span of the timeline shows all facts about its launch", "[gui]") {
    Request request;
    request.family = "scan";
    const auto result = gpu_result(request, "NVIDIA H200");
    const VariantResult& variant = result->variants[1];
    const LaunchRecord& launch = variant.launches[2];
    Tracks::Track track{"any name", {Ink::Role::variant, 1}, {}, {}, {}, ""};
    const Tracks::Span span{launch.start_us, launch.start_us + launch.duration_us, launch.info->name};
    REQUIRE(launch_of(*result, track, span) == &launch);
    std::string told;
    for (const auto& [name, value] : facts_of(launch, 132)) told += name + ": " + value + "\n";
    for (const char* part :
         {"does: Adds up tiles", "grid: 64 x 4 blocks = ceil(length / 64)", "block: 256 threads",
          "registers: 72 per thread", "shared: 16", "occupancy: 75 % theoretical, limited by registers",
          "achieved: 62 %", "DRAM bytes: 1.25", "bandwidth: ", "reads: x [2, 4096], a [2, 4096]",
          "writes: sums [2, 64]"})
        CHECK(told.find(part) != std::string::npos);
    CHECK(told.find("spilled") == std::string::npos);
    track.ink.role = Ink::Role::quiet;
    CHECK(launch_of(*result, track, span) == nullptr);
}

TEST_CASE("a span of workers shows the facts about its launch, which started before they woke", "[gui]") {
    Request request;
    request.family = "scan";
    const auto result = gpu_result(request, "a processor");
    LaunchRecord& launch = result->variants[1].launches[2];
    launch.busy = {{0, launch.start_us + 0.5, launch.start_us + 2},
                   {1, launch.start_us + 0.3, launch.start_us + 1}};
    const Tracks::Track track{"any name", {Ink::Role::variant, 1}, {}, {}, {}, ""};
    const Tracks::Span span{launch.start_us + 0.3, launch.start_us + 2, launch.info->name};
    CHECK(launch_of(*result, track, span) == &launch);
}

}  // namespace
}  // namespace sawtooth
