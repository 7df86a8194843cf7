#include <fmt/format.h>
#include <imgui_internal.h>
#include <png.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "app/gui/panels/controls.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/shot.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/headless.h"
#include "app/gui/state/shown_values.h"
#include "kernels/families.h"
#include "profiling/figures.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/gpu_answer.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

int64_t length_of(const Request& request) { return request.parameters.integer("length"); }

// The number of colours in the picture, counted up to `most`; one if nothing is drawn.
size_t colours(const Picture& picture, size_t most) {
    std::set<uint32_t> seen;
    for (size_t i = 0; i + 2 < picture.rgb.size() && seen.size() < most; i += 3)
        seen.insert(
            static_cast<uint32_t>(picture.rgb[i] << 16 | picture.rgb[i + 1] << 8 | picture.rgb[i + 2]));
    return seen.size();
}

TEST_CASE("moving a slider sends the Request with its value, a power of two", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemDragWithDelta("//Parameters/length/##control", {-40, 0});
    });
    REQUIRE(engine.requests.size() > 1);
    const int64_t length = length_of(engine.requests.back());
    CHECK(length != 4096);
    CHECK((length & (length - 1)) == 0);
}

TEST_CASE("moving the slider of a real number sends it with three digits", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    choose_family(lab, *find_family("lut"));
    finish_run(engine, user);
    lab.filter = "dragged_by";
    user.frames(3);
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemDragWithDelta("//Parameters/dragged_by/##control", {37, 0});
    });
    const double number = engine.requests.back().parameters.real("dragged_by");
    CHECK(number > 0);
    CHECK(number < 4);
    CHECK(fmt::format("{:.3g}", number) == to_text(number));
}

TEST_CASE("Ctrl+click on a slider accepts a typed expression", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemInputValue("//Parameters/length/##control", "3*1k+1"); });
    CHECK(length_of(engine.requests.back()) == 3073);
    const size_t sent = engine.requests.size();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemInputValue("//Parameters/length/##control", "3*apples");
        ctx->KeyPress(ImGuiKey_Escape);
    });
    CHECK(engine.requests.size() == sent);
    CHECK_FALSE(lab.typing);
}

TEST_CASE("combos and checkboxes set what they show", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    user.play([](ImGuiTestContext* ctx) {
        ctx->SetRef("//Parameters/op");
        ctx->ComboClick("##control/max");
    });
    CHECK(engine.requests.back().parameters.is("op", "max"));
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Parameters/op/reset"); });
    CHECK_FALSE(engine.requests.back().parameters.has("op"));
    user.play([](ImGuiTestContext* ctx) { ctx->ItemCheck("//Parameters/compensated/##control"); });
    CHECK(engine.requests.back().parameters.flag("compensated"));
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Parameters/Reset all"); });
    CHECK(engine.requests.back() == engine.requests.front());
}

TEST_CASE("unselecting a variant requests the others", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const std::string name = lab.family->variants.back().name;
    user.play([&](ImGuiTestContext* ctx) { ctx->ItemUncheck(("//Parameters/##" + name).c_str()); });
    const auto& asked = engine.requests.back().variants;
    CHECK(asked.size() == lab.family->variants.size() - 1);
    CHECK(std::find(asked.begin(), asked.end(), name) == asked.end());
    user.play([&](ImGuiTestContext* ctx) { ctx->ItemCheck(("//Parameters/##" + name).c_str()); });
    CHECK(engine.requests.back().variants.empty());
}

TEST_CASE("a right click on a parameter sweeps it, and its points appear in More", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const size_t before = engine.sweeps.size();
    user.play([](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Parameters/length/##control", ImGuiMouseButton_Right);
        ctx->ItemClick("//$FOCUSED/Sweep…");
        ctx->ItemInputValue("//Sweep/##values over", "16..4");
        CHECK((ctx->ItemInfo("//Sweep/Start").ItemFlags & ImGuiItemFlags_Disabled) != 0);
        ctx->ItemInputValue("//Sweep/##over and", "block_size");
        ctx->ItemCheck("//Sweep/Search for the best");
        ctx->ItemInputValue("//Sweep/##values over",
                            "1k..8kx2");  // it ends with Enter, which starts the sweep
        // Lengths have no best.
        CHECK((ctx->ItemInfo("//Sweep/Start").ItemFlags & ImGuiItemFlags_Disabled) != 0);
        ctx->ItemUncheck("//Sweep/Search for the best");
        ctx->ItemClick("//Sweep/Start");
    });
    CHECK_FALSE(lab.sweep_form);
    REQUIRE(engine.sweeps.size() == before + 1);
    CHECK(engine.sweeps.back().axes[0].parameter == "length");
    CHECK(engine.sweeps.back().axes[0].values.size() == 4);
    CHECK(engine.sweeps.back().axes[1].parameter == "block_size");
    CHECK_FALSE(engine.sweeps.back().search);
    const auto found =
        std::find_if(lab.sweeps.begin(), lab.sweeps.end(), [](const auto& s) { return s.by_person; });
    REQUIRE(found != lab.sweeps.end());
    engine.cell(found->ticket, found->sweep, 2);
    user.play([](ImGuiTestContext* ctx) { ctx->WindowFocus("//More"); });
    user.frames(3);
    CHECK(found->figures);
    CHECK(found->done == 2);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//top bar/###cancel sweeps"); });
    CHECK(std::find(engine.cancelled_sweeps.begin(), engine.cancelled_sweeps.end(), engine.tickets) !=
          engine.cancelled_sweeps.end());
}

