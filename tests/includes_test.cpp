// Checks the includes of every file against the layers of the design, given as a table.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/kit/catch.h"

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

struct Layer {
    Names folders;    // own folders, included as "folder/…"; nested folders only as device code
    Names libraries;  // headers of these libraries, by prefix
};
using Layers = std::map<std::string, Layer>;  // by folder

const fs::path root = SAWTOOTH_SOURCE_DIR;
const Names everything = {""};
const std::string device = "kernels/cuda/device";
// Every other folder there is a family, or what two families share.
const std::set<std::string> parts_of_kernels = {"core", "figures", "cpu", "cuda"};

// With the families that they depend on, as linked by CMake: "ar_ssm:scan …".
Layers families() {
    Layers all;
    for (const auto& entry : fs::directory_iterator(root / "kernels")) {
        const std::string name = entry.path().filename();
        if (entry.is_directory() && !parts_of_kernels.contains(name))
            all["kernels/" + name] = {
                {"kernels/core", "kernels/figures", "kernels/cpu", "kernels/cuda", device, "kernels/" + name},
                {"fmt/"}};
    }
    const std::string list = SAWTOOTH_BUILDS_ON;
    const std::regex pair("(\\w+):(\\w+)");
    for (std::sregex_iterator match(list.begin(), list.end(), pair), end; match != end; ++match)
        all.at("kernels/" + match->str(1)).folders.push_back("kernels/" + match->str(2));
    return all;
}

Layers layers() {
    Layers all = {
        {"kernels/core", {{"kernels/core"}, {}}},
        {"kernels/figures", {{"kernels/core", "kernels/figures"}, {"fmt/"}}},
        {"kernels/cpu", {{"kernels/core", "kernels/cpu"}, {"hwy/", "fmt/", "immintrin.h"}}},
        {"kernels/cuda", {{"kernels/core", "kernels/cuda", device}, {"cuda", "nvrtc", "fmt/"}}},
        {"kernels", {{"kernels/core", "kernels"}, {"fmt/"}}},
        {"profiling",
         {{"kernels/core", "kernels/figures", "kernels/cpu", "kernels/cuda", "profiling"},
          {"cuda", "cupti", "fmt/", "immintrin.h"}}},
        {"viz", {{"kernels/core", "viz"}, {"fmt/"}}},
        {"viz/imgui", {{"kernels/core", "viz", "viz/imgui"}, {"imgui", "implot", "fmt/"}}},
        {"app/engine",
         {{"kernels", "kernels/core", "kernels/figures", "kernels/cpu", "kernels/cuda", "profiling",
           "app/engine", "app/engine/check"},
          {"nlohmann/", "zip.h", "zlib.h", "fmt/"}}},
        {"app/engine/check",
         {{"kernels/core", "kernels/figures", "profiling", "app/engine", "app/engine/check"}, {"fmt/"}}},
        {"app/cli",
         {{"app/engine", "app/engine/check", "kernels/core", "kernels/figures", "viz", "app/cli"},
          {"CLI/", "fmt/"}}},
        // What the window knows: without Dear ImGui.
        {"app/gui/state",
         {{"app/engine", "app/engine/check", "kernels/core", "kernels/figures", "viz", "app/gui/state"},
          {"fmt/"}}},
        {"app/gui",
         {{"app/engine", "app/engine/check", "kernels/core", "kernels/figures", "viz", "viz/imgui", "app/gui",
           "app/gui/state"},
          {"imgui", "implot", "GLFW/", "EGL/", "glad/", "png.h", "fmt/"}}},
        {"app", {{"app/cli", "app/gui", "app/engine"}, {}}},
        {"tests", {everything, everything}},
    };
    all.merge(families());
    for (const auto& [folder, layer] : families()) all["kernels"].folders.push_back(folder);
    return all;
}

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool is_family(const std::string& layer) {
    return folder_of(layer) == "kernels" && !parts_of_kernels.contains(layer.substr(8));
}

// Everything inside a family's folder, kernels/cuda, app/engine, app/gui or tests belongs to that layer but
// for two rooms; elsewhere each folder is a layer of its own.
std::string layer_of(const std::string& path) {
    static const std::regex whole(
        "(kernels/(?!core/|cpu/)\\w+|tests|app/engine(?!/check/)|app/gui(?!/state/))/.*");
    std::smatch match;
    return std::regex_match(path, match, whole) ? match.str(1) : folder_of(path);
}

