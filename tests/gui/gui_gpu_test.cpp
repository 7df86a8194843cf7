// The window with invented GPUs: choosers, occupancy, stopped workers and sampled tracks.

#include "app/gui/panels/panels.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/family_choice.h"
#include "kernels/attention/family.h"
#include "tests/gui/gpu_answer.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

bool is_greyed(ImGuiTestContext* ctx, const char* item) {
    return (ctx->ItemInfo(item).ItemFlags & ImGuiItemFlags_Disabled) != 0;
}

TEST_CASE("the top bar offers every GPU by name and sends the chosen one", "[gui][window]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    User user(lab);
    finish_run(engine, user);
    const size_t sent = engine.requests.size();
    user.play([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//top bar/##backend");
        for (const BackendOption& option : backend_options(lab))
            CHECK_FALSE(is_greyed(ctx, ("//$FOCUSED/" + option.name).c_str()));
        ctx->ItemClick(("//$FOCUSED/" + backend_options(lab).back().name).c_str());
    });
    REQUIRE(engine.requests.size() == sent + 1);
    CHECK(engine.requests.back().backend == BackendChoice::cuda);
    CHECK(engine.requests.back().device == 1);
    CHECK(lab.settings.backend == BackendChoice::cuda);
    user.play([](ImGuiTestContext* ctx) {
        ctx->SetRef("//top bar");
        ctx->ComboClick("##backend/auto");
    });
    CHECK(engine.requests.back().backend == BackendChoice::automatic);
}

TEST_CASE("without a GPU its entry is disabled and nothing is sent", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    User user(lab);
    finish_run(engine, user);
    const size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemClick("//top bar/##backend");
        CHECK(is_greyed(ctx, "//$FOCUSED/GPU"));
        CHECK_FALSE(is_greyed(ctx, "//$FOCUSED/auto"));
        ctx->MouseMove("//$FOCUSED/GPU");
        ctx->SleepNoSkip(1, 0.1f);
        CHECK(ctx->GetWindowByRef("//##Tooltip_00") != nullptr);
        ctx->KeyPress(ImGuiKey_Escape);
    });
    CHECK(engine.requests.size() == sent);
}

TEST_CASE("choices that do not fit the chip are greyed", "[gui][window]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    engine.devices.gpus[0].shared_bytes_per_block = 64 * 1024;
    LabState lab = lab_with(engine);
    choose_family(lab, attention_family());
    choose_backend(lab, BackendChoice::cuda, 0);
    enable_variant(lab, "naive", false);
    User user(lab);
    const size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Parameters/BLOCK_M/##control");
        CHECK(is_greyed(ctx, "//$FOCUSED/256"));
        CHECK_FALSE(is_greyed(ctx, "//$FOCUSED/16"));
        ctx->MouseMove("//$FOCUSED/256");
        ctx->SleepNoSkip(1, 0.1f);
        CHECK(ctx->GetWindowByRef("//##Tooltip_00") != nullptr);
        ctx->ItemClick("//$FOCUSED/32");
    });
    REQUIRE(engine.requests.size() > sent);
    CHECK(engine.requests.back().parameters.integer("BLOCK_M") == 32);
}

TEST_CASE("Occupancy offers a chip that is not present, and others from a list", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Occupancy");
        CHECK(is_greyed(ctx, "//Occupancy/Run on GPU"));
        ctx->ItemClick("//Occupancy/Compile for sm_90a");
    });
    CHECK(engine.requests.back().arch == "sm_90a");
    CHECK(engine.requests.back().backend == BackendChoice::cpu);
    answer_from_gpu(engine, [](Result& result) {
        result.backend = Backend::cpu;
        add_compiled(result, "sm_90a");
    });
    user.frames(40);
    const auto chips_known = chips();
    const Chip& last = chips_known.back();
    user.play([&](ImGuiTestContext* ctx) {
        ctx->SetRef("//Occupancy");
        ctx->ComboClick(("##chip/" + last.architecture + ", " + last.name).c_str());
    });
    CHECK(engine.requests.back().arch == last.architecture);
    user.play([](ImGuiTestContext* ctx) {
        ctx->SetRef("//Occupancy");
        ctx->ComboClick("##chip/none");
    });
    CHECK(engine.requests.back().arch.empty());
}

