#include "app/gui/state/settings.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "app/engine/run/run_rows.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/kept_lab.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

bool log_tells(const LabState& lab, const std::string& words) {
    return std::any_of(lab.log.begin(), lab.log.end(),
                       [&](const LogLine& line) { return line.text.find(words) != std::string::npos; });
}

TEST_CASE("settings are restored as saved", "[gui]") {
    const TemporaryFolder folder;
    LabState lab;
    lab.settings = {ThemeChoice::light,
                    1.25,
                    1280,
                    720,
                    BackendChoice::cuda,
                    3,
                    "h200-2026-11",
                    true,
                    Arrangement::compare,
                    false,
                    {"/tmp/b.sawtooth", "/tmp/a.npz"}};
    save_settings(lab, folder.path());
    finish_writes(lab);
    LabState other;
    load_settings(other, folder.path());
    CHECK(other.settings == lab.settings);
    CHECK(other.log.empty());
}

TEST_CASE("family, parameters, variants and hidden lines are restored at the next start", "[gui]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    const Family& other = *lab.families.front();
    choose_family(lab, other);
    REQUIRE_FALSE(other.presets.empty());
    choose_preset(lab, other.presets.front().name);
    for (const Parameter& parameter : other.parameters) {
        const auto values = sweep_values(parameter, parameter.initial);
        if (!values.empty()) lab.request.parameters.set(parameter.name, values.back());
    }
    enable_variant(lab, other.variants.back().name, false);
    for (const auto& [name, value] : std::map<std::string, Value>{{"seed", int64_t{7}},
                                                                  {"repeats", int64_t{3}},
                                                                  {"cache", std::string("hot")},
                                                                  {"threads", int64_t{1}}})
        set_run_value(lab.request, name, value);
    lab.hidden_variants = {0, 1};
    save_lab(lab, folder.path());
    finish_writes(lab);

    LabState next = lab_with(engine);
    REQUIRE(next.family != lab.family);
    load_lab(next, folder.path());
    CHECK(kept_of(next) == kept_of(lab));
    CHECK(engine.requests.back().parameters == lab.request.parameters);
    CHECK(next.disabled_variants == lab.disabled_variants);
}

TEST_CASE("every family is restored as it was left, also if the command line names the shown one", "[gui]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    set_parameter(lab, row(lab, "length"), int64_t{512});
    look_at(lab, "position", View::Range{0.125, 20.1});
    lab.hidden_variants = {1};
    choose_family(lab, **find_offered_family("memory"));
    set_parameter(lab, row(lab, "chunk"), int64_t{16});
    choose_family(lab, **find_offered_family("lut"));
    save_lab(lab, folder.path());
    finish_writes(lab);

    LabState next = lab_with(engine);
    load_lab(next, folder.path());
    CHECK(kept_of(next) == kept_of(lab));
    CHECK(next.family == lab.family);
    CHECK(next.log.empty());
    choose_family(next, **find_offered_family("scan"));
    CHECK(shown_value(next, row(next, "length")) == Value(int64_t{512}));
    CHECK(next.hidden_variants == std::set<int>{1});
    CHECK(next.view.visible.at("position") == View::Range{0.125, 20.1});

    LabState named = lab_with(engine);
    load_lab(named, folder.path(), false);
    CHECK(named.family->name == "scan");
    CHECK(named.request.parameters.values.empty());
    choose_family(named, **find_offered_family("memory"));
    CHECK(shown_value(named, row(named, "chunk")) == Value(int64_t{16}));
}

TEST_CASE("a line of the lab that cannot be taken is noted and skipped, and the others are restored",
          "[gui]") {
    const TemporaryFolder folder;
    for (const char* bad : {"length = 0", "variant = x", "seed = -1", "hidden = 7", "preset = nonesuch",
                            "colour = red", "no equals sign", "zoom position = 3", "zoom position = 3 2",
                            "zoom position = nan 2", "other family = none"}) {
        INFO(bad);
        put(folder.file("lab"),
            std::string("family = scan\nchannels = 8\n") + bad + "\nother family = memory\nchunk = 16\n");
        FakeEngine engine;
        LabState lab = lab_with(engine);
        load_lab(lab, folder.path());
        CHECK(engine.requests.back().parameters.integer("channels") == 8);
        CHECK(lab.others.at("memory").parameters.integer("chunk") == 16);
        CHECK(lab.view.visible.empty());
        CHECK(log_tells(lab, std::string("skipped \"") + bad));
        CHECK(std::filesystem::exists(folder.file("lab")));
    }
}

TEST_CASE("a lab whose shown family is not known keeps the others", "[gui]") {
    const TemporaryFolder folder;
    put(folder.file("lab"), "family = of_a_newer_version\nwords = 3\nother family = memory\nchunk = 16\n");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    load_lab(lab, folder.path());
    CHECK(lab.family->name == "scan");
    CHECK(lab.others.at("memory").parameters.integer("chunk") == 16);
    CHECK(log_tells(lab, "skipped \"family = of_a_newer_version"));
    CHECK(std::filesystem::exists(folder.file("lab")));
}

