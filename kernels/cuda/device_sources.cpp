#include "kernels/cuda/device_sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace sawtooth::cuda {
namespace {

std::vector<std::span<const EmbeddedSource>>& all_sources() {
    static std::vector<std::span<const EmbeddedSource>> all = {embedded_sources()};
    return all;
}

std::optional<std::string> embedded(const std::string& name) {
    for (const auto& sources : all_sources())
        for (const EmbeddedSource& source : sources)
            if (source.name == name) return std::string(source.text);
    return {};
}

std::optional<std::string> from_directory(const std::string& name, const std::string& directory) {
    const std::string path = directory + "/" + name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return {};
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return {};
    return text.str();
}

std::optional<std::string> read(const std::string& name, const std::string& directory) {
    return directory.empty() ? embedded(name) : from_directory(name, directory);
}

// Returns the names in `#include "…"` lines, including lines that a macro disables, which does no harm.
std::vector<std::string> includes_of(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string::npos || line[hash] != '#') continue;
        const size_t quote = line.find('"');
        if (quote == std::string::npos || line.find("include") > quote) continue;
        const std::string name = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
        if (name.find("..") == std::string::npos) names.push_back(name);
    }
    return names;
}

}  // namespace

void add_sources(std::span<const EmbeddedSource> sources) { all_sources().push_back(sources); }

Outcome<std::vector<SourceText>> read_with_includes(const std::string& file, const std::string& directory) {
    auto text = read(file, directory);
    if (!text)
        return Error::failure(directory.empty()
                                  ? file + " is not part of this program"
                                  : "kernels: " + directory + " has no " + file +
                                        "; it must contain the whole folder kernels/ of the source tree");
    std::vector<SourceText> texts = {{file, std::move(*text)}};
    for (size_t next = 0; next < texts.size(); ++next) {
        for (std::string& name : includes_of(texts[next].text)) {
            const auto is_same = [&](const SourceText& known) { return known.name == name; };
            if (std::any_of(texts.begin(), texts.end(), is_same)) continue;
            if (auto included = read(name, directory))
                texts.push_back({std::move(name), std::move(*included)});
        }
    }
    return texts;
}

}  // namespace sawtooth::cuda