TEST_CASE("after a GPU run a button requests the counters of achieved occupancy", "[gui][window]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    choose_backend(lab, BackendChoice::cuda, 1);
    User user(lab);
    answer_from_gpu(engine, [](Result& result) {
        for (VariantResult& variant : result.variants)
            for (LaunchRecord& launch : variant.launches) launch.occupancy.achieved.reset();
    });
    user.frames(40);
    user.play([](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Occupancy");
        ctx->ItemClick("//Occupancy/Measure achieved");
    });
    CHECK(engine.requests.back().profile == Profile::counters);
    answer_from_gpu(engine);
    user.frames(40);
    user.play([](ImGuiTestContext* ctx) {
        CHECK_FALSE(ctx->ItemExists("//Occupancy/Measure achieved"));
        ctx->WindowFocus("//Numbers");
    });
    user.frames(3);
    CHECK(device_words(lab).text == "ran on NVIDIA H100 80GB HBM3, sm_90a");
}

TEST_CASE("a stopped worker leaves its error and the command visible, and F5 runs again", "[gui][window]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    choose_backend(lab, BackendChoice::cuda, 0);
    User user(lab);
    const auto hang = [&] {
        engine.progress_with_deadline("lookback, repeat 3 of 9", 8);
        user.frames(80);
        CHECK(countdown(lab) == 7);
        engine.fail(Error::failure("lookback did not finish within 8 s; its worker was stopped"));
        user.frames(5);
        REQUIRE(lab.failure);
        CHECK(failure_row_height(lab) > 0);
        CHECK_FALSE(countdown(lab));
    };
    hang();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemClick("//failure/Copy as command");
        CHECK(std::string(ImGui::GetClipboardText()).find("--backend cuda") != std::string::npos);
    });
    size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_F5); });
    CHECK(engine.requests.size() == sent + 1);
    CHECK_FALSE(lab.failure);
    CHECK(failure_row_height(lab) == 0);

    hang();
    sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//failure/###again"); });
    CHECK(engine.requests.size() == sent + 1);
    hang();
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//failure/###put away"); });
    CHECK_FALSE(lab.failure);
    CHECK(engine.requests.size() == sent + 1);
    submit(lab);
    answer_from_gpu(engine);
    user.frames(10);
    CHECK(why_outdated(lab).empty());
}

TEST_CASE("a timeline of many tracks scrolls over its names and zooms over its plot", "[gui][window]") {
    FakeEngine engine;
    engine.devices = FakeEngine::with_gpus();
    LabState lab = lab_with(engine);
    const WithCudaForms forms(lab);
    choose_backend(lab, BackendChoice::cuda, 0);
    User user(lab, 1600, 1080);  // high enough for a dock of its own at the bottom
    answer_from_gpu(engine);
    user.frames(40);
    const auto wheel_at = [&](float share_of_width) {
        user.play([&](ImGuiTestContext* ctx) {
            const ImRect panel = ctx->GetWindowByRef("//Timeline")->Rect();
            ctx->MouseMoveToPos({panel.Min.x + share_of_width * panel.GetWidth(), panel.GetCenter().y});
            ctx->MouseWheelY(-2);
            ctx->Yield(5);
        });
    };
    wheel_at(0.02f);
    CHECK(ImGui::FindWindowByName("Timeline")->Scroll.y > 0);
    CHECK(lab.view.visible.count("time") == 0);
    const float scrolled = ImGui::FindWindowByName("Timeline")->Scroll.y;
    user.play([&](ImGuiTestContext* ctx) {
        ctx->MouseMoveToPos(ctx->GetWindowByRef("//Timeline")->Rect().GetCenter());
        ctx->MouseWheelY(2);
        ctx->Yield(5);
    });
    CHECK(lab.view.visible.count("time") == 1);
    CHECK(ImGui::FindWindowByName("Timeline")->Scroll.y == scrolled);
}

}  // namespace
}  // namespace sawtooth
