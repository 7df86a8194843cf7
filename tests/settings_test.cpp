#include "app/gui/settings.h"

#include <algorithm>
#include <filesystem>

#include "tests/catch.h"
#include "tests/fake_engine.h"
#include "tests/temporary_folder.h"

namespace sawtooth {
namespace {

bool log_tells(const LabState& lab, const std::string& words) {
    return std::any_of(lab.log.begin(), lab.log.end(),
                       [&](const LogLine& line) { return line.text.find(words) != std::string::npos; });
}

TEST_CASE("settings come back as they were saved", "[gui]") {
    const TemporaryFolder folder;
    LabState lab;
    lab.settings = {ThemeChoice::light, 1.25, 1280, 720, BackendChoice::cuda, 3};
    save_settings(lab, folder.path());
    LabState other;
    load_settings(other, folder.path());
    CHECK(other.settings == lab.settings);
    CHECK(other.log.empty());
}

TEST_CASE("broken settings are set aside with a notice and the start goes on", "[gui]") {
    const std::string whole = settings_text({ThemeChoice::dark, 1.5, 1600, 900, BackendChoice::automatic, 0});
    for (const std::string& broken :
         {std::string("{"), std::string("theme = pink\n"), std::string("scale = 9\n"),
          std::string("width = -4\n"), std::string("backend = gpu\n"), std::string("device = -1\n"),
          std::string("colour = red\n"), whole.substr(0, whole.size() - 3), std::string("\0\1\2", 3),
          "\n" + whole}) {
        INFO(broken);
        const TemporaryFolder folder;
        put(folder.file("settings"), broken);
        LabState lab;
        load_settings(lab, folder.path());
        CHECK(lab.settings == Settings{});
        CHECK(log_tells(lab, "settings.bad"));
        CHECK(content_of(folder.file("settings.bad")) == broken);
        CHECK_FALSE(std::filesystem::exists(folder.file("settings")));
    }
}

TEST_CASE("a layout comes back whole, and one that was cut or is something else is set aside", "[gui]") {
    const TemporaryFolder folder;
    LabState lab;
    save_layout(lab, folder.path(), "[Window][Log]\nPos=1,2\n");
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

TEST_CASE("settings that cannot be written are told once", "[gui]") {
    LabState lab;
    save_settings(lab, "/no/such/folder");
    save_settings(lab, "/no/such/folder");
    CHECK(lab.log.size() == 1);
}

}  // namespace
}  // namespace sawtooth
