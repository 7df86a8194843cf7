// The row that offers the session of a window that was killed.

#include <imgui.h>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/session_autosave.h"

namespace sawtooth {
namespace {

constexpr const char *accept = "Restore", *discard = "Discard";

}  // namespace

float restore_row_height(const LabState& lab) {
    return lab.session.offer ? ImGui::GetFrameHeight() + units(8) : 0;
}

void draw_restore_row(LabState& lab) {
    const float whole = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
    const float buttons = button_width(accept) + button_width(discard) + units(8);
    ImGui::AlignTextToFramePadding();
    elided_text(lab.session.offer->words + " Restore its results, pins and sweeps? Nothing runs.",
                whole - buttons - units(16));
    ImGui::SameLine(left + whole - buttons, 0);
    const bool accepted = ImGui::Button(accept);
    tooltip("Shows the results of that session in place of the present ones.");
    ImGui::SameLine(0, units(8));
    const bool discarded = ImGui::Button(discard);
    tooltip("Deletes the autosaved session. Until then it is offered at every start.");
    if (accepted) restore_session(lab);
    if (discarded) discard_offered_session(lab);
}

}  // namespace sawtooth
