// Compares the macros that kernels read with those that their comments list.

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/kit/catch.h"

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path root = SAWTOOTH_SOURCE_DIR;

std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// Returns the names in "Defines: STORAGE, ALIGNED (rows …), THREADS." in the comment at the top.
Names listed_in(const std::string& text) {
    std::string comment;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with("//");) comment += line.substr(2);
    const size_t start = comment.find("Defines");
    if (start == std::string::npos) return {};
    const std::string list = std::regex_replace(comment.substr(start), std::regex(R"(\([^)]*\))"), "");
    const std::regex name(R"(\b[A-Z][A-Z_]{2,}\b)");
    return {std::sregex_token_iterator(list.begin(), list.end(), name), {}};
}

// Returns the code of a file and of everything that it includes, without comments.
std::string code_of(const std::string& path, Names& met) {
    if (!met.insert(path).second) return "";
    const std::string text = text_of(root / path);
    std::string code = std::regex_replace(text, std::regex("//[^\n]*"), "");
    const std::regex include("#include \"([^\"]+)\"");
    for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match)
        code += code_of(match->str(1), met);
    return code;
}

TEST_CASE("kernels list the macros that they read", "[attention][ar_ssm][cuda]") {
    for (const std::string family : {"attention", "ar_ssm"}) {
        const std::string folder = "kernels/" + family + "/cuda";
        Names all;
        for (const auto& entry : fs::directory_iterator(root / folder))
            all.merge(listed_in(text_of(entry.path())));
        CHECK(all.contains("STORAGE"));
        for (const auto& entry : fs::directory_iterator(root / folder)) {
            if (entry.path().extension() != ".cu") continue;
            const std::string file = entry.path().filename();
            Names met, read;
            const std::string code = code_of(folder + "/" + file, met);
            for (const std::string& name : all)
                if (std::regex_search(code, std::regex("\\b" + name + "\\b"))) read.insert(name);
            INFO(family << " " << file);
            CHECK(listed_in(text_of(entry.path())) == read);
        }
    }
}

}  // namespace
