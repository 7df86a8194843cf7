#include "app/gui/state/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/figures/counters.h"
#include "kernels/figures/timeline.h"

namespace sawtooth {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

int64_t count_of(const Extent& extent) { return extent.x * extent.y * extent.z; }

// An extent in words: "64 x 4".
std::string text_of(const Extent& extent) {
    std::string text = std::to_string(extent.x);
    if (extent.y > 1 || extent.z > 1) text += fmt::format(" x {}", extent.y);
    if (extent.z > 1) text += fmt::format(" x {}", extent.z);
    return text;
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

void add_shape(const LaunchInfo& info, bool on_gpu, Facts& facts) {
    const auto of_extent = [](const Extent& extent, std::string_view noun) {
        return text_of(extent) + " " + std::string(noun) + (extent == Extent{} ? "" : "s");
    };
    std::string grid = of_extent(info.grid, on_gpu ? "block" : "item");
    if (!info.grid_formula.empty()) grid += " = " + info.grid_formula;
    facts.emplace_back("grid", grid);
    if (on_gpu) facts.emplace_back("block", of_extent(info.block, "thread"));
}

void add_resources(const Resources& resources, Facts& facts) {
    facts.emplace_back("registers", fmt::format("{} per thread", resources.registers));
    facts.emplace_back("shared", short_bytes(static_cast<double>(resources.shared_bytes)) + " per block");
    if (resources.spill_bytes > 0)
        facts.emplace_back("spilled",
                           short_bytes(static_cast<double>(resources.spill_bytes)) + " per thread");
}

// What limits the occupancy: ", limited by registers"; "" if that is unknown.
std::string words_of_limit(const Occupancy& occupancy) {
    if (*occupancy.theoretical >= 1) return ", warp slots full";
    if (occupancy.limiter.empty()) return "";
    return (*occupancy.theoretical > 0 ? ", limited by " : ", ") + occupancy.limiter;
}

void add_occupancy(const Occupancy& occupancy, Facts& facts) {
    if (occupancy.theoretical)
        facts.emplace_back("occupancy",
                           percent(*occupancy.theoretical) + " theoretical" + words_of_limit(occupancy));
    if (occupancy.achieved) facts.emplace_back("achieved", percent(*occupancy.achieved));
}

// The counters by section, under a row with the name of the section.
void add_counters(const LaunchRecord& launch, Facts& facts) {
    std::optional<CounterSection> section;
    for (const Counter& counter : counters()) {
        const auto found = launch.counters.find(counter.key);
        if (found == launch.counters.end()) continue;
        if (section != counter.section) facts.emplace_back(name_of(counter.section), "");
        section = counter.section;
        facts.emplace_back(counter.key, short_number(found->second));
    }
    for (const auto& [key, value] : launch.counters)  // of another build
        if (!find_counter(key)) facts.emplace_back(key, short_number(value));
}

// Names and shapes: "x [2, 4096], y [2, 4096]".
std::string text_of(const std::vector<Buffer>& arrays) {
    std::string text;
    for (const Buffer& array : arrays)
        text += (text.empty() ? "" : ", ") + array.name + " " + to_text(array.shape);
    return text;
}

}  // namespace

const LaunchRecord* launch_of(const Result& result, const Tracks::Track& track, const Tracks::Span& span) {
    if (track.ink.role != Ink::Role::variant) return nullptr;
    const LaunchRecord* nearest = nullptr;
    const auto distance = [&](const LaunchRecord& launch) {
        return std::fabs(work_of(launch).low - span.start);
    };
    for (const VariantResult& variant : result.variants) {
        if (variant.index != track.ink.index) continue;
        for (const LaunchRecord& launch : variant.launches)
            if (launch.info->name == span.label && (!nearest || distance(launch) < distance(*nearest)))
                nearest = &launch;
    }
    constexpr double same = 1e-3;  // in microseconds
    return nearest && distance(*nearest) <= same ? nearest : nullptr;
}

Facts facts_of(const LaunchRecord& launch, int processors) {
    const LaunchInfo& info = *launch.info;
    const bool on_gpu = info.resources || count_of(info.block) > 1;
    Facts facts;
    if (!info.meaning.empty()) facts.emplace_back("does", info.meaning);
    if (!launch.busy.empty())
        facts.emplace_back("whole launch", short_time(launch.duration_us) + ", including waking the workers");
    add_shape(info, on_gpu, facts);
    if (!info.reads.empty()) facts.emplace_back("reads", text_of(info.reads));
    if (!info.writes.empty()) facts.emplace_back("writes", text_of(info.writes));
    if (info.resources) add_resources(*info.resources, facts);
    if (info.scratch_bytes > 0)
        facts.emplace_back("scratch", short_bytes(static_cast<double>(info.scratch_bytes)) + " per worker");
    add_occupancy(launch.occupancy, facts);
    if (info.work.bytes > 0 && launch.duration_us > 0)
        facts.emplace_back(
            "bandwidth",
            fmt::format("{} GB/s, {}", short_number(info.work.bytes / (launch.duration_us * 1e3)),
                        short_bytes(info.work.bytes)));
    if (const auto limit = limit_of(launch, processors))
        facts.emplace_back("limited by", fmt::format("{}: {}", name_of(limit->by), limit->words));
    add_counters(launch, facts);
    return facts;
}

}  // namespace sawtooth