Picture read_png(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_file(&image, path.c_str()));
    image.format = PNG_FORMAT_RGB;
    Picture picture{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    picture.rgb.resize(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr));
    return picture;
}

TEST_CASE("a figure is saved as PNG, SVG and CSV, and a missing folder is reported", "[gui][window]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto save = [&](const char* format, const std::string& path) {
        user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Outputs");
            const ImGuiWindow* panel = ctx->GetWindowByRef("//Outputs");
            ctx->MouseMoveToPos(panel->Rect().GetCenter());
            ctx->MouseClick(ImGuiMouseButton_Right);
            ctx->ItemClick((std::string("//$FOCUSED/Save as ") + format + "…").c_str());
            ctx->ItemInputValue("//Save figure/##path", path.c_str());
        });
        using Step = Saving::Step;
        while (lab.saving && (lab.saving->step == Step::drawing || lab.saving->step == Step::writing))
            user.frames(1);
        user.frames(2);
    };
    save("PNG", folder.file("a.png"));
    CHECK_FALSE(lab.saving);
    const Picture saved = read_png(folder.file("a.png"));

    CHECK(saved.width == 1920);
    CHECK(saved.height == 1200);
    CHECK(colours(saved, 30) == 30);
    CHECK(colours(user.picture(), 30) == 30);  // the window itself is drawn as before
    save("PNG", folder.file("absent/a.png"));
    REQUIRE(lab.saving);
    CHECK(lab.saving->problem.find("absent") != std::string::npos);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save figure/Cancel"); });
    save("SVG", folder.file("a.svg"));
    CHECK(content_of(folder.file("a.svg")).find("of the result") != std::string::npos);
    save("CSV", folder.file("a.csv"));
    CHECK(content_of(folder.file("a.csv")).find("99") != std::string::npos);
    CHECK_FALSE(lab.saving);
    save("CSV", folder.file("absent/a.csv"));
    REQUIRE(lab.saving);
    CHECK(lab.saving->problem.find("absent") != std::string::npos);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save figure/Cancel"); });
    CHECK_FALSE(lab.saving);
}

TEST_CASE("tables and commands are copied", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto copy = [&](const char* entry) {
        std::string copied;
        user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Numbers");
            const ImGuiWindow* panel = ctx->GetWindowByRef("//Numbers");
            ctx->MouseMoveToPos(panel->Rect().GetCenter());
            ctx->MouseClick(ImGuiMouseButton_Right);
            ctx->ItemClick((std::string("//$FOCUSED/") + entry).c_str());
            copied = ImGui::GetClipboardText();  // copied here, because the test engine has its own clipboard
        });
        return copied;
    };
    const std::string table = copy("Copy as TSV");
    CHECK(table.find("variant\t") == 0);
    for (const Variant& variant : lab.family->variants) CHECK(table.find(variant.name) != std::string::npos);
    CHECK(copy("Copy as command").find("sawtooth run " + lab.family->name) == 0);
}

TEST_CASE("a double click fits a plot that was zoomed with the wheel", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const auto at_middle = [&](auto action) {
        user.play([&](ImGuiTestContext* ctx) {
            ctx->WindowFocus("//Outputs");
            ctx->MouseMoveToPos(ctx->GetWindowByRef("//Outputs")->Rect().GetCenter());
            action(ctx);
            ctx->Yield(3);
        });
        user.frames(10);
    };
    at_middle([](ImGuiTestContext* ctx) { ctx->MouseWheelY(2); });
    REQUIRE(lab.view.visible.count("position") == 1);
    REQUIRE_FALSE(engine.looks.empty());
    CHECK(engine.looks.back().view.visible.at("position") == lab.view.visible.at("position"));
    at_middle([](ImGuiTestContext* ctx) { ctx->MouseClickMulti(ImGuiMouseButton_Left, 2); });
    CHECK(lab.view.visible.count("position") == 0);
}

