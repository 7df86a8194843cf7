#include <cstdio>
#include <cstdlib>

#include "imgui_config.h"

// Ends the process in the tests and in debug builds, and passes in the program, like assert().
void misuse_of_imgui([[maybe_unused]] const char* condition, [[maybe_unused]] const char* file,
                     [[maybe_unused]] int line) {
#ifndef NDEBUG
    std::fprintf(stderr, "%s:%d: misuse of Dear ImGui or ImPlot: %s\n", file, line, condition);
    std::abort();
#endif
}
