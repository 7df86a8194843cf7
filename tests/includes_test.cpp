// Who may include whom, read from every file: the layers of the design as a table.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/catch.h"

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const Names family_folders = {"kernels/scan", "kernels/ar_ssm",       "kernels/attention", "kernels/btp",
                              "kernels/lut",  "kernels/lut_sequence", "kernels/memory"};

struct Layer {
    Names folders;    // own folders, included as "folder/…"; their sub-folders are other layers
    Names libraries;  // headers of these libraries, by how they begin
};

// By folder; "" in `folders` stands for the whole tree.
std::map<std::string, Layer> layers() {
    std::map<std::string, Layer> all = {
        {"kernels/core", {{"kernels/core"}, {}}},
        {"kernels/cpu", {{"kernels/core", "kernels/cpu"}, {"hwy/", "fmt/", "immintrin.h"}}},
        {"kernels/cuda", {{"kernels/core", "kernels/cuda"}, {"cuda", "nvrtc", "fmt/"}}},
        {"kernels", {{"kernels/core", "kernels"}, {}}},
        {"profiling",
         {{"kernels/core", "kernels/cpu", "kernels/cuda", "profiling"},
          {"cuda", "cupti", "fmt/", "immintrin.h"}}},
        {"viz", {{"kernels/core", "viz"}, {"fmt/"}}},
        {"viz/imgui", {{"kernels/core", "viz", "viz/imgui"}, {"imgui", "implot", "fmt/"}}},
        {"app/engine",
         {{"kernels", "kernels/core", "kernels/cpu", "kernels/cuda", "profiling", "app/engine"},
          {"nlohmann/", "zip.h", "fmt/"}}},
        {"app/cli", {{"app/engine", "kernels/core", "viz", "app/cli"}, {"CLI/", "fmt/"}}},
        {"app/gui",
         {{"app/engine", "kernels/core", "viz", "viz/imgui", "app/gui"},
          {"imgui", "implot", "GLFW/", "EGL/", "glad/", "png.h", "fmt/"}}},
        {"app", {{"app/cli", "app/gui", "app/engine"}, {}}},
        {"tests", {{""}, {""}}},
    };
    for (const std::string& family : family_folders) {
        Layer layer{{"kernels/core", "kernels/cpu", "kernels/cuda", family}, {"hwy/", "fmt/", "cuda"}};
        if (family == "kernels/ar_ssm" || family == "kernels/memory") layer.folders.push_back("kernels/scan");
        if (family == "kernels/lut_sequence") layer.folders.push_back("kernels/lut");
        if (family == "kernels/memory") {
            layer.folders.push_back("kernels/memory/figures");
            all["kernels/memory/figures"] = layer;
        }
        all[family] = layer;
        all["kernels"].folders.push_back(family);
    }
    return all;
}

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool is_listed(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Headers of the C and C++ libraries and of the system: no own folder, no third-party library.
bool is_system(const std::string& header) {
    static const std::regex plain("[a-z0-9_]+(\\.h)?|sys/[a-z]+\\.h");
    static const std::set<std::string> foreign = {"png.h",    "zip.h",  "immintrin.h", "imgui.h",
                                                  "implot.h", "cuda.h", "nvrtc.h",     "cupti.h"};
    return std::regex_match(header, plain) && !foreign.contains(header);
}

bool is_allowed(const std::string& folder, const Layer& layer, const std::string& header, bool quoted) {
    const bool everything = is_listed(layer.folders, "");
    if (everything) return true;
    if (quoted) {
        const std::string target = folder_of(header);
        // kernels/families.cpp sees the families' family.h alone, and no family another's reference.
        if (folder == "kernels" && is_listed(family_folders, target)) return header == target + "/family.h";
        if (folder != target && header.find("reference") != std::string::npos) return false;
        if (is_listed(layer.folders, target)) return true;
        // Test engine and own libraries of the window are included with quotes too.
    }
    for (const std::string& library : layer.libraries)
        if (header.starts_with(library)) return true;
    return !quoted && is_system(header);
}

TEST_CASE("every include is one that the layers allow", "[layers]") {
    const fs::path root = SAWTOOTH_SOURCE_DIR;
    const std::map<std::string, Layer> allowed = layers();
    const std::regex include("^\\s*#\\s*include\\s+([\"<])([^\">]+)[\">]");
    int files = 0;
    for (const char* top : {"kernels", "profiling", "viz", "app", "tests"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string extension = entry.path().extension();
            if (extension != ".cpp" && extension != ".h") continue;
            ++files;
            const std::string path = fs::relative(entry.path(), root);
            const auto layer = allowed.find(folder_of(path).starts_with("tests") ? "tests" : folder_of(path));
            INFO(path << " lies in no layer");
            REQUIRE(layer != allowed.end());
            std::ifstream file(entry.path());
            int number = 0;
            for (std::string line; std::getline(file, line);) {
                ++number;
                std::smatch match;
                if (!std::regex_search(line, match, include)) continue;
                INFO(path << ":" << number << ": " << line);
                CHECK(is_allowed(layer->first, layer->second, match[2], match[1] == "\""));
            }
        }
    }
    CHECK(files > 60);
}

TEST_CASE("the layers' test finds what they forbid", "[layers]") {
    const auto all = layers();
    const auto allows = [&](const char* folder, const char* header, bool quoted) {
        return is_allowed(folder, all.at(folder), header, quoted);
    };
    CHECK(allows("kernels/core", "vector", false));
    CHECK_FALSE(allows("kernels/core", "fmt/format.h", false));
    CHECK_FALSE(allows("viz", "kernels/cpu/pool.h", true));
    CHECK_FALSE(allows("viz", "imgui.h", false));
    CHECK_FALSE(allows("kernels/btp", "kernels/scan/tiles.h", true));
    CHECK_FALSE(allows("kernels/memory", "kernels/scan/reference.h", true));
    CHECK(allows("kernels/memory", "kernels/scan/tiles.h", true));
    CHECK_FALSE(allows("app/gui", "kernels/families.h", true));
    CHECK_FALSE(allows("kernels", "kernels/scan/parts.h", true));
    CHECK(allows("kernels", "kernels/scan/family.h", true));
}

}  // namespace
