#include "app/cli/argument_tables.h"

#include <algorithm>

namespace sawtooth::cli {
namespace {

constexpr CommandRow command_rows[] = {
    {Command::list, "list", "Show families with their variants, parameters and arrays."},
    {Command::run, "run", "Run one configuration; print times, errors and occupancy of every variant."},
    {Command::sweep, "sweep", "Run every combination of the values of one or two parameters."},
    {Command::join, "join", "Make one sweep of its shards; print its table and the missing cells."},
    {Command::check, "check", "Try settings on which wrong kernels fail; show the smallest one that fails."},
    {Command::compare, "compare",
     "Tell whether B is slower than A: two settings of a family, run in turns, or two session files. Exit "
     "code: "
     "0 same or faster, 3 slower, 4 an output is wrong, 5 cannot tell."},
    {Command::report, "report",
     "Run families at their defaults, or one as set, and write DIR/index.html with summary, figures and "
     "tables."},
    {Command::open, "open", "Open the window with the results of a session file. Nothing runs."},
    {Command::shot, "shot", "Save a picture of the window. No display is needed."},
    {Command::bench, "bench",
     "Time the fixed cases of families against what limits them: bytes, arithmetic or steps."},
    {Command::devices, "devices", "Show processors and GPUs, and whether counters can be read."},
    {Command::worker, "worker", "Compute for another sawtooth over standard input and output (see --on)."},
};

constexpr unsigned window = bit(Command::window), list = bit(Command::list), run = bit(Command::run),
                   sweep = bit(Command::sweep), join = bit(Command::join), check = bit(Command::check),
                   compare = bit(Command::compare), report = bit(Command::report), open = bit(Command::open),
                   shot = bit(Command::shot), bench = bit(Command::bench), devices = bit(Command::devices),
                   worker = bit(Command::worker);
constexpr unsigned recording = run | sweep | bench | report | shot, measuring = recording | compare;
constexpr unsigned one_configuration = run | sweep | shot | report | compare;
constexpr unsigned divisible = sweep | check | report | bench;

constexpr OptionRow option_rows[] = {
    {"--family", Takes::one, "FAMILY", "family to show (the first of the list)", window | shot},
    {"--over", Takes::several, "NAME=VALUES",
     "parameter to sweep, by name or title, and its values: 16,64 or 16..256 (powers of two or even steps), "
     "16..256x2, 64..512+64, or a mixture; NAME,NAME=VALUES moves several together; one or two axes",
     sweep},
    {"--best", Takes::nothing, "",
     "search for the fastest: few repeats for all cells, more for those that may be the fastest", sweep},
    {"--export", Takes::one, "json|triton", "print the fastest values instead of the table", sweep},
    {"--shard", Takes::one, "K/N",
     "measure only the K-th of N parts of the sweep, which cost about the same; needs --session", sweep},
    {"--session", Takes::one, "FILE.sawtooth",
     "add the sweep to this session, or the cells that its sweep lacks; it is created if it does not exist",
     join},
    {"--resume", Takes::nothing, "",
     "keep the results that the file of --session has, and measure the other cells", sweep},
    {"--set", Takes::several, "NAME=VALUE",
     "set a parameter by its name or title; numbers may be written 2k, 4*1024 or 2^12; repeatable",
     one_configuration},
    {"--a", Takes::several, "NAME=VALUE",
     "what A alone has: a parameter, or variant, preset, backend, device, threads or kernels; repeatable",
     compare},
    {"--b", Takes::several, "NAME=VALUE", "what B alone has, like block_size=512 or kernels=DIR; repeatable",
     compare},
    {"--preset", Takes::one, "NAME", "start from these values instead of the defaults", one_configuration},
    {"--variant", Takes::several, "V", "run only this variant; repeatable (all that the backend has)",
     one_configuration | check},
    {"--input", Takes::one, "FILE.npz", "read input arrays by name; the others are generated",
     one_configuration},
    {"--output", Takes::one, "FILE.npz", "write inputs, outputs of every variant and the reference", run},
    {"--trace", Takes::one, "FILE.json",
     "write launches, busy workers and sampled counters as a trace that Perfetto opens", run},
    {"--session", Takes::one, "FILE.sawtooth",
     "add the results to this session; it is created if it does not exist", run | sweep | bench | report},
    {"--from", Takes::one, "FILE.sawtooth",
     "write the results of this session; nothing runs, and wrong results in it are no failure", report},
    {"--size", Takes::one, "WxH", "size of the picture in pixels (1600x900; a panel: as high as it needs)",
     shot},
    {"--panel", Takes::one, "NAME", "draw only this panel", shot},
    {"--theme", Takes::one, "dark|light", "colour theme", window | open | shot},
    {"--scale", Takes::one, "S", "size of text and controls, 1 to 2", window | open | shot},
    {"--backend", Takes::one, "cpu|cuda|auto",
     "where the kernels run (cpu; check with --kernels or --sanitize: cuda)", measuring | check},
    {"--device", Takes::one, "N", "index of the GPU (0)", measuring | check | window | open},
    {"--threads", Takes::one, "N", "CPU worker threads (one per core)", measuring | check | window | open},
    {"--seed", Takes::one, "N", "seed of generated inputs, or of the settings that check draws (1)",
     measuring | check},
    {"--values", Takes::one, "usual|zeros|denormals|huge|infinity|nan",
     "numbers among generated inputs (usual)", one_configuration},
    {"--optional", Takes::nothing, "", "generate optional inputs too, such as initial states",
     one_configuration},
    {"--repeat", Takes::one, "N", "timed repeats, of compare in each of its 9 rounds (9)", measuring},
    {"--trials", Takes::one, "N", "comparisons of bench verdicts, on a quiet and on a busy machine (1000)",
     bench},
    {"--cache", Takes::one, "cold|hot", "state of the caches before every repeat (cold)", measuring},
    {"--profile", Takes::one, "none|timeline|counters|sampling",
     "what is recorded of every launch (timeline)", recording},
    {"--time-limit", Takes::one, "SECONDS", "stop a run that takes longer (none; window: 10)",
     measuring | window | open},
    {"--memory-limit", Takes::one, "BYTES", "refuse a run that needs more, like 512MiB (free memory)",
     measuring},
    {"--arch", Takes::one, "sm_XX",
     "also compile for this chip and show registers and occupancy; no GPU needed", recording},
    {"--kernels", Takes::one, "DIR", "read .cu files from DIR/kernels instead of the built-in ones",
     measuring | check | window | open},
    {"--jitter", Takes::one, "N",
     "compile for a GPU so that threads wait at random times, of seed N, around barriers (0: not)", run},
    {"--multiprocessors", Takes::one, "N",
     "plan launches as for a GPU with at most N multiprocessors, which give each more work (0: all)", run},
    {"--on", Takes::one, "COMMAND", "run in the worker this starts, like \"ssh HOST sawtooth worker\"",
     run | devices | window | open},
    {"--on", Takes::several, "COMMAND",
     "run in the worker this starts, like \"ssh HOST sawtooth worker\"; repeatable: several workers share "
     "the cells of a sweep, or the families",
     divisible},
    {"--on-file", Takes::one, "HOSTS", "the commands of several workers, one a line; # begins a comment",
     divisible},
    {"--recording", Takes::one, "NAME", "show the recorded times of a GPU beside outputs of this CPU",
     run | sweep | report | shot | window},
    {"--cache-dir", Takes::one, "DIR", "folder for compiled kernels and measured limits",
     measuring | check | window | open | worker | devices},
    {"--measure", Takes::nothing, "", "measure the limits of the CPU and of the first GPU, and keep the best",
     devices},
    {"--seconds", Takes::one, "S",
     "check each family for S seconds (default: until every setting of its battery was tried once)", check},
    {"--sanitize", Takes::nothing, "",
     "run a few settings of each variant under the tools of compute-sanitizer; needs a GPU", check},
    {"--first", Takes::nothing, "", "end the check of a family at its first wrong variant", check},
    {"--pictures", Takes::one, "DIR", "write what a wrong variant computed and should have as SVG files",
     check},
    {"--allow-wrong", Takes::nothing, "", "exit with 0 even if a variant computes wrong outputs",
     run | sweep | join | check | report | bench},
    {"--json", Takes::nothing, "", "print one JSON document and nothing else",
     list | run | sweep | join | check | compare | report | shot | bench | devices},
    {"--json-file", Takes::one, "FILE", "write the JSON document ('-': standard output)",
     sweep | join | bench},
    {"--csv", Takes::one, "FILE", "write the table as CSV ('-': standard output)", sweep | join | bench},
    {"--markdown", Takes::one, "FILE", "write the table as Markdown ('-': standard output)",
     sweep | join | bench | compare},
    {"--junit", Takes::one, "FILE", "write the verdicts as JUnit XML ('-': standard output)", compare},
};

constexpr PositionalRow positional_rows[] = {
    {Command::list, "FAMILY", Takes::several, "families to show (all)"},
    {Command::run, "FAMILY", Takes::one, "family, as in `sawtooth list`"},
    {Command::sweep, "FAMILY", Takes::one, "family, as in `sawtooth list`"},
    {Command::join, "SESSION", Takes::several, "files that sweep --session wrote, of the same sweep"},
    {Command::check, "FAMILY", Takes::several, "families to check (all)"},
    {Command::compare, "FAMILY", Takes::several,
     "family whose settings are compared by --a and --b, or two files A.sawtooth B.sawtooth"},
    {Command::report, "DIR", Takes::one, "folder of the report; created if it does not exist"},
    {Command::report, "FAMILY", Takes::several, "families to run (all); one with --set"},
    {Command::open, "FILE.sawtooth", Takes::one, "session file to open"},
    {Command::shot, "FILE.png", Takes::one, "file to write"},
    {Command::bench, "FAMILY", Takes::several,
     "families to time (all); 'window' before them times the window instead, 'verdicts' alone counts wrong "
     "verdicts on "
     "speed"},
};

}  // namespace

std::span<const CommandRow> commands() { return command_rows; }
std::span<const OptionRow> options() { return option_rows; }
std::span<const PositionalRow> positionals() { return positional_rows; }

const char* name_of(Command command) {
    for (const CommandRow& row : command_rows)
        if (row.command == command) return row.name;
    return "sawtooth";
}

const OptionRow* find_option(Command command, std::string_view name) {
    for (const OptionRow& row : option_rows)
        if (row.name == name && (row.commands & bit(command))) return &row;
    return nullptr;
}

std::vector<std::string> choices_of(const OptionRow& row) {
    std::vector<std::string> choices;
    std::string_view rest = row.value;
    while (rest.find('|') != std::string_view::npos || !choices.empty()) {
        const size_t end = std::min(rest.find('|'), rest.size());
        choices.emplace_back(rest.substr(0, end));
        if (end == rest.size()) break;
        rest.remove_prefix(end + 1);
    }
    return choices;
}

}  // namespace sawtooth::cli
