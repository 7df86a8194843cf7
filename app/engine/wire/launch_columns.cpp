#include "app/engine/wire/launch_columns.h"

#include <algorithm>
#include <tuple>

namespace sawtooth {
namespace {

constexpr uint32_t most_workers = 1 << 20;

// A column that has nothing to tell is empty.
template <class T>
void drop_zeros(std::vector<T>& column) {
    if (std::all_of(column.begin(), column.end(), [](T value) { return value == 0; })) column.clear();
}

template <class T>
bool fits(const std::vector<T>& column, size_t count) {
    return column.empty() || column.size() == count;
}

template <class T>
T at(const std::vector<T>& column, size_t i) {
    return column.empty() ? T() : column[i];
}

}  // namespace

LaunchColumns columns_of(const std::vector<LaunchRecord>& launches) {
    LaunchColumns columns;
    std::map<const LaunchInfo*, uint32_t> infos;
    const auto parts = [](const Occupancy& each) {
        return std::tie(each.theoretical, each.achieved, each.limiter, each.blocks);
    };
    const auto is_less = [&](const Occupancy& a, const Occupancy& b) { return parts(a) < parts(b); };
    std::map<Occupancy, uint32_t, decltype(is_less)> occupancies(is_less);
    for (const auto& [info, start_us, duration_us, busy, tally, occupancy, counters] : launches) {
        const auto [place, is_new] = infos.emplace(info.get(), infos.size());
        if (is_new) columns.infos.push_back(info);
        columns.info.push_back(place->second);
        columns.start_us.push_back(start_us);
        columns.duration_us.push_back(duration_us);
        columns.spans.push_back(static_cast<uint32_t>(busy.size()));
        for (const BusySpan& span : busy) {
            columns.busy_worker.push_back(static_cast<uint32_t>(span.worker));
            columns.busy_start_us.push_back(span.start_us);
            columns.busy_end_us.push_back(span.end_us);
        }
        columns.combines.push_back(tally.combines);
        columns.read.push_back(tally.read);
        columns.written.push_back(tally.written);
        const auto [known, differs] = occupancies.emplace(occupancy, occupancies.size());
        if (differs) columns.occupancies.push_back(occupancy);
        columns.occupancy.push_back(known->second);
        if (counters.empty()) continue;
        columns.counted.push_back(static_cast<uint32_t>(columns.info.size() - 1));
        columns.counters.push_back(counters);
    }
    drop_zeros(columns.info);
    drop_zeros(columns.spans);
    drop_zeros(columns.combines);
    drop_zeros(columns.read);
    drop_zeros(columns.written);
    drop_zeros(columns.occupancy);
    return columns;
}

std::optional<std::vector<LaunchRecord>> launches_of(const LaunchColumns& columns) {
    const auto& [infos, info, start_us, duration_us, spans, busy_worker, busy_start_us, busy_end_us, combines,
                 read, written, occupancies, occupancy, counted, counters] = columns;
    const size_t count = start_us.size(), busy = busy_worker.size();
    const bool fit = duration_us.size() == count && fits(info, count) && fits(spans, count) &&
                     fits(combines, count) && fits(read, count) && fits(written, count) &&
                     fits(occupancy, count) && busy_start_us.size() == busy && busy_end_us.size() == busy &&
                     counted.size() == counters.size();
    if (!fit) return {};
    std::vector<LaunchRecord> launches(count);
    size_t first = 0;
    for (size_t i = 0; i < count; ++i) {
        LaunchRecord& launch = launches[i];
        const uint32_t kind = at(info, i), known = at(occupancy, i);
        if (kind >= infos.size() || !infos[kind] || known >= occupancies.size()) return {};
        launch.info = infos[kind];
        launch.start_us = start_us[i];
        launch.duration_us = duration_us[i];
        launch.tally = {at(combines, i), at(read, i), at(written, i)};
        launch.occupancy = occupancies[known];
        const size_t end = first + at(spans, i);
        if (end > busy) return {};
        launch.busy.reserve(end - first);
        for (; first < end; ++first) {
            if (busy_worker[first] >= most_workers) return {};
            launch.busy.push_back(
                {static_cast<int>(busy_worker[first]), busy_start_us[first], busy_end_us[first]});
        }
    }
    if (first != busy) return {};
    for (size_t i = 0; i < counted.size(); ++i) {
        if (counted[i] >= count) return {};
        launches[counted[i]].counters = counters[i];
    }
    return launches;
}

}  // namespace sawtooth
