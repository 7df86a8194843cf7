#include "app/gui/state/result_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/state/run_rows.h"

namespace sawtooth {

Facts facts_of(const Family& family, const Request& request, const Parameters& parameters,
               const std::string& device) {
    Facts facts;
    for (const Parameter& row : family.parameters)
        if (row.renews != Renews::figures)
            facts.emplace_back(row.name + " ",
                               parameters.has(row.name) ? to_text(parameters.at(row.name)) : "");
    for (const Parameter& row : run_rows())
        facts.emplace_back(row.name + " ", to_text(run_value(request, row.name)));
    facts.emplace_back("", device.substr(0, device.find(',')));
    return facts;
}

Facts facts_of(const Family& family, const Result& result) {
    return facts_of(family, result.request, result.parameters, result.device);
}

std::string few_of(std::vector<std::string> names) {
    constexpr size_t most = 3;
    const bool has_more = names.size() > most;
    names.resize(std::min(names.size(), most));
    return fmt::format("{}{}", fmt::join(names, ", "), has_more ? ", …" : "");
}

Snapshot settings_of_request(const Family& family, Request request) {
    Snapshot settings{&family, std::move(request), {}, {}, {}, ""};
    const std::vector<std::string>& chosen = settings.request.variants;
    if (!chosen.empty())
        for (const Variant& variant : family.variants)
            if (std::find(chosen.begin(), chosen.end(), variant.name) == chosen.end())
                settings.disabled_variants.insert(variant.name);
    settings.request.variants.clear();
    return settings;
}

Snapshot settings_of_result(const LabState& lab, const Result& result) {
    Snapshot settings = settings_of_request(*lab.family, result.request);
    settings.tried = lab.tried;
    if (settings.request.input == lab.request.input) {
        settings.given = lab.given;
        settings.fixed = lab.fixed;
    }
    return settings;
}

}  // namespace sawtooth
