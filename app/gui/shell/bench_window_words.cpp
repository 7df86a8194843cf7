#include "app/gui/shell/bench_window_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/figures/comparison.h"

namespace sawtooth {
namespace {

std::string row_of(const std::string& name, const SpreadMs& spread, const std::string& badge = "") {
    return fmt::format("{:<36}{:9.1f}{:9.1f}{:9.1f}{:9.1f}{}{}\n", name, spread.median, spread.q1, spread.q3,
                       spread.worst, badge.empty() ? "" : "  ", badge);
}

std::string row_with_badge(const std::string& name, const SpreadMs& spread) {
    return row_of(name, spread, unstable_badge({spread.median, spread.q1, spread.q3}));
}

std::string quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) >= ' ') quoted += c;
    }
    return quoted + '"';
}

std::string json_of(const SpreadMs& spread) {
    return fmt::format(R"({{"median": {:.3f}, "q1": {:.3f}, "q3": {:.3f}, "worst": {:.3f}}})", spread.median,
                       spread.q1, spread.q3, spread.worst);
}

std::string json_of(const std::optional<SpreadMs>& spread) { return spread ? json_of(*spread) : "null"; }

// The JSON of every element, separated by commas.
template <class T, class Write>
std::string list_of(const std::vector<T>& items, const Write& write) {
    std::string text;
    for (const T& item : items) text += (text.empty() ? "" : ", ") + write(item);
    return "[" + text + "]";
}

std::string json_of(const SliderBench& slider) {
    const std::string hops = list_of(slider.hops, [](const auto& hop) {
        return fmt::format(R"({{"name": {}, "ms": {}}})", quoted(hop.first), json_of(hop.second));
    });
    return fmt::format(R"({{"moved": {}, "how": {}, "outputs_ms": {}, "times_ms": {}, "hops": {}}})",
                       quoted(slider.moved), quoted(slider.how), json_of(slider.outputs),
                       json_of(slider.times), hops);
}

std::string json_of(const std::optional<PinsBench>& pins) {
    if (!pins) return "null";
    return fmt::format(R"({{"pin_ms": {}, "frame_ms": {}, "look_ms": {}}})", json_of(pins->pin),
                       json_of(pins->frame), json_of(pins->look));
}

std::string json_of(const FamilyBench& family) {
    return fmt::format(
        R"({{"family": {}, "device": {}, "frame_ms": {}, "sliders": {}, "pins": {}, "note": {}, "problem": {}}})",
        quoted(family.name), quoted(family.device), json_of(family.frame),
        list_of(family.sliders, [](const SliderBench& slider) { return json_of(slider); }),
        json_of(family.pins), quoted(family.note), quoted(family.problem));
}

}  // namespace

SpreadMs spread_of(std::vector<double> ms) {
    std::sort(ms.begin(), ms.end());
    const auto at = [&](size_t quarters) { return ms[(ms.size() - 1) * quarters / 4]; };
    return {at(2), at(1), at(3), ms.back()};
}

std::string heading_of(const WindowBench& bench) {
    return fmt::format("the window at {}x{}, off screen\n{:<36}{:>9}{:>9}{:>9}{:>9}\n", bench.width,
                       bench.height, "milliseconds", "median", "1/4", "3/4", "worst");
}

std::string heading_of(const FamilyBench& family) {
    return family.name + (family.device.empty() ? "" : " on " + family.device) + "\n";
}

std::string frame_words(const SpreadMs& frame) { return row_with_badge("  frame with results", frame); }

std::string words_of(const SliderBench& slider) {
    std::string text = "  " + slider.moved + " " + slider.how + "\n" +
                       row_with_badge("    slider to outputs and errors", slider.outputs);
    for (const auto& [name, spread] : slider.hops) text += row_of("      " + name, spread);
    return slider.times ? text + row_with_badge("    slider to times", *slider.times) : text;
}

std::string words_of(const PinsBench& pins) {
    return "  with eight pinned results\n" + row_of("    frame that pins one", pins.pin) +
           row_with_badge("    frame", pins.frame) + row_with_badge("    zoom to new figures", pins.look);
}

std::string idle_words(double share) { return fmt::format("idle: {:.2f} % of a core\n", share * 100); }

std::string json_of(const WindowBench& bench) {
    return fmt::format(R"({{"width": {}, "height": {}, "families": {}, "idle_share": {:.5f}}})"
                       "\n",
                       bench.width, bench.height,
                       list_of(bench.families, [](const FamilyBench& family) { return json_of(family); }),
                       bench.idle_share);
}

}  // namespace sawtooth
