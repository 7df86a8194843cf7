#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/gui/shell/frame.h"
#include "app/gui/shell/framebuffer.h"
#include "app/gui/shell/graphics.h"

namespace sawtooth {

// Which renderer to prefer. A GPU is as fast as the user's window; the processor gives the same pixels
// everywhere and does not disturb a GPU that is being measured.
enum class Renderer { processor_first, gpu_first };

// An OpenGL context and a framebuffer that need no display, through EGL.
class Offscreen {
  public:
    static Outcome<std::unique_ptr<Offscreen>> open(int width, int height, Renderer renderer);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;

    const Framebuffer& framebuffer() const { return framebuffer_; }
    std::optional<Error> resize(int width, int height);
    void finish() const;  // waits until everything is drawn

  private:
    struct Display;
    Offscreen(std::unique_ptr<Display> display, Framebuffer framebuffer);

    std::unique_ptr<Display> display_;  // declared first, so that it outlives the framebuffer
    Framebuffer framebuffer_;
};

// The whole window on such a framebuffer; apart from the surface it is the same as run_window.
class OffscreenWindow {
  public:
    static Outcome<std::unique_ptr<OffscreenWindow>> open(LabState& lab, int width, int height,
                                                          Renderer renderer = Renderer::processor_first);

    // Lays out one frame, `seconds` after the previous one. Its pixels are drawn by finish and read, so that
    // frames nobody looks at cost little.
    void draw(LabState& lab, double seconds, const std::string& only_panel = "", bool panel_scrolls = false);
    std::optional<Error> resize(int width, int height) { return offscreen_->resize(width, height); }
    void finish();
    Outcome<Picture> read();

  private:
    OffscreenWindow(LabState& lab, std::unique_ptr<Offscreen> offscreen)
        : offscreen_(std::move(offscreen)), context_(lab) {}

    void draw_pixels();

    std::unique_ptr<Offscreen> offscreen_;
    Context context_;
    Graphics graphics_;
    uint32_t ground_ = 0;  // of the last frame
};

}  // namespace sawtooth
