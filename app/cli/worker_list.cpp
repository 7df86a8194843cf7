#include "app/cli/worker_list.h"

#include <algorithm>

#include "app/engine/files/files.h"

namespace sawtooth::cli {

std::vector<std::string> parse_workers(std::string_view text) {
    constexpr std::string_view spaces = " \t\r";
    std::vector<std::string> commands;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line.remove_prefix(std::min(line.find_first_not_of(spaces), line.size()));
        line = line.substr(0, line.find_last_not_of(spaces) + 1);
        if (!line.empty() && line.front() != '#') commands.emplace_back(line);
    }
    return commands;
}

Outcome<std::vector<std::string>> read_workers(const std::string& path) {
    constexpr int64_t most_bytes = 1 << 20;
    const auto text = read_file(path, most_bytes);
    if (!text) return Error::usage("--on-file: " + text.error().text);
    std::vector<std::string> commands = parse_workers(*text);
    if (commands.empty())
        return Error::usage(
            "--on-file = " + path +
            ": no command; expected lines like \"ssh HOST sawtooth worker\", or # and a comment");
    return commands;
}

}  // namespace sawtooth::cli
