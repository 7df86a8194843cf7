#include <sstream>

#include "app/cli/arguments.h"
#include "app/cli/settings.h"
#include "app/cli/terminal.h"
#include "app/engine/identity.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/tables/commands.h"
#include "kernels/core/nearest.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

using namespace sawtooth;
using namespace sawtooth::cli;

namespace {

Outcome<Reading> read(std::vector<const char*> words) {
    words.insert(words.begin(), "sawtooth");
    return read_arguments(static_cast<int>(words.size()), words.data());
}

Outcome<Settings> settings_of(const std::vector<const char*>& words) {
    const auto reading = read(words);
    REQUIRE(reading);
    return settle(reading->arguments);
}

// A usage error is one line with the argument and what is accepted.
template <class T>
void check_usage(const Outcome<T>& outcome, const std::string& words) {
    INFO(words);
    REQUIRE_FALSE(outcome);
    INFO(outcome.error().text);
    CHECK(outcome.error().exit_code() == 2);
    CHECK(outcome.error().text.find('\n') == std::string::npos);
    CHECK(outcome.error().text.find(words) != std::string::npos);
}

// The words of a command as a POSIX shell reads them; of its quotes only single ones and \' are known.
std::vector<std::string> words_of_shell(const std::string& command) {
    std::vector<std::string> words(1);
    bool is_quoted = false;
    for (size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        if (c == '\'')
            is_quoted = !is_quoted;
        else if (c == ' ' && !is_quoted)
            words.emplace_back();
        else
            words.back() += c == '\\' && !is_quoted ? command[++i] : c;
    }
    return words;
}

// The Request that the command of this one reads as.
Request request_again(const Request& request) {
    const std::vector<std::string> words = words_of_shell(command_of(request));
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    const auto reading = read_arguments(static_cast<int>(arguments.size()), arguments.data());
    REQUIRE(reading);
    const auto settings = settle(reading->arguments);
    if (!settings) FAIL(settings.error().text);
    return settings->request;
}

}  // namespace

TEST_CASE("without a subcommand the window opens", "[cli]") {
    const auto reading = read({"--theme", "dark", "--scale", "1.5"});
    REQUIRE(reading);
    CHECK(reading->arguments.command == Command::window);
    const auto options = settle_window(reading->arguments);
    REQUIRE(options);
    CHECK(options->theme == "dark");
    CHECK(options->scale == 1.5);
    CHECK(options->request.time_limit_seconds == 10);
}

TEST_CASE("help and version work for every subcommand", "[cli]") {
    CHECK(read({"--version"})->answer == std::string("sawtooth ") + build_identity() + "\n");
    CHECK(read({"--help"})->answer.find("sweep") != std::string::npos);
    for (const char* command :
         {"list", "run", "sweep", "report", "open", "shot", "bench", "devices", "worker"}) {
        const auto reading = read({command, "--help"});
        REQUIRE(reading);
        INFO(reading->answer);
        CHECK((reading->answer.find("--json") != std::string::npos) ==
              (command != std::string("worker") && command != std::string("open")));
        CHECK(reading->answer.find(command) != std::string::npos);
    }
}

TEST_CASE("a wrong command line gives a one-line error", "[cli]") {
    check_usage(read({"frobnicate"}), "frobnicate is not a subcommand. Subcommands: list, run");
    check_usage(read({"run", "scan", "--frobnicate"}), "--frobnicate");
    check_usage(read({"list", "--set", "a=1"}), "--set");
    check_usage(read({"--theme", "dark", "run", "scan"}), "--theme");
    check_usage(read({"worker", "scan"}), "scan");
}

