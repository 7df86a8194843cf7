#include "app/cli/completion.h"

#include <algorithm>

#include "app/cli/argument_tables.h"
#include "app/cli/settings.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/configure.h"
#include "kernels/core/nearest.h"

namespace sawtooth::cli {
namespace {

struct Candidate {
    std::string word, meaning;
};
using Candidates = std::vector<Candidate>;
using Families = std::vector<const Family*>;

Candidates of_names(const Names& names) {
    Candidates all;
    for (const std::string& name : names) all.push_back({name, ""});
    return all;
}

// What the words before the last one tell.
struct Typed {
    Command command = Command::window;
    Families families;                  // the families that were named
    const OptionRow* option = nullptr;  // the option whose value the last word is
    int positionals = 0;
};

const Family* family_named(const std::string& name) {
    const auto family = find_offered_family(name);
    return family ? *family : nullptr;
}

Typed read(const std::vector<std::string>& words) {
    Typed typed;
    for (const CommandRow& row : commands())
        if (words.size() > 1 && words.front() == row.name) typed.command = row.command;
    for (size_t i = typed.command == Command::window ? 0 : 1; i + 1 < words.size(); ++i) {
        const OptionRow* const taken = std::exchange(typed.option, nullptr);
        const bool is_option = !taken && words[i].starts_with("--");
        const OptionRow* const row = is_option ? find_option(typed.command, words[i]) : nullptr;
        if (row && row->takes != Takes::nothing) typed.option = row;
        const bool is_family = taken ? std::string_view(taken->name) == "--family" : !is_option;
        if (const Family* family = is_family ? family_named(words[i]) : nullptr)
            typed.families.push_back(family);
        typed.positionals += !taken && !is_option;
    }
    return typed;
}

Candidates subcommands() {
    Candidates all;
    for (const CommandRow& row : commands()) all.push_back({row.name, row.meaning});
    return all;
}

Candidates options_of(Command command) {
    Candidates all = {{"--help", "print this help"}};
    if (command == Command::window) all.push_back({"--version", "print the version"});
    for (const OptionRow& row : options())
        if (row.commands & bit(command)) all.push_back({row.name, row.meaning});
    return all;
}

Candidates family_candidates() {
    Candidates all;
    for (const Family* family : offered_families()) all.push_back({family->name, family->summary});
    return all;
}

Candidates values_of(const Parameter& row) {
    if (row.type == Type::boolean) return of_names({"true", "false"});
    Candidates all;
    for (const Value& choice : row.choices) all.push_back({to_text(choice), ""});
    if (!row.word.empty()) all.push_back({row.word, ""});
    return all;
}

// Completes NAME=VALUE of --set and --over, where several names may move together.
Candidates settings(const Families& chosen, const std::string& word) {
    Candidates all;
    const size_t equals = word.find('='), comma = word.rfind(',', equals);
    const std::string before = comma == std::string::npos ? "" : word.substr(0, comma + 1);
    for (const Family* family : chosen)
        for (const Parameter& row : family->parameters) {
            const std::string name = before + row.name + "=";
            if (equals == std::string::npos) all.push_back({name, row.meaning});
            if (word.starts_with(name))
                for (const Candidate& value : values_of(row)) all.push_back({name + value.word, row.meaning});
        }
    return all;
}

// Completes the value of an option; `so_far` is what is typed of it.
Candidates values(const OptionRow& row, const Typed& typed, const std::string& so_far) {
    const std::string_view name = row.name;
    const Families chosen = typed.families.empty() ? offered_families() : typed.families;
    Candidates all;
    if (name == "--family") return family_candidates();
    if (name == "--set" || name == "--over") return settings(chosen, so_far);
    if (name == "--a" || name == "--b") {
        all = settings(chosen, so_far);
        for (const std::string_view option : own_options_of_sides())
            all.push_back(
                {std::string(option) + "=", find_option(typed.command, "--" + std::string(option))->meaning});
        return all;
    }
    if (name == "--arch")
        for (const Chip& chip : chips()) all.push_back({chip.architecture, chip.name});
    for (const Family* family : chosen) {
        if (name == "--variant")
            for (const Variant& variant : family->variants) all.push_back({variant.name, variant.idea});
        if (name == "--preset")
            for (const std::string& preset : names_of_rows(family->presets)) all.push_back({preset, ""});
    }
    return all.empty() ? of_names(choices_of(row)) : all;
}

// Completes a word without a dash.
Candidates positional(const Typed& typed) {
    int place = 0;
    Candidates all;
    for (const PositionalRow& row : positionals()) {
        if (row.command != typed.command) continue;
        const bool is_here =
            typed.positionals == place || (row.takes == Takes::several && typed.positionals > place);
        if (is_here && std::string_view(row.name) == "FAMILY") all = family_candidates();
        ++place;
    }
    if (typed.command == Command::bench && typed.positionals == 0)
        all.insert(all.end(),
                   {{"window", "time the window instead"}, {"verdicts", "count wrong verdicts on speed"}});
    return all;
}

Candidates candidates(const std::vector<std::string>& words) {
    const std::string& last = words.back();
    const Typed typed = read(words);
    if (typed.option) return values(*typed.option, typed, last);
    const size_t equals = last.find('=');
    if (last.starts_with("--") && equals != std::string::npos) {
        const std::string option = last.substr(0, equals);
        const OptionRow* const row = find_option(typed.command, option);
        if (!row || row->takes == Takes::nothing) return {};
        Candidates all = values(*row, typed, last.substr(equals + 1));
        for (Candidate& candidate : all) candidate.word = option + "=" + candidate.word;
        return all;
    }
    if (last.starts_with('-')) return options_of(typed.command);
    if (words.size() == 1) return subcommands();
    return positional(typed);
}

}  // namespace

std::string completions(const std::vector<std::string>& words) {
    std::string lines;
    if (words.empty()) return lines;
    Names said;
    for (const Candidate& candidate : candidates(words)) {
        const bool is_new = std::find(said.begin(), said.end(), candidate.word) == said.end();
        if (!is_new || !candidate.word.starts_with(words.back())) continue;
        lines += candidate.word + "\t" + candidate.meaning + "\n";
        said.push_back(candidate.word);
    }
    return lines;
}

}  // namespace sawtooth::cli
