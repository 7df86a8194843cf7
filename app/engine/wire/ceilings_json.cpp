#include "app/engine/wire/ceilings_json.h"

#include "app/engine/wire/json_values.h"

namespace sawtooth {

Json ceilings_of(const Ceilings& ceilings) {
    Json object = {{"processor", ceilings.processor},
                   {"date", ceilings.date},
                   {"driver", ceilings.driver},
                   {"clock_mhz", ceilings.clock_mhz > 0 ? number(ceilings.clock_mhz) : Json()},
                   {"threads", ceilings.threads},
                   {"copy_bytes_per_second", number(ceilings.copy_bytes_per_second)},
                   {"triad_bytes_per_second", number(ceilings.triad_bytes_per_second)},
                   {"operations_per_second", number(ceilings.operations_per_second)},
                   {"launch_us", number(ceilings.launch_us)},
                   {"gpu", nullptr}};
    if (const auto& gpu = ceilings.gpu)
        object["gpu"] = {{"bf16_operations_per_second", number(gpu->bf16_operations_per_second)},
                         {"l2_read_bytes_per_second", number(gpu->l2_read_bytes_per_second)},
                         {"launch_stream_us", number(gpu->launch_stream_us)},
                         {"launch_graph_us", number(gpu->launch_graph_us)},
                         {"launch_programmatic_us",
                          gpu->launch_programmatic_us ? number(*gpu->launch_programmatic_us) : Json()}};
    return object;
}

std::string ceilings_json(const Ceilings& ceilings) { return text_of(ceilings_of(ceilings)); }

std::optional<Ceilings> parse_ceilings(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return {};
    bool whole = true;
    const auto take = [&](const Json& object, const char* key, auto& to) {
        const auto found = object.find(key);
        using Wanted = std::decay_t<decltype(to)>;
        const bool fits = found != object.end() &&
                          (std::is_same_v<Wanted, std::string> ? found->is_string() : found->is_number());
        if (fits) to = found->template get<Wanted>();
        whole = whole && fits;
        constexpr double most = 1e18;  // far above any machine; excludes NaN and infinity, too
        if constexpr (std::is_arithmetic_v<Wanted>)
            whole = whole && to >= 0 && static_cast<double>(to) < most;
    };
    Ceilings ceilings;
    take(json, "processor", ceilings.processor);
    take(json, "date", ceilings.date);
    take(json, "driver", ceilings.driver);
    if (const auto clock = json.find("clock_mhz"); clock == json.end() || !clock->is_null())
        take(json, "clock_mhz", ceilings.clock_mhz);
    take(json, "threads", ceilings.threads);
    take(json, "copy_bytes_per_second", ceilings.copy_bytes_per_second);
    take(json, "triad_bytes_per_second", ceilings.triad_bytes_per_second);
    take(json, "operations_per_second", ceilings.operations_per_second);
    take(json, "launch_us", ceilings.launch_us);
    if (const auto gpu = json.find("gpu"); gpu != json.end() && gpu->is_object()) {
        GpuCeilings of_gpu;
        take(*gpu, "bf16_operations_per_second", of_gpu.bf16_operations_per_second);
        take(*gpu, "l2_read_bytes_per_second", of_gpu.l2_read_bytes_per_second);
        take(*gpu, "launch_stream_us", of_gpu.launch_stream_us);
        take(*gpu, "launch_graph_us", of_gpu.launch_graph_us);
        if (const auto known = gpu->find("launch_programmatic_us"); known == gpu->end() || !known->is_null())
            take(*gpu, "launch_programmatic_us", of_gpu.launch_programmatic_us.emplace());
        ceilings.gpu = of_gpu;
    }
    const bool is_measured = ceilings.copy_bytes_per_second > 0 && ceilings.triad_bytes_per_second > 0 &&
                             ceilings.operations_per_second > 0;
    if (!whole || !is_measured) return {};
    return ceilings;
}

}  // namespace sawtooth