TEST_CASE("a command line without settings restores the last session, any other does not", "[gui]") {
    Request request;
    request.time_limit_seconds = 10;  // the default of the window
    CHECK(leaves_open(request));
    Request family = request, seed = request, limit = request;
    family.family = "scan";
    seed.seed = 2;
    limit.time_limit_seconds = 20;
    for (const Request& one : {family, seed, limit}) CHECK_FALSE(leaves_open(one));
}

TEST_CASE("an invalid file of the lab is renamed, and the lab starts at its defaults", "[gui]") {
    const TemporaryFolder folder;
    for (const char* broken : {"", "family = none\n", "preset = paper\n", "family = scan", "\1\2\n\n"}) {
        INFO(broken);
        put(folder.file("lab"), broken);
        FakeEngine engine;
        LabState lab = lab_with(engine);
        const KeptLab before = kept_of(lab);
        load_lab(lab, folder.path());
        CHECK(kept_of(lab) == before);
        CHECK(log_tells(lab, "lab.bad"));
        CHECK_FALSE(std::filesystem::exists(folder.file("lab")));
    }
}

TEST_CASE("a missing input file of the last session is noted in the Log, and the lab runs without it",
          "[gui]") {
    const TemporaryFolder folder;
    put(folder.file("lab"), "family = scan\ninput = " + folder.file("gone.npz") + "\nlength = 512\n");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    load_lab(lab, folder.path());
    CHECK(engine.requests.back().parameters.integer("length") == 512);
    while (lab.opening) update(lab, lab.now + 0.01);
    CHECK(log_tells(lab, "gone.npz"));
    CHECK(lab.request.input.empty());
}

TEST_CASE("settings of another kind are renamed with a note, and the start continues", "[gui]") {
    for (const std::string& broken :
         {std::string("{"), std::string("theme = dark"), std::string("\0\1\2", 3), std::string()}) {
        INFO(broken);
        const TemporaryFolder folder;
        put(folder.file("settings"), broken);
        LabState lab;
        load_settings(lab, folder.path());
        CHECK(lab.settings == WindowSettings{});
        CHECK(log_tells(lab, "settings.bad"));
        CHECK(content_of(folder.file("settings.bad")) == broken);
        CHECK_FALSE(std::filesystem::exists(folder.file("settings")));
    }
}

TEST_CASE("a setting that does not fit is noted and skipped, and the others are restored", "[gui]") {
    const WindowSettings kept{ThemeChoice::dark, 1.5, 1280, 720, BackendChoice::automatic, 0, ""};
    for (const char* strange :
         {"theme = pink", "scale = 9", "width = -4", "backend = gpu", "arrangement = teach",
          "history = maybe", "device = -1", "layout = mine", "colour = red", "", "theme"}) {
        INFO(strange);
        const TemporaryFolder folder;
        put(folder.file("settings"), settings_text(kept) + strange + "\n");
        LabState lab;
        load_settings(lab, folder.path());
        CHECK(lab.settings == kept);
        CHECK(log_tells(lab, std::string("skipped \"") + strange));
        CHECK(std::filesystem::exists(folder.file("settings")));
    }
}

TEST_CASE("a layout is restored completely, and a truncated or foreign file is renamed", "[gui]") {
    const TemporaryFolder folder;
    LabState lab;
    save_layout(lab, folder.path(), "[Window][Log]\nPos=1,2\n");
    finish_writes(lab);
    CHECK(load_layout(lab, folder.path()).find("[Window][Log]\nPos=1,2\n") != std::string::npos);
    CHECK(lab.log.empty());

    const std::string whole = content_of(folder.file("layout.ini"));
    for (const std::string& broken : {whole.substr(0, whole.size() / 2),
                                      std::string("\x7f"
                                                  "ELF\0",
                                                  5),
                                      std::string("x")}) {
        put(folder.file("layout.ini"), broken);
        CHECK(load_layout(lab, folder.path()).empty());
        CHECK(log_tells(lab, "layout.ini.bad"));
        CHECK_FALSE(std::filesystem::exists(folder.file("layout.ini")));
    }
}

TEST_CASE("settings that cannot be written are noted once", "[gui]") {
    LabState lab;
    std::atomic<int> written = 0;
    lab.files = std::make_unique<FileWriter>([&written] { ++written; });
    for (int times = 1; times <= 2; ++times) {
        save_settings(lab, "/no/such/folder");
        while (written < times) std::this_thread::yield();
        lab.files->take_written(lab);
        CHECK(lab.log.size() == 1);
    }
}

}  // namespace
}  // namespace sawtooth
