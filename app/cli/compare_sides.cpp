// The two sides of a comparison, from the command line.

#include <algorithm>
#include <string_view>

#include "app/cli/settings.h"
#include "app/engine/run/configure.h"

namespace sawtooth::cli {
namespace {

// No parameter has such a name.
constexpr std::string_view own_options[] = {"variant", "preset", "backend", "device", "threads", "kernels"};

bool is_option(std::string_view name) {
    return std::find(std::begin(own_options), std::end(own_options), name) != std::end(own_options);
}

// The name of the parameter that a setting NAME=VALUE means; "" if there is none, which `settle` will report.
std::string parameter_of(const Family& family, const std::string& setting) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) return "";
    const auto parsed = parse_setting(family, setting.substr(0, equals), setting.substr(equals + 1));
    return parsed ? parsed->first : "";
}

// The arguments of one side: what is set for it alone replaces what is set for both.
Outcome<Arguments> arguments_of(const Arguments& both, const std::string& side, const Family& family) {
    Arguments own = both;
    std::vector<std::string> settings;
    std::map<std::string, std::vector<std::string>> options;
    for (const std::string& text : both.values(side)) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
            return Error::usage(side + " " + text + ": expected NAME=VALUE");
        const std::string name = text.substr(0, equals);
        if (!is_option(name))
            settings.push_back(text);
        else
            options["--" + name].push_back(text.substr(equals + 1));
    }
    for (auto& [name, values] : options) {
        if (name != "--variant" && values.size() > 1)
            return Error::usage(side + " " + name.substr(2) + ": given more than once");
        own.options[name] = std::move(values);
    }
    std::vector<std::string>& all = own.options["--set"];
    std::erase_if(all, [&](const std::string& shared) {
        const std::string name = parameter_of(family, shared);
        return !name.empty() &&
               std::any_of(settings.begin(), settings.end(),
                           [&](const std::string& setting) { return parameter_of(family, setting) == name; });
    });
    all.insert(all.end(), settings.begin(), settings.end());
    return own;
}

}  // namespace

std::span<const std::string_view> own_options_of_sides() { return own_options; }

Outcome<std::pair<Settings, Settings>> settle_sides(const Arguments& arguments) {
    if (!arguments.has("--a") && !arguments.has("--b"))
        return Error::usage(
            "compare needs what B has instead of A: --b NAME=VALUE, like --b block_size=512; see sawtooth "
            "compare "
            "--help");
    const auto family = find_offered_family(arguments.families.front());
    if (!family) return family.error();
    const auto settled = [&](const char* side) -> Outcome<Settings> {
        const auto own = arguments_of(arguments, side, **family);
        if (!own) return own.error();
        return settle(*own);
    };
    auto a = settled("--a");
    if (!a) return a.error();
    auto b = settled("--b");
    if (!b) return b.error();
    if (a->request.variants.empty() != b->request.variants.empty())
        return Error::usage("variant is set for one side only: give --a variant=NAME and --b variant=NAME");
    return std::pair(std::move(*a), std::move(*b));
}

}  // namespace sawtooth::cli
