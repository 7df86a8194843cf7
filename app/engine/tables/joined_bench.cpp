#include "app/engine/tables/joined_bench.h"

#include <algorithm>

namespace sawtooth {
namespace {

// "a; b": a text that differs among reports.
void add_text(std::vector<std::string>& texts, const std::string& text) {
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

std::string listed(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : "; ") + text;
    return list;
}

}  // namespace

BenchReport joined(const std::vector<BenchReport>& reports) {
    BenchReport all;
    std::vector<std::string> devices, versions;
    for (const BenchReport& report : reports) {
        add_text(devices, report.device);
        add_text(versions, report.version);
        for (const std::string& note : report.notes) add_text(all.notes, note);
        all.rows.insert(all.rows.end(), report.rows.begin(), report.rows.end());
        if (all.date.empty()) all.date = report.date;
        all.repeats = report.repeats;
        all.cache = report.cache;
        if (!all.ended) all.ended = report.ended;
    }
    all.device = listed(devices);
    all.version = listed(versions);
    return all;
}

}  // namespace sawtooth
