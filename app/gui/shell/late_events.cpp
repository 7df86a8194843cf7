#include "app/gui/shell/late_events.h"

#include <imgui_internal.h>

#include <algorithm>
#include <vector>

namespace sawtooth {
namespace {

bool is_modifier(ImGuiKey key) { return (key & ImGuiMod_Mask_) != 0 || ImGui::IsLRModKey(key); }

}  // namespace

void without_late_events(const std::function<void()>& new_frame) {
    ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
    bool is_modified = false;  // an event that a modifier may change comes before
    bool has_moved = false;    // a move of the mouse comes before
    const auto is_late = [&](const ImGuiInputEvent& event) {
        has_moved = has_moved || event.Type == ImGuiInputEventType_MousePos;
        if (event.Type == ImGuiInputEventType_MouseButton) return has_moved && event.MouseButton.Down;
        const bool modifier = event.Type == ImGuiInputEventType_Key && is_modifier(event.Key.Key);
        is_modified = is_modified || event.Type == ImGuiInputEventType_MouseWheel ||
                      (event.Type == ImGuiInputEventType_Key && event.Key.Down && !modifier);
        return is_modified && modifier && !event.Key.Down;
    };
    auto* const first = std::find_if(queue.begin(), queue.end(), is_late);
    const std::vector<ImGuiInputEvent> late(first, queue.end());
    queue.resize(static_cast<int>(first - queue.begin()));
    new_frame();
    for (const ImGuiInputEvent& event : late) queue.push_back(event);
}

}  // namespace sawtooth