TEST_CASE("the nearest name is suggested for a typo", "[cli]") {
    check_usage(read({"runn"}), "Did you mean run?");
    check_usage(read({"run", "scan", "--sede", "1"}), "not an option of run. Did you mean --seed?");
    check_usage(read({"--thme", "dark"}), "not an option of the window. Did you mean --theme?");
    check_usage(read({"run", "scan", "--csv", "a"}), "it belongs to sweep, join, bench");
    check_usage(settings_of({"run", "memry"}),
                "memry is not a family. Did you mean memory? Families: memory, scan");
    check_usage(settings_of({"run", "scan", "--set", "op=men"}), "op = men: not one of sum, ");
    check_usage(settings_of({"run", "scan", "--set", "op=men"}), "Did you mean min?");
    check_usage(settings_of({"run", "scan", "--backend", "cdua"}), "Did you mean cuda?");
    Request request;
    request.family = "scan";
    request.variants = {"lokback"};
    check_usage(configure(request, {}), "--variant = lokback: not one of sequential, ");
    check_usage(configure(request, {}), "Did you mean lookback?");
    request.variants.clear();
    request.preset = "papr";
    check_usage(configure(request, {}), "Did you mean paper?");
}

TEST_CASE("missing and empty arguments are named", "[cli]") {
    check_usage(read({"run"}), "run needs FAMILY, one of memory, scan");
    check_usage(read({"report"}), "report needs DIR");
    check_usage(read({"run", "scan", "--seed"}), "--seed needs a value: N");
    check_usage(read({"run", "scan", "--seed", "1", "--seed", "2"}), "--seed is given more than once");
    check_usage(read({"run", "scan", "--preset", ""}), "--preset needs a value");
    check_usage(settings_of({"run", ""}), "\"\" is not a family");
    check_usage(read({"run", "scan", "extra"}), "unexpected argument: extra");
    check_usage(read({"--threads", "2", "run", "scan"}), "--threads must come after the subcommand");
}

TEST_CASE("a report takes several families, or one with settings", "[cli]") {
    const auto settings =
        settings_of({"report", "folder", "memory", "--set", "rule=titans", "--preset", "paper", "--variant",
                     "sequential", "--backend", "auto", "--arch", "sm_90a"});
    REQUIRE(settings);
    CHECK(settings->family->name == "memory");
    CHECK(settings->request.parameters.text("rule") == "titans");
    CHECK(settings->request.preset == "paper");
    CHECK(settings->request.variants == Names{"sequential"});
    CHECK(settings->request.backend == BackendChoice::automatic);
    CHECK(read({"report", "folder", "memory", "scan"})->arguments.families == Names{"memory", "scan"});
    CHECK(read({"report", "folder", "--allow-wrong"})->arguments.has("--allow-wrong"));
    CHECK(settings_of({"report", "folder", "memory", "scan", "--preset", "paper"}));
    check_usage(settings_of({"report", "folder", "--set", "rule=titans"}), "--set needs exactly one family");
    check_usage(settings_of({"report", "folder", "memory", "scan", "--variant", "sequential"}), "--variant");
    check_usage(settings_of({"report", "folder", "memory", "--set", "length=0"}), "length = 0: out of range");
}

TEST_CASE("options become a Request", "[cli]") {
    const auto settings = settings_of({"run",
                                       "scan",
                                       "--set",
                                       "length=77",
                                       "--set",
                                       "op=max",
                                       "--variant",
                                       "lookback",
                                       "--variant",
                                       "lookback",
                                       "--threads",
                                       "2",
                                       "--seed",
                                       "18446744073709551615",
                                       "--repeat",
                                       "3",
                                       "--cache",
                                       "hot",
                                       "--profile",
                                       "none",
                                       "--time-limit",
                                       "2.5",
                                       "--memory-limit",
                                       "3MiB",
                                       "--preset",
                                       "paper",
                                       "--input",
                                       "a.npz"});
    REQUIRE(settings);
    const Request& request = settings->request;
    CHECK(request.family == "scan");
    CHECK(request.parameters.integer("length") == 77);
    CHECK(request.parameters.text("op") == "max");
    CHECK(request.variants == std::vector<std::string>{"lookback"});
    CHECK(request.threads == 2);
    CHECK(request.seed == 18446744073709551615u);
    CHECK(request.repeats == 3);
    CHECK(request.cache == Cache::hot);
    CHECK(request.profile == Profile::none);
    CHECK(request.time_limit_seconds == 2.5);
    CHECK(request.memory_limit_bytes == 3 << 20);
    CHECK(request.preset == "paper");
    CHECK(request.input == "a.npz");
    CHECK(settings->notes.empty());
}

