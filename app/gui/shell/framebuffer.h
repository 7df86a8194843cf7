#pragma once

#include "app/gui/figures/picture.h"

namespace sawtooth {

// An invisible surface of RGBA pixels. Needs a current OpenGL context that outlives it.
class Framebuffer {
  public:
    // Failure: the driver does not support this size.
    static Outcome<Framebuffer> make(int width, int height);
    ~Framebuffer();
    Framebuffer(Framebuffer&& other) noexcept;
    Framebuffer& operator=(Framebuffer&& other) noexcept;

    void bind() const;
    // The picture, top row first. Failure: the driver has lost it.
    Outcome<Picture> read() const;
    int width() const { return width_; }
    int height() const { return height_; }

  private:
    Framebuffer(int width, int height) : width_(width), height_(height) {}

    int width_, height_;
    unsigned framebuffer_ = 0, texture_ = 0;
};

}  // namespace sawtooth
