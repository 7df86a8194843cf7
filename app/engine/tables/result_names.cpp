#include "app/engine/tables/result_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/engine/run/run_rows.h"

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

std::string name_among(const Facts& facts, const std::vector<Facts>& others) {
    std::vector<std::string> parts;
    const auto differs = [&](size_t i) {
        return std::any_of(others.begin(), others.end(),
                           [&](const Facts& other) { return other[i].second != facts[i].second; });
    };
    for (size_t i = 0; i < facts.size(); ++i)
        if (differs(i)) parts.push_back(facts[i].first + facts[i].second);
    return parts.empty() ? "the same settings" : few_of(std::move(parts));
}

}  // namespace sawtooth
