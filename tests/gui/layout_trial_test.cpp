#include "app/gui/shell/layout_trial.h"
#include "app/gui/shell/dock_layout.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/gui/shell/dock_layout.h"
#include "app/gui/state/pacing.h"
#include "app/gui/state/settings.h"
#include "tests/gui/damaged_layout.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/random_seed.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

constexpr std::string_view head = "; sawtooth layout 1\n", end_line = "; end\n";

// The layout that a window of this size saves.
std::string layout_of(int width, int height, double scale) {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    lab.settings.scale = scale;
    const User user(lab, width, height);
    return std::string(head) + ImGui::SaveIniSettingsToMemory() + std::string(end_line);
}

// The layout that a window would use from this file; "" if it was set aside.
std::string tried(const std::string& file, int width = 1600, int height = 900) {
    const TemporaryFolder folder;
    put(folder.file("layout.ini"), file);
    LabState lab;
    lab.settings.width = width;
    lab.settings.height = height;
    std::string layout = SavedLayout(lab, folder.path()).tried(lab);
    CHECK(layout.empty() == std::filesystem::exists(folder.file("layout.ini.bad")));
    CHECK(layout.empty() != std::filesystem::exists(folder.file("layout.ini")));
    CHECK(layout.empty() == !lab.log.empty());
    return layout;
}

TEST_CASE("every layout that the window saves is used again", "[gui][window]") {
    for (const auto& [width, height] : {std::pair(640, 400), {1024, 700}, {1600, 900}, {2560, 1600}})
        for (const double scale : {1.0, 2.0}) {
            INFO(width << " x " << height << " at " << scale);
            const std::string layout = layout_of(width, height, scale);
            CHECK(contains(layout, "DockNode"));
            CHECK(tried(layout, width, height) == layout);
            CHECK(tried(layout) == layout);
        }
}

TEST_CASE("a saved layout places every panel, and one from before a panel existed does not",
          "[gui][window]") {
    std::string layout = layout_of(1600, 900, 1);
    CHECK(unknown_panel(layout).empty());
    layout.replace(layout.find("[Window][Check]"), 15, "[Window][Chess]");
    CHECK(unknown_panel(layout) == "Check");
}

TEST_CASE("a layout that crashes Dear ImGui is set aside", "[gui]") { CHECK(tried(damaged_layout).empty()); }

TEST_CASE("a layout that takes too long is set aside", "[gui]") {
    std::string windows;  // text of all windows, because each one is looked up among the earlier ones
    for (int i = 0; i < 65000; ++i) windows += fmt::format("[Window][{:x}]\n", i);
    CHECK(tried(std::string(head) + windows + std::string(end_line)).empty());
}

// An identifier that occurs in the layout: "0x00000002".
std::string any_id(Random& random, const std::string& text) {
    std::vector<size_t> places;
    for (size_t at = text.find("0x"); at != std::string::npos; at = text.find("0x", at + 1))
        places.push_back(at);
    return text.substr(places[static_cast<size_t>(random.below(static_cast<int64_t>(places.size())))], 10);
}

// Makes one change in the text between the first and the last line.
void mutate(Random& random, std::string& text) {
    const auto place = [&] { return static_cast<size_t>(random.below(static_cast<int64_t>(text.size()))); };
    const size_t at = place(), line = text.rfind('\n', at) + 1,
                 next = std::min(text.find('\n', at), text.size() - 1) + 1;
    constexpr std::string_view bytes = "0123456789ABCDEFx,=-[]\n ";
    const char* const pieces[] = {"", "9999999", "-1", "0x00000001", "Split=X "};
    switch (random.below(8)) {
        case 0:
            text.replace(at, 1, pieces[random.below(std::size(pieces))]);
            break;
        case 1:
            text.erase(line, next - line);
            break;
        case 2:
            text.insert(text.rfind('\n', place()) + 1, text.substr(line, next - line));
            break;
        case 3:
            if (const size_t id = text.find("0x", at); id != std::string::npos)
                text.replace(id, 10, any_id(random, text));
            break;
        default:
            text[at] = bytes[static_cast<size_t>(random.below(bytes.size()))];
    }
}

int64_t resident_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} << 10;
}

// Returns whether the window stops drawing by itself.
bool comes_to_rest(LabState& lab, FakeEngine& engine, OffscreenWindow& window) {
    Pacing pacing;
    size_t looks = engine.looks.size();
    double now = lab.now;
    for (int frames = 0; frames < 60; ++frames) {
        update(lab, now);
        window.draw(lab, 1.0 / 60);
        pacing.drawn(lab, now);
        if (std::exchange(looks, engine.looks.size()) != engine.looks.size()) engine.figures_anew();
        const double next = pacing.next(lab, ImGui::GetIO().WantTextInput);
        if (next > now + 60) return true;
        now = std::max(next, now + 1.0 / 60);
    }
    return false;
}

TEST_CASE("a layout that passes its trial can be drawn, and any other is set aside",
          "[gui][window][random]") {
    Random random(random_seed(), "layouts");
    const std::string good = layout_of(1600, 900, 1);
    const std::string inner = good.substr(head.size(), good.size() - head.size() - end_line.size());
    size_t used = 0;
    for (int i = 0; i < 4 * random_settings(); ++i) {
        std::string text = inner;
        const int64_t changes = std::array{1, 3, 20, 100}[static_cast<size_t>(random.below(4))];
        for (int64_t change = 0; change < changes && !text.empty(); ++change) mutate(random, text);
        INFO("SAWTOOTH_RANDOM_SEED=" << random_seed() << ", layout " << i << ":\n" << text);
        const std::string layout = tried(std::string(head) + text + std::string(end_line));
        if (layout.empty()) continue;
        const int64_t before = resident_bytes();
        FakeEngine engine;
        LabState lab = lab_with(engine);
        finish_run(lab, engine);
        // A display need not provide the saved size.
        constexpr std::pair<int, int> sizes[] = {{1600, 900}, {640, 400}, {2560, 1440}};
        const auto [width, height] = sizes[used % std::size(sizes)];
        auto window = OffscreenWindow::open(lab, width, height);
        REQUIRE(window);
        use_layout(lab, layout);
        CHECK(comes_to_rest(lab, engine, **window));
        (*window)->finish();
        CHECK(resident_bytes() - before < int64_t{500} << 20);
        ++used;
    }
    CHECK(used > 0);
}

}  // namespace
}  // namespace sawtooth
