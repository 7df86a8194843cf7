// The dialog that opens an input file.

#include <imgui_internal.h>

#include <algorithm>
#include <filesystem>

#include "app/gui/panels/panels.h"
#include "app/gui/state/input_file.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("a file is opened by its path, and its sizes cannot be moved", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
        ctx->ItemInputValue("//Open/##path", "/no/such/file.npz");
        ctx->Yield(30);
    });
    CHECK(lab.show_open);
    while (lab.opening) user.frames(1);
    CHECK(lab.open_problem.find("/no/such/file.npz") != std::string::npos);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Open/Cancel"); });
    CHECK_FALSE(lab.show_open);
}

TEST_CASE("the Open dialog reads its folder when it opens or goes to another, and once a second",
          "[gui][window]") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("inside"));
    put(folder.file("inside/deep.npz"), "");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    const auto has = [&](const std::string& name) {
        const auto& entries = lab.listing->entries;
        return std::any_of(entries.begin(), entries.end(),
                           [&](const auto& each) { return each.name == name; });
    };
    const auto type = [&](const std::string& path) {
        ImGui::ClearActiveID();  // otherwise the field keeps its old text
        lab.open_path = path;
    };
    type(folder.path() + "/");
    lab.show_open = true;
    user.frames(3);
    REQUIRE(lab.listing);
    CHECK(has("inside"));
    put(folder.file("later.npz"), "");
    user.frames(10);  // a sixth of a second
    CHECK_FALSE(has("later.npz"));
    type(folder.path() + "/la");
    user.frames(2);
    CHECK_FALSE(has("later.npz"));  // the folder is not read again yet
    user.frames(60);
    CHECK(has("later.npz"));
    type(folder.file("inside/"));
    user.frames(2);
    CHECK(has("deep.npz"));
    lab.show_open = false;
    user.frames(3);
    type(folder.path() + "/");
    lab.show_open = true;
    put(folder.file("last.npz"), "");
    user.frames(3);
    CHECK(has("last.npz"));
}

}  // namespace
}  // namespace sawtooth
