// Finds the monitor of a window on Wayland, for which GLFW has no function: a window has no position there, but the
// compositor reports which outputs it is on. GLFW is pinned, so its internal header fits.
#include "internal.h"

GLFWmonitor* wayland_monitor_of(GLFWwindow* handle) {
    const _GLFWwindow* const window = (const _GLFWwindow*)handle;
    for (size_t on = 0; on < window->wl.outputScaleCount; ++on)
        for (int i = 0; i < _glfw.monitorCount; ++i)
            if (_glfw.monitors[i]->wl.output == window->wl.outputScales[on].output) return (GLFWmonitor*)_glfw.monitors[i];
    return NULL;
}