TEST_CASE("without options the Request has its defaults", "[cli]") {
    Request usual;
    usual.family = "scan";
    CHECK(settings_of({"run", "scan"})->request == usual);
}

TEST_CASE("values out of range are refused with the accepted range", "[cli]") {
    check_usage(settings_of({"run", "nothing"}), "scan");
    check_usage(settings_of({"run", "scan", "--threads", "0"}),
                "--threads = 0: expected an integer from 1 to");
    check_usage(settings_of({"run", "scan", "--threads", "many"}), "--threads = many");
    check_usage(settings_of({"run", "scan", "--repeat", "0"}), "--repeat = 0");
    check_usage(settings_of({"run", "scan", "--seed", "1.5"}), "--seed = 1.5");
    check_usage(settings_of({"run", "scan", "--cache", "warm"}), "not one of cold, hot");
    check_usage(settings_of({"run", "scan", "--backend", "tpu"}), "not one of cpu, cuda, auto");
    check_usage(settings_of({"run", "scan", "--profile", "all"}), "--profile");
    check_usage(settings_of({"run", "scan", "--device", "1"}), "--device = 1");
    check_usage(settings_of({"run", "scan", "--time-limit", "0"}), "--time-limit");
    check_usage(settings_of({"run", "scan", "--time-limit", "nan"}), "--time-limit");
    check_usage(settings_of({"run", "scan", "--memory-limit", "3 bananas"}), "--memory-limit");
    check_usage(settings_of({"run", "scan", "--memory-limit", "9999999999GiB"}), "--memory-limit");
    check_usage(settings_of({"run", "scan", "--set", "length"}), "NAME=VALUE");
    check_usage(settings_of({"run", "scan", "--set", "length=0"}), "length = 0");
    check_usage(settings_of({"run", "scan", "--set", "lenght=8"}), "Did you mean length?");
    check_usage(settings_of({"run", "scan", "--set", "length=1", "--set", "length=2"}), "set twice");
}

TEST_CASE("a backend is chosen, and profiles that the CPU lacks are noted", "[cli]") {
    const auto cuda =
        settings_of({"run", "scan", "--backend", "cuda", "--device", "3", "--profile", "counters"});
    REQUIRE(cuda);
    CHECK(cuda->request.backend == BackendChoice::cuda);
    CHECK(cuda->request.device == 3);
    CHECK(cuda->notes.empty());
    CHECK(settings_of({"run", "scan", "--backend", "auto"})->request.backend == BackendChoice::automatic);
    CHECK(settings_of({"run", "scan", "--profile", "counters"})->notes.size() == 1);
    check_usage(settings_of({"run", "scan", "--device", "3"}), "--device = 3");

    const auto bench = settings_of({"bench", "scan", "--backend", "cuda", "--profile", "sampling"});
    REQUIRE(bench);
    CHECK(bench->request.profile == Profile::timeline);  // its tables have no place for samples
    REQUIRE(bench->notes.size() == 1);
    CHECK(contains(bench->notes.front(), "--profile counters"));
}

TEST_CASE("options of workers, kernel folders and profiles are checked when parsed", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.path();
    const auto settings = settings_of(
        {"run", "scan", "--arch", "sm_90", "--kernels", path.c_str(), "--on", "ssh host sawtooth worker"});
    REQUIRE(settings);
    CHECK(settings->request.arch == "sm_90");
    CHECK(settings->request.kernels == path);
    CHECK(settings->request.on == "ssh host sawtooth worker");
    CHECK(settings_of({"bench", "scan", "--arch", "sm_90a"})->request.arch == "sm_90a");
    check_usage(settings_of({"run", "scan", "--arch", "sm_12"}), "not one of sm_80, ");
    check_usage(settings_of({"run", "scan", "--kernels", "nowhere"}), "--kernels = nowhere");
    check_usage(read({"run", "scan", "--on", ""}), "--on needs a value");
    CHECK(settings_of({"bench", "scan", "--on", "command"})->request.on == "command");
    check_usage(read({"list", "--on", "command"}), "--on");
    CHECK(settle_window(read({"--on", "command", "--kernels", path.c_str()})->arguments)->request.on ==
          "command");
}