// A figure with many points side by side at half height, each of which sets `length`.
Figure figure_that_sets_length(Place place) {
    Figure figure;
    figure.id = "points";
    figure.place = place;
    figure.title = "Points";
    Line line{"a variant", {}, {}, {}, true, {"length", {}}};
    for (int64_t length = 1001; length <= 1400; ++length) {
        line.x.push_back(0.5 * static_cast<double>(length));
        line.y.push_back(1);
        line.sets.values.push_back(static_cast<double>(length));
    }
    figure.marks.push_back(std::move(line));
    return figure;
}

TEST_CASE("a click on a point sets its parameter, a drag does not", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    engine.answer(engine.run_ticket, lab.result, {figure_that_sets_length(Place::views)});
    user.frames(3);
    lab.sweeps.clear();  // now the figure has the panel for itself
    const size_t sent = engine.requests.size();
    bool was_found = false;
    const auto over_a_point = [&](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//More");
        const ImRect window = ctx->GetWindowByRef("//More")->Rect();
        for (float y = window.Min.y; y < window.Max.y && !was_found; y += 6) {
            ctx->MouseTeleportToPos({window.GetCenter().x, y});
            ctx->Yield(2);
            was_found = ImGui::GetMouseCursor() == ImGuiMouseCursor_Hand;
        }
    };
    user.play([&](ImGuiTestContext* ctx) {
        over_a_point(ctx);
        ctx->MouseDragWithDelta({60, 0});
    });
    REQUIRE(was_found);
    CHECK(engine.requests.size() == sent);
    was_found = false;
    user.play([&](ImGuiTestContext* ctx) {
        over_a_point(ctx);
        ctx->MouseClick();
    });
    REQUIRE(engine.requests.size() > sent);
    CHECK(length_of(engine.requests.back()) > 1000);
    CHECK(length_of(engine.requests.back()) < 1401);
}

TEST_CASE("the story is in front at first, and then the chosen tab stays", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    const auto in_front = [](const char* panel) { return ImGui::FindWindowByName(panel)->DockTabIsVisible; };
    finish_run(engine, user);
    user.frames(6);
    CHECK(in_front("Story"));
    ImGui::SetWindowFocus("Outputs");
    user.frames(3);
    CHECK(in_front("Outputs"));
    engine.answer(engine.run_ticket, lab.result, {figure_that_sets_length(Place::views)});
    user.frames(6);
    CHECK(in_front("Outputs"));
}

TEST_CASE("every row of every family has a control, lists as text", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 640, 1600);
    for (const Family* family : families()) {
        choose_family(lab, *family);
        lab.filter = " ";  // finds every row, and opens the folds
        user.frames(3, "Parameters");
        std::string without;
        user.play([&](ImGuiTestContext* ctx) {
            for (const Parameter& row : family->parameters) {
                const std::string control = row.type == Type::list ? "/###control" : "/##control";
                if (!ctx->ItemExists(("//Parameters/" + row.name + control).c_str()))
                    without += row.name + " ";
            }
        });
        CHECK(without == "");
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name);
            if (row.type != Type::list) continue;
            begin_typing(lab, row);
            user.frames(3, "Parameters");
            CHECK(lab.typing);
            CHECK(lab.typing->begun);
            const auto typed = row.parse("4,16");
            REQUIRE(typed);
            lab.typing.reset();
            set_parameter(lab, row, *typed);
            CHECK(to_text(shown_value(lab, row)) == "4,16");
        }
    }
}

