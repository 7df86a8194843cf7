#include "app/engine/tables/main_launch.h"

#include <map>
#include <string_view>

namespace sawtooth {

const LaunchRecord* main_launch(const VariantResult& variant) {
    std::map<std::string_view, double> spent;
    for (const LaunchRecord& launch : variant.launches) spent[launch.info->name] += launch.duration_us;
    const LaunchRecord* most = nullptr;
    for (const LaunchRecord& launch : variant.launches)
        if (launch.info->resources && (!most || spent[launch.info->name] > spent[most->info->name]))
            most = &launch;
    return most;
}

}  // namespace sawtooth