TEST_CASE("axes are parsed by the schema", "[cli]") {
    const auto axes_of = [](const std::vector<const char*>& words) {
        const auto reading = read(words);
        REQUIRE(reading);
        const auto settings = settle(reading->arguments);
        REQUIRE(settings);
        return settle_axes(reading->arguments, *settings);
    };
    const auto axes = axes_of({"sweep", "scan", "--over", "length=1,2,3", "--over", "block_size=auto,256"});
    REQUIRE(axes);
    REQUIRE(axes->size() == 2);
    CHECK((*axes)[0].values == std::vector<Value>{int64_t{1}, int64_t{2}, int64_t{3}});
    CHECK((*axes)[1].values.size() == 2);
    check_usage(axes_of({"sweep", "scan"}), "--over");
    check_usage(axes_of({"sweep", "scan", "--over", "length=1", "--over", "length=2"}),
                "length: a parameter can be swept only once");
    check_usage(axes_of({"sweep", "scan", "--over", "length=1", "--set", "length=2"}), "--set");
    check_usage(axes_of({"sweep", "scan", "--over", "length=1,,2"}), "length");
    check_usage(axes_of({"sweep", "scan", "--over", "length="}), "NAME=VALUES");
    check_usage(axes_of({"sweep", "scan", "--over", "length=1,banana"}), "banana");
    check_usage(axes_of({"sweep", "scan", "--over", "nothing=1"}), "nothing");
    const auto together = axes_of({"sweep", "memory", "--over", "chunk,C_G=64..256"});
    REQUIRE(together);
    CHECK(together->front() == SweepAxis{"chunk", {int64_t{64}, int64_t{128}, int64_t{256}}, {"C_G"}});
    check_usage(axes_of({"sweep", "memory", "--over", "chunk,rule=64"}), "rule = 64: not one of");
    check_usage(axes_of({"sweep", "memory", "--over", "chunk,C_G=64", "--over", "C_G=64"}), "only once");
    check_usage(axes_of({"sweep", "memory", "--over", "chunk,C_G=64", "--set", "C_G=64"}),
                "also set by --set");
    check_usage(axes_of({"sweep", "memory", "--over", "chunk,=64"}), " is not a parameter of memory");
    check_usage(axes_of({"sweep", "scan", "--over", "length=1", "--over", "op=sum", "--over", "batch=1"}),
                "3 times");
}

TEST_CASE("numbers may be typed as expressions", "[cli]") {
    const auto settings = settings_of({"run", "scan", "--set", "length=2k", "--set", "channels=4*4"});
    REQUIRE(settings);
    CHECK(settings->request.parameters.integer("length") == 2048);
    CHECK(settings->request.parameters.integer("channels") == 16);
    check_usage(settings_of({"run", "scan", "--set", "length=2kk"}),
                "length = 2kk: not an integer, like 4096, 2k");
}

