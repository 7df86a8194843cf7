#include "app/cli/session_file.h"

#include <filesystem>

#include "app/cli/terminal.h"
#include "app/engine/files/files.h"

namespace sawtooth::cli {
namespace {

// The session that is there; an empty one if there is none.
Outcome<ReadSession> read_or_new(const std::string& path) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (status.type() == std::filesystem::file_type::not_found) return ReadSession{};
    auto read = read_session(path);
    if (read && read->is_partial)
        return Error::usage(path + ": this build would lose a part of the session: " + read->notes.front());
    return read;
}

}  // namespace

std::optional<Error> check_session(const Arguments& arguments) {
    if (!arguments.has("--session")) return {};
    const std::string path = arguments.value("--session");
    if (auto problem = check_replaceable(path)) return problem;
    const auto session = read_or_new(path);
    if (!session) return session.error();
    for (const std::string& note : session->notes) print_note(path + ": " + note);
    return {};
}

std::optional<Error> add_to_session(const Arguments& arguments, const std::function<void(Session&)>& add) {
    if (!arguments.has("--session")) return {};
    const std::string path = arguments.value("--session");
    auto read = read_or_new(path);
    if (!read) return read.error();
    add(read->session);
    return write_session(path, std::move(read->session));
}

}  // namespace sawtooth::cli
