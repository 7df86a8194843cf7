#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// The launches of a variant, column by column, because there may be thousands. Launches of one kind share
// their info. Columns without anything to tell are empty.
struct LaunchColumns {
    std::vector<std::shared_ptr<const LaunchInfo>> infos;
    std::vector<uint32_t> info;  // of each launch: an index of `infos`
    std::vector<double> start_us, duration_us;
    // The busy spans of all launches, one launch after another, and how many each has.
    std::vector<uint32_t> spans;
    std::vector<uint32_t> busy_worker;
    std::vector<double> busy_start_us, busy_end_us;
    std::vector<int64_t> combines, read, written;
    std::vector<Occupancy> occupancies;  // that differ
    std::vector<uint32_t> occupancy;     // of each launch: an index of `occupancies`
    // The launches that have counters, and these.
    std::vector<uint32_t> counted;
    std::vector<std::map<std::string, double>> counters;
};

LaunchColumns columns_of(const std::vector<LaunchRecord>& launches);
// nullopt: the columns do not fit together.
std::optional<std::vector<LaunchRecord>> launches_of(const LaunchColumns& columns);

}  // namespace sawtooth
