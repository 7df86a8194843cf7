#pragma once

#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <functional>
#include <memory>
#include <string>

#include "app/gui/shell/offscreen.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"

namespace sawtooth {

// A user of an off-screen window: the test engine of Dear ImGui plays the mouse and the keys.
class User {
  public:
    explicit User(LabState& lab, int width = 1600, int height = 900) : lab_(lab) {
        auto window = OffscreenWindow::open(lab, width, height);
        if (!window) FAIL(window.error().text);
        window_ = std::move(*window);
        engine_ = ImGuiTestEngine_CreateContext();
        ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
        io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
        io.ConfigSavedSettings = false;
        io.ConfigCaptureEnabled = false;
        ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
        frames(3);
    }
    ~User() {
        ImGuiTestEngine_Stop(engine_);
        window_.reset();
        ImGuiTestEngine_DestroyContext(engine_);
    }
    User(const User&) = delete;
    User& operator=(const User&) = delete;

    void frames(int count, const std::string& only_panel = "", double seconds = 1.0 / 60) {
        for (int i = 0; i < count; ++i) {
            update(lab_, lab_.now + seconds);
            window_->draw(lab_, 1.0 / 60, only_panel);
            ImGuiTestEngine_PostSwap(engine_);
        }
    }

    // Plays actions. Fails the test if an item is not found or an action has no effect.
    void play(std::function<void(ImGuiTestContext*)> actions) {
        ImGuiTest* test = IM_REGISTER_TEST(engine_, "user", "play");
        test->TestFunc = std::move(actions);
        ImGuiTestEngine_QueueTest(engine_, test);
        while (!ImGuiTestEngine_IsTestQueueEmpty(engine_)) frames(1);
        INFO(test->Output.Log.Buffer.c_str());
        CHECK(test->Output.Status == ImGuiTestStatus_Success);
        ImGuiTestEngine_UnregisterTest(engine_, test);
    }

    Picture picture() const {
        auto picture = window_->read();
        if (!picture) FAIL(picture.error().text);
        return *picture;
    }

  private:
    LabState& lab_;
    std::unique_ptr<OffscreenWindow> window_;
    ImGuiTestEngine* engine_ = nullptr;
};

inline void finish_run(FakeEngine& engine, User& user) {
    engine.answer();
    user.frames(8, "", 1.0 / 12);  // long enough for the pause before sweeps
}

// The help that F1 shows after the mouse was placed; it is closed again by Esc.
inline Help help_at(LabState& lab, User& user, const std::function<void(ImGuiTestContext*)>& place_mouse) {
    user.play([&](ImGuiTestContext* ctx) {
        place_mouse(ctx);
        ctx->KeyPress(ImGuiKey_F1);
        CHECK(ctx->UiContext->OpenPopupStack.Size == 1);
        ctx->KeyPress(ImGuiKey_Escape);
        CHECK(ctx->UiContext->OpenPopupStack.Size == 0);
    });
    REQUIRE(lab.help);
    return *lab.help;
}

}  // namespace sawtooth