bool is_device_text(const std::string& path) { return path.ends_with(".cu") || path.ends_with(".cuh"); }

bool is_listed(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Headers of the C and C++ libraries and of the system: no own folder, no third-party library.
bool is_system(const std::string& header) {
    static const std::regex plain("[a-z0-9_]+(\\.h)?|sys/[a-z]+\\.h");
    static const std::set<std::string> foreign = {"png.h",    "zip.h",  "zlib.h",  "immintrin.h", "imgui.h",
                                                  "implot.h", "cuda.h", "nvrtc.h", "cupti.h"};
    return std::regex_match(header, plain) && !foreign.contains(header);
}

// Allowed includes of kernels: shared device code and their own folder, nothing of the host, because NVRTC
// gets only device code.
bool device_may_include(const std::string& layer, const Layer& rules, const std::string& header) {
    if (!header.ends_with(".cuh")) return false;
    const std::string target = folder_of(header);
    return target == device || (is_family(layer) && is_listed(rules.folders, layer_of(header)));
}

bool host_may_include(const std::string& path, const Layer& rules, const std::string& header) {
    const std::string layer = layer_of(path), target = layer_of(header);
    // kernels/families.cpp includes only family.h of each family, and no family the reference of another.
    if (layer == "kernels" && is_family(target)) return header == target + "/family.h";
    if (layer != target && header.find("reference") != std::string::npos) return false;
    if (folder_of(header) == device) return is_listed(rules.folders, device) && header.ends_with(".cuh");
    return is_listed(rules.folders, target);
}

// In a family, only CPU files use Highway and only files named cuda use CUDA headers.
bool may_include_library(const std::string& path, const Layer& rules, const std::string& header) {
    const bool is_for_cuda = path.find("cuda") != std::string::npos;
    if (is_family(layer_of(path))) {
        if (header.starts_with("hwy/")) return !is_for_cuda && path.find("figures") == std::string::npos;
        if (header.starts_with("cuda")) return is_for_cuda;
    }
    return std::any_of(rules.libraries.begin(), rules.libraries.end(),
                       [&](const std::string& library) { return header.starts_with(library); });
}

bool is_allowed(const std::string& path, const Layer& rules, const std::string& header, bool quoted) {
    if (rules.folders == everything) return true;
    if (is_device_text(path)) return quoted && device_may_include(layer_of(path), rules, header);
    // Dear ImGui and its companions are also included with quotes.
    return (quoted && host_may_include(path, rules, header)) || may_include_library(path, rules, header) ||
           (!quoted && is_system(header));
}

struct Include {
    std::string path, line, header;
    bool quoted;
};

// The includes of one file, in order; `path` is relative to the root.
std::vector<Include> includes_of(const std::string& path) {
    static const std::regex include("^\\s*#\\s*include\\s+([\"<])([^\">]+)[\">]");
    std::vector<Include> found;
    std::ifstream file(root / path);
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        std::smatch match;
        if (line.find('#') != std::string::npos && std::regex_search(line, match, include))
            found.push_back({path, std::to_string(number) + ": " + line, match[2], match[1] == "\""});
    }
    return found;
}

// All C++ and CUDA files, relative to the root.
Names sources() {
    static const std::set<std::string> extensions = {".cpp", ".h", ".cu", ".cuh"};
    Names paths;
    for (const char* top : {"kernels", "profiling", "viz", "app", "tests"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top))
            if (extensions.contains(entry.path().extension()))
                paths.push_back(fs::relative(entry.path(), root));
    return paths;
}

TEST_CASE("every include is allowed by the layers", "[layers]") {
    const Layers all = layers();
    std::map<std::string, int> host_files, device_files;  // by layer
    for (const std::string& path : sources()) {
        const auto layer = all.find(layer_of(path));
        INFO(path << " lies in no layer");
        REQUIRE(layer != all.end());
        ++(is_device_text(path) ? device_files : host_files)[layer->first];
        for (const Include& include : includes_of(path)) {
            INFO(include.path << ":" << include.line);
            CHECK(is_allowed(path, layer->second, include.header, include.quoted));
        }
    }
    for (const auto& [layer, rules] : all) {
        INFO(layer);
        CHECK(host_files[layer] > 0);
    }
    for (const char* layer : {"kernels/cuda", "kernels/scan", "kernels/memory"}) {
        INFO(layer);
        CHECK(device_files[layer] > 0);
    }
}