TEST_CASE("every panel draws something in every state, dark and light, small and large", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab, 480, 360);
    const auto draw_all = [&](const std::string& state) {
        for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light})
            for (const double scale : {1.0, 2.0}) {
                lab.settings.theme = theme;
                lab.settings.scale = scale;
                for (const Panel& panel : panels()) {
                    user.frames(2, panel.name);
                    INFO(state << " " << panel.name << " " << scale);
                    CHECK(colours(user.picture(), 8) == 8);
                }
                user.frames(2);
                CHECK(colours(user.picture(), 8) == 8);
            }
    };
    draw_all("running the first time");
    engine.progress(0.5, "reference");
    draw_all("running with progress");
    engine.fail(Error::failure("out of memory"));
    draw_all("failed before any result");
    submit(lab);
    engine.fail(Error::cancelled());
    draw_all("no result");
    submit(lab);
    engine.answer();
    draw_all("done");
    set_parameter(lab, *lab.family->parameter("length"), int64_t{0});
    draw_all("refused");
    set_parameter(lab, *lab.family->parameter("length"), int64_t{512});
    update(lab, lab.now + 1);
    draw_all("running over an old result");
    engine.fail(Error::failure("out of memory"));
    draw_all("failed over an old result");
    submit(lab);
    engine.progress(0.1, "compiling kernels/scan/lookback.cu (first time only)");
    update(lab, lab.now + 1);
    draw_all("compiling over an old result");
    engine.progress_with_deadline("lookback, repeat 3 of 9", 8);
    update(lab, lab.now + 1);
    update(lab, lab.now + 1);
    draw_all("counting down");
    answer_from_gpu(engine, [](Result& result) { add_compiled(result, "sm_90a"); });
    draw_all("done on a GPU");
    submit(lab);
    answer_from_gpu(engine, [](Result& result) {
        result.clocks.reset();
        for (VariantResult& variant : result.variants) {
            variant.tracks.clear();
            for (LaunchRecord& launch : variant.launches) launch.occupancy = {}, launch.counters.clear();
        }
    });
    draw_all("done on a GPU of which little is known");
    submit(lab);
    answer_from_gpu(engine, [](Result& result) {
        result.backend = Backend::cpu;
        add_compiled(result, "sm_89");
        for (VariantResult& variant : result.variants) variant.launches.clear(), variant.time.reset();
    });
    draw_all("compiled, and nothing ran");
}

TEST_CASE("a panel without a figure says what it will show and how to get it", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    CHECK(empty_sentence(lab, "the times").find("Running") == 0);
    CHECK(empty_sentence(lab, "the times").find("the times") != std::string::npos);
    engine.fail(Error::failure("out of memory"));
    update(lab, 0.1);
    CHECK(empty_sentence(lab, "the times").find("out of memory") != std::string::npos);
    submit(lab);
    engine.fail(Error::cancelled());
    update(lab, 0.2);
    CHECK(empty_sentence(lab, "the times").find("F5") != std::string::npos);
}

TEST_CASE("a moved slider leads to a new result and figures from the engine", "[gui][window]") {
    WindowOptions options;
    options.theme = "dark";
    options.cache_directory = shared_cache();
    options.request.repeats = 1;
    options.request.parameters.set("d", int64_t{8});  // the time of judging grows with d cubed
    auto session = Headless::open(options);
    REQUIRE(session);
    LabState& lab = (*session)->lab();
    (*session)->wait_until_done();
    REQUIRE(lab.result);
    User user(lab);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemInputValue("//Parameters/length/##control", "1k"); });
    (*session)->wait_until_done();
    CHECK(lab.result->parameters.integer("length") == 1024);
    CHECK(lab.result->complete);
    CHECK(why_outdated(lab).empty());
    REQUIRE(lab.figures);
    const auto of_outputs = std::find_if(lab.figures->begin(), lab.figures->end(),
                                         [](const Figure& f) { return f.place == Place::outputs; });
    REQUIRE(of_outputs != lab.figures->end());
    const Line* line = std::get_if<Line>(&of_outputs->marks.front());
    REQUIRE(line);
    CHECK(line->x.back() == 1023);
}

TEST_CASE("a shot has the requested size and refuses an unknown panel", "[gui][window]") {
    const TemporaryFolder folder;
    ShotOptions options;
    options.cache_directory = shared_cache();
    options.request.repeats = 1;
    options.request.parameters.set("d", int64_t{8});
    options.path = folder.file("window.png");
    options.width = 640;
    options.height = 360;
    CHECK_FALSE(shoot(options));
    const std::string png = content_of(options.path);
    REQUIRE(png.size() > 24);
    CHECK(png.substr(1, 3) == "PNG");
    CHECK(static_cast<unsigned char>(png[18]) * 256 + static_cast<unsigned char>(png[19]) == 640);
    CHECK(static_cast<unsigned char>(png[22]) * 256 + static_cast<unsigned char>(png[23]) == 360);
    CHECK(colours(read_png(options.path), 30) == 30);
    options.panel = "Kitchen";
    CHECK(shoot(options)->exit_code() == 2);
    options.panel = "";
    options.path = folder.file("absent/window.png");
    CHECK(shoot(options)->exit_code() == 1);
}

}  // namespace
}  // namespace sawtooth
