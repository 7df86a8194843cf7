// Included first by Dear ImGui's header (IMGUI_USER_CONFIG).
#pragma once

#define IMGUI_DISABLE_DEMO_WINDOWS

// Assertions of Dear ImGui and ImPlot call a function of the linked core, so that ImPlot, the back ends and
// the window are compiled once for the program and the tests.
void misuse_of_imgui(const char* condition, const char* file, int line);
#define IM_ASSERT(CONDITION) ((CONDITION) ? (void)0 : misuse_of_imgui(#CONDITION, __FILE__, __LINE__))