TEST_CASE("the test of the layers finds forbidden includes", "[layers]") {
    const Layers all = layers();
    const auto allows = [&](const std::string& path, const std::string& header, bool quoted = true) {
        return is_allowed(path, all.at(layer_of(path)), header, quoted);
    };
    CHECK(allows("kernels/core/array.h", "vector", false));
    CHECK_FALSE(allows("kernels/core/array.h", "fmt/format.h", false));
    CHECK_FALSE(allows("viz/axis.cpp", "kernels/cpu/pool.h"));
    CHECK_FALSE(allows("viz/axis.cpp", "imgui.h", false));
    CHECK(allows("viz/imgui/readout.cpp", "imgui.h", false));
    CHECK_FALSE(allows("app/gui/state/lab.cpp", "kernels/families.h"));
    CHECK_FALSE(allows("kernels/families.cpp", "kernels/scan/parts.h"));
    CHECK(allows("kernels/families.cpp", "kernels/scan/family.h"));

    CHECK_FALSE(allows("kernels/btp/cpu.cpp", "kernels/scan/cpu/tiles.h"));
    CHECK_FALSE(allows("kernels/memory/cpu.cpp", "kernels/scan/cpu/tiles.h"));
    CHECK(allows("kernels/ar_ssm/cpu.cpp", "kernels/scan/cpu/tiles.h"));
    CHECK_FALSE(allows("kernels/ar_ssm/cpu.cpp", "kernels/scan/reference.h"));
    CHECK(allows("kernels/lut_sequence/cpu.cpp", "kernels/lut_table/schema.h"));
    CHECK_FALSE(allows("kernels/lut_sequence/cpu.cpp", "kernels/lut/parts.h"));
    CHECK_FALSE(allows("kernels/lut_table/schema.cpp", "kernels/lut/parts.h"));

    // A family's folders are one layer.
    CHECK(allows("kernels/memory/figures/states.cpp", "kernels/memory/strategies.h"));
    CHECK(allows("kernels/memory/cpu/chain.cpp", "kernels/memory/cpu/plan.h"));
    CHECK_FALSE(allows("kernels/memory/cpu/chain.cpp", "kernels/btp/cpu/plan.h"));
    CHECK(allows("kernels/memory/cpu/chain.cpp", "hwy/highway.h", false));
    CHECK_FALSE(allows("kernels/memory/cuda/chain.cpp", "hwy/highway.h", false));
    CHECK_FALSE(allows("kernels/memory/figures/states.cpp", "hwy/highway.h", false));
    CHECK(allows("kernels/memory/cuda/chain.cpp", "cuda.h", false));
    CHECK_FALSE(allows("kernels/memory/cpu/chain.cpp", "cuda.h", false));

    // Device code.
    CHECK(allows("kernels/memory/cuda/chain.cu", "kernels/memory/cuda/arguments.cuh"));
    CHECK(allows("kernels/memory/cuda/chain.cu", "kernels/cuda/device/types.cuh"));
    CHECK_FALSE(allows("kernels/memory/cuda/chain.cu", "kernels/scan/cuda/rows.cuh"));
    CHECK_FALSE(allows("kernels/memory/cuda/chain.cu", "kernels/memory/strategies.h"));
    CHECK_FALSE(allows("kernels/memory/cuda/chain.cu", "kernels/core/launch.h"));
    CHECK_FALSE(allows("kernels/memory/cuda/chain.cu", "cuda_fp16.h", false));
    CHECK(allows("kernels/cuda/device/warp.cuh", "kernels/cuda/device/types.cuh"));
    CHECK_FALSE(allows("kernels/cuda/device/warp.cuh", "kernels/scan/cuda/rows.cuh"));
    CHECK_FALSE(allows("kernels/cuda/convert.cu", "kernels/cuda/compiler.h"));
    CHECK(allows("kernels/memory/cuda/plan.cpp", "kernels/memory/cuda/arguments.cuh"));
    CHECK_FALSE(allows("kernels/core/plan.h", "kernels/cuda/device/types.cuh"));
}

}  // namespace