TEST_CASE("the copied command of a sweep reads as the same sweep", "[cli]") {
    const auto read_back = [](const Sweep& sweep) {
        std::vector<std::string> words;
        std::istringstream text(command_of(sweep));
        for (std::string word; text >> word;) words.push_back(word);
        std::vector<const char*> arguments;
        for (const std::string& word : words) arguments.push_back(word.c_str());
        const auto reading = read_arguments(static_cast<int>(arguments.size()), arguments.data());
        REQUIRE(reading);
        const auto settings = settle(reading->arguments);
        REQUIRE(settings);
        const auto axes = settle_axes(reading->arguments, *settings);
        REQUIRE(axes);
        return Sweep{"", settings->request, *axes, reading->arguments.has("--best")};
    };
    Sweep sweep;
    sweep.base.family = "memory";
    sweep.base.repeats = 3;
    sweep.base.variants = {"chunkwise_gd", "tnt"};
    sweep.base.parameters.set("rule", "titans");
    sweep.base.parameters.set("lambda_k", 0.30000000000000004);
    sweep.axes = {{"chunk", {int64_t{64}, int64_t{256}}, {"C_G"}}, {"d", {int64_t{4}, int64_t{32}}}};
    sweep.search = true;
    CHECK(read_back(sweep) == sweep);
    // The sweeps of figures must have the same parameters in effect in every cell.
    for (const Family* family : offered_families()) {
        Request request;
        request.family = family->name;
        for (const Sweep& own : figure_sweeps(request, family->defaults(), Backend::cpu)) {
            INFO(command_of(own));
            const Sweep back = read_back(own);
            REQUIRE(back.axes == own.axes);
            CHECK(back.base.variants == own.base.variants);
            for (size_t cell = 0; cell < own.cells(); ++cell)
                CHECK(in_force(*family, back.request(cell), {}, Backend::cpu) ==
                      in_force(*family, own.request(cell), {}, Backend::cpu));
        }
    }
}

TEST_CASE("the copied command of a run reads as the same Request with everything set", "[cli]") {
    Request request;
    request.family = "memory";
    request.variants = {"chunkwise_gd", "tnt"};
    request.backend = BackendChoice::cuda;
    request.device = 3;
    request.arch = "sm_90a";
    request.kernels = "a folder/of 'mine'";
    request.jitter = 7;
    request.multiprocessors = 5;
    request.on = "ssh host 'sawtooth worker'";
    request.threads = 2;
    request.preset = "paper";
    request.parameters.set("rule", "titans");
    request.parameters.set("chunk", int64_t{64});
    request.parameters.set("lambda_k", 0.30000000000000004);
    request.seed = UINT64_MAX;
    request.values = Values::nan;
    request.optional = true;
    request.input = "in put.npz";
    request.repeats = 3;
    request.cache = Cache::hot;
    request.profile = Profile::counters;
    request.time_limit_seconds = 0.30000000000000004;
    request.memory_limit_bytes = (int64_t{1} << 40) + 1;
    INFO(command_of(request));
    CHECK(request_again(request) == request);
    for (const auto& [name, values] : value_names) {
        request.values = values;
        CHECK(request_again(request) == request);
    }
    request.backend = BackendChoice::automatic;
    request.profile = Profile::none;
    CHECK(request_again(request) == request);
    Request plain;
    plain.family = "scan";
    // A recording has a backend, a place, inputs and measurements of its own.
    request.recording = "h200-2026-11";
    request.backend = BackendChoice::cuda;
    request.device = plain.device;
    request.repeats = plain.repeats;
    request.profile = plain.profile;
    request.jitter = plain.jitter;
    request.multiprocessors = plain.multiprocessors;
    request.input = request.on = request.kernels = request.arch = "";
    CHECK(request_again(request) == request);
    CHECK(request_again(plain) == plain);
}

TEST_CASE("an export needs a kind, a family that has it, and standard output", "[cli]") {
    const auto checked = [](const std::vector<const char*>& words, const char* over) -> Outcome<int> {
        const auto reading = read(words);
        REQUIRE(reading);
        const auto settings = settle(reading->arguments);
        REQUIRE(settings);
        const auto error = check_export(reading->arguments, *settings, {{over, {int64_t{4}}}});
        return error ? Outcome<int>(*error) : Outcome<int>(0);
    };
    CHECK(checked({"sweep", "attention", "--export", "triton"}, "BLOCK_M"));
    CHECK(checked({"sweep", "ar_ssm", "--export", "json"}, "max_rank"));
    check_usage(checked({"sweep", "ar_ssm", "--export", "triton"}, "max_rank"),
                "ar_ssm has no tiling parameters");
    check_usage(checked({"sweep", "attention", "--export", "triton"}, "window"), "window is none");
    check_usage(checked({"sweep", "scan", "--export", "tritn"}, "block_size"), "Did you mean triton?");
    check_usage(settle_files(read({"sweep", "scan", "--export", "json", "--json"})->arguments), "--json");
    check_usage(settle_files(read({"sweep", "scan", "--export", "json", "--csv", "-"})->arguments), "--csv");
}

