#include "app/gui/state/local_time.h"

namespace sawtooth {

std::string local_time(std::time_t seconds) {
    const std::time_t now = std::time(nullptr);
    std::tm local{}, today{};
    localtime_r(&seconds, &local);
    localtime_r(&now, &today);
    const bool is_today = local.tm_yday == today.tm_yday && local.tm_year == today.tm_year;
    char text[32];
    std::strftime(text, sizeof text, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &local);
    return text;
}

}  // namespace sawtooth
