#pragma once

#include <memory>
#include <string>

#include "app/gui/frame.h"
#include "app/gui/graphics.h"
#include "app/gui/picture.h"

namespace sawtooth {

// What draws. A GPU is as fast as what a user sees; the processor gives the same pixels everywhere and leaves
// alone a GPU that is being measured.
enum class Renderer { processor_first, gpu_first };

// An OpenGL context and a framebuffer without any display, through EGL.
class Offscreen {
  public:
    static Outcome<std::unique_ptr<Offscreen>> open(int width, int height, Renderer renderer);
    ~Offscreen();
    Offscreen(const Offscreen&) = delete;
    Offscreen& operator=(const Offscreen&) = delete;

    void bind() const;    // the framebuffer
    void finish() const;  // waits until everything is drawn
    // Failure: the driver lost what was drawn.
    Outcome<Picture> read() const;
    int width() const { return width_; }
    int height() const { return height_; }

  private:
    struct Display;
    Offscreen(std::unique_ptr<Display> display, int width, int height);
    std::optional<Error> make_framebuffer();

    std::unique_ptr<Display> display_;
    int width_, height_;
    unsigned framebuffer_ = 0, texture_ = 0;
};

// The whole window on such a framebuffer: everything but the surface is what run_window has.
class OffscreenWindow {
  public:
    static Outcome<std::unique_ptr<OffscreenWindow>> open(LabState& lab, int width, int height,
                                                          Renderer renderer = Renderer::processor_first);

    // One frame, `seconds` after the one before.
    void draw(LabState& lab, double seconds, const std::string& only_panel = "");
    void finish() const { offscreen_->finish(); }
    Outcome<Picture> read() const { return offscreen_->read(); }

  private:
    OffscreenWindow(LabState& lab, std::unique_ptr<Offscreen> offscreen)
        : offscreen_(std::move(offscreen)), context_(lab) {}

    std::unique_ptr<Offscreen> offscreen_;
    Context context_;
    Graphics graphics_;
};

}  // namespace sawtooth
