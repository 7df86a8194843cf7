#include "app/gui/shell/framebuffer.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <utility>

namespace sawtooth {

Outcome<Framebuffer> Framebuffer::make(int width, int height) {
    GLint largest = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
    if (std::max(width, height) > largest)
        return Error::usage(fmt::format("size = {}x{}: must be up to {}x{} on this machine", width, height,
                                        largest, largest));
    Framebuffer made(width, height);
    glGenTextures(1, &made.texture_);
    glBindTexture(GL_TEXTURE_2D, made.texture_);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glGenFramebuffers(1, &made.framebuffer_);
    GLint bound = 0;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &bound);
    made.bind();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, made.texture_, 0);
    const bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(bound));
    if (!complete) return Error::failure("OpenGL cannot create a framebuffer of this size");
    return made;
}

Framebuffer::Framebuffer(Framebuffer&& other) noexcept
    : width_(other.width_),
      height_(other.height_),
      framebuffer_(std::exchange(other.framebuffer_, 0)),
      texture_(std::exchange(other.texture_, 0)) {}

Framebuffer& Framebuffer::operator=(Framebuffer&& other) noexcept {
    std::swap(width_, other.width_);
    std::swap(height_, other.height_);
    std::swap(framebuffer_, other.framebuffer_);
    std::swap(texture_, other.texture_);
    return *this;
}

Framebuffer::~Framebuffer() {
    if (framebuffer_) glDeleteFramebuffers(1, &framebuffer_);
    if (texture_) glDeleteTextures(1, &texture_);
}

void Framebuffer::bind() const { glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_); }

Outcome<Picture> Framebuffer::read() const {
    const auto pixels = static_cast<size_t>(width_) * static_cast<size_t>(height_);
    std::vector<uint8_t> upwards(4 * pixels);
    bind();
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, upwards.data());
    Picture picture{width_, height_, {}};
    picture.rgb.reserve(3 * pixels);
    for (int y = height_ - 1; y >= 0; --y) {  // OpenGL has the lowest row first
        const uint8_t* const row =
            upwards.data() + size_t{4} * static_cast<size_t>(width_) * static_cast<size_t>(y);
        for (int x = 0; x < width_; ++x) picture.rgb.insert(picture.rgb.end(), row + 4 * x, row + 4 * x + 3);
    }
    // The background is opaque; a context that the driver has reset reads as transparent.
    if (upwards[3] == 0)
        return Error::failure(
            "the OpenGL driver lost the picture; use Mesa's software renderer: install "
            "libgl1-mesa-dri");
    return picture;
}

}  // namespace sawtooth