TEST_CASE("two documents cannot go to the same file", "[cli]") {
    const TemporaryFolder folder;
    const auto files_of = [](const std::vector<const char*>& words) {
        const auto reading = read(words);
        REQUIRE(reading);
        return settle_files(reading->arguments);
    };
    check_usage(files_of({"sweep", "scan", "--csv", "-", "--markdown", "-"}), "--markdown");
    check_usage(files_of({"sweep", "scan", "--json", "--csv", "-"}), "--csv");
    const std::string file = folder.file("a");
    check_usage(files_of({"sweep", "scan", "--csv", file.c_str(), "--json-file", file.c_str()}), "--csv");
    check_usage(files_of({"sweep", "scan", "--csv", (folder.path() + "/./a").c_str(), "--json-file",
                          folder.file("a").c_str()}),
                "--csv");
    CHECK(files_of({"sweep", "scan", "--csv", "-", "--json-file", file.c_str()})->to_standard_output);
    const std::string nowhere = folder.file("no/a");
    const auto missing = files_of({"sweep", "scan", "--csv", nowhere.c_str()});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().exit_code() == 1);
}

TEST_CASE("a picture's options are checked", "[cli]") {
    const TemporaryFolder folder;
    const std::string file = folder.file("a.png");
    const auto shot_of = [&](std::vector<const char*> words) {
        words.insert(words.begin(), {"shot", file.c_str()});
        const auto reading = read(words);
        REQUIRE(reading);
        return settle_shot(reading->arguments);
    };
    const auto shot = shot_of({"--size", "1280x720", "--theme", "light", "--scale", "2", "--panel", "Times",
                               "--family", "scan", "--set", "length=9"});
    REQUIRE(shot);
    CHECK(shot->width == 1280);
    CHECK(shot->height == 720);
    CHECK(shot->theme == "light");
    CHECK(shot->scale == 2);
    CHECK(shot->panel == "Times");
    CHECK(shot->request.parameters.integer("length") == 9);
    for (const char* size : {"1280", "1280x", "x720", "1280x720x", "1x1", "99999x99999", "-5x9", "axb"})
        check_usage(shot_of({"--size", size}), "--size");
    check_usage(shot_of({"--theme", "pink"}), "--theme = pink: not one of dark, light");
    check_usage(shot_of({"--scale", "3"}), "--scale = 3: expected a number from 1 to 2");
}

TEST_CASE("the nearest name is found and a far one is not", "[cli]") {
    const Names names{"length", "batch", "BLOCK_M", "op"};
    CHECK(nearest("lenght", names) == "length");
    CHECK(nearest("lengt", names) == "length");
    CHECK(nearest("sede", {"set", "seed"}) == "seed");
    CHECK(nearest("block_m", names) == "BLOCK_M");
    CHECK(nearest("channels", names).empty());
    CHECK(nearest("", names).empty());
}

TEST_CASE("long lines are broken at spaces", "[cli]") {
    CHECK(wrapped("one two three", 8, 2) == "one two\n  three");
    CHECK(wrapped("one", 2, 2) == "one");
    CHECK(wrapped("", 10, 2) == "");
    CHECK(wrapped("a bb ccc", 80, 2) == "a bb ccc");
}

TEST_CASE("a wide table is told in parts that start with its first column", "[cli]") {
    const Table table{{{"name", "", false}, {"one", ""}, {"two", ""}, {"three", ""}},
                      {{"a", "1", "2", "3"}, {"b", "10", "20", "30"}}};
    CHECK(plain_within(table, 80) == table.plain());
    CHECK(plain_within(table, 14) ==
          "name  one  two\n"
          "a       1    2\n"
          "b      10   20\n"
          "\n"
          "name  three\n"
          "a         3\n"
          "b        30\n");
    CHECK(plain_within(Table{}, 10) == Table{}.plain());
}
