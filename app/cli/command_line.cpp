#include "app/cli/command_line.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <initializer_list>

#include "app/cli/completion.h"
#include "app/cli/interrupts.h"
#include "app/cli/man_page.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/guarded.h"
#include "app/engine/session/session.h"
#include "app/engine/wire/json.h"

namespace sawtooth {
namespace {

using namespace cli;

int code_of(const std::optional<Error>& error) { return error ? fail(*error) : 0; }

int open_window(const Arguments& arguments, const WindowCommands& window) {
    auto options = settle_window(arguments);
    if (!options) return fail(options.error());
    const Interrupts interrupts;
    options->stop = interrupts.token();
    options->session = arguments.target;
    return code_of(window.run_window(*options));
}

// Reads the file once to refuse it here; the window reads it again.
int open_session(const Arguments& arguments, const WindowCommands& window) {
    if (const auto session = read_session(arguments.target); !session) return fail(session.error());
    return open_window(arguments, window);
}

int shoot(const Arguments& arguments, const WindowCommands& window) {
    auto options = settle_shot(arguments);
    if (!options) return fail(options.error());
    const Interrupts interrupts;
    options->stop = interrupts.token();
    const int code = code_of(window.shoot(*options));
    return code == 0 && arguments.has("--json") ? print(written_json({options->path})) : code;
}

// Refuses options of bench that `bench window` or `bench verdicts` cannot honour: those of its tables, and
// `unused`.
std::optional<Error> check_bench(const Arguments& arguments, const std::string& what,
                                 std::initializer_list<const char*> unused) {
    for (const char* option : {"--json-file", "--csv", "--markdown"})
        if (arguments.has(option))
            return Error::usage(fmt::format("{}: bench {} writes no table; use --json", option, what));
    if (arguments.has("--session"))
        return Error::usage(fmt::format("--session: bench {} has no results to keep", what));
    for (const char* option : unused)
        if (arguments.has(option))
            return Error::usage(fmt::format("{} has no effect on bench {}; leave it out", option, what));
    return {};
}

int bench_window(const Arguments& arguments, const WindowCommands& window) {
    if (const auto problem = check_bench(arguments, "window", {"--trials", "--allow-wrong", "--on-file"}))
        return fail(*problem);
    if (arguments.values("--on").size() > 1)
        return fail(Error::usage("bench window measures in one place; give one --on"));
    const auto options = settle_window(arguments);
    if (!options) return fail(options.error());
    const std::vector<std::string> families(arguments.families.begin() + 1, arguments.families.end());
    return code_of(window.bench_window(*options, families, arguments.has("--json")));
}

int dispatch(const Arguments& arguments, const WindowCommands& window) {
    switch (arguments.command) {
        case Command::window:
            return open_window(arguments, window);
        case Command::list:
            return list(arguments);
        case Command::run:
            return run(arguments);
        case Command::sweep:
            return sweep(arguments);
        case Command::join:
            return join(arguments);
        case Command::check:
            return check(arguments);
        case Command::compare:
            return compare(arguments);
        case Command::report:
            return arguments.has("--from") ? report_session(arguments) : report(arguments);
        case Command::open:
            return open_session(arguments, window);
        case Command::shot:
            return shoot(arguments, window);
        case Command::bench:
            if (!arguments.families.empty() && arguments.families.front() == "window")
                return bench_window(arguments, window);
            if (arguments.families != std::vector<std::string>{"verdicts"}) return bench(arguments);
            if (const auto problem = check_bench(
                    arguments, "verdicts", {"--on", "--on-file", "--profile", "--arch", "--allow-wrong"}))
                return fail(*problem);
            return bench_verdicts(arguments);
        case Command::devices:
            return devices(arguments);
        case Command::worker:
            return worker(arguments);
    }
    return 2;
}

// The answer to questions that installers and shells ask, not people.
std::optional<std::string> answer_to_tools(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    if (words.front() == "--man") return man_page();
    if (words.front() == "--complete") return completions({words.begin() + 1, words.end()});
    return {};
}

// Reports a limit of the stack that is too small: threads get stacks of that size.
std::optional<Error> stack_problem() {
    constexpr rlim_t least = 64 << 10;
    rlimit limit{};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) return {};
    return Error::failure(
        fmt::format("a stack of 64 KiB is needed, but the limit is {} KiB: raise it with ulimit -s",
                    limit.rlim_cur >> 10));
}

}  // namespace

int run_command_line(int argc, char** argv, const WindowCommands& window) {
    // Without these signals, write() reports a closed pipe or a file that is too long as an error.
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    const auto code = guarded([&]() -> Outcome<int> {
        if (const auto problem = stack_problem()) return *problem;
        if (const auto answer = answer_to_tools({argv + 1, argv + argc})) return print(*answer);
        const auto reading = read_arguments(argc, argv);
        if (!reading) return reading.error();
        return reading->answer.empty() ? dispatch(reading->arguments, window) : print(reading->answer);
    });
    return code ? *code : fail(code.error());
}

}  // namespace sawtooth
