// Read by Dear ImGui's header first (IMGUI_USER_CONFIG), wherever it is included.
#pragma once

#define IMGUI_DISABLE_DEMO_WINDOWS

// Assertions of Dear ImGui and ImPlot ask a function, which lies in the core that is linked: so ImPlot, the
// back ends and the window are compiled once for the program and for the tests.
void misuse_of_imgui(const char* condition, const char* file, int line);
#define IM_ASSERT(CONDITION) ((CONDITION) ? (void)0 : misuse_of_imgui(#CONDITION, __FILE__, __LINE__))
