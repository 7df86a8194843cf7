#include "app/gui/figures/figure_picture.h"

#include <glad/gl.h>
#include <imgui.h>
#include <imgui_impl_opengl3.h>

#include "app/gui/figures/picture.h"
#include "app/gui/figures/saving.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/framebuffer.h"
#include "viz/figure_page.h"
#include "viz/imgui/canvas_imgui.h"

namespace sawtooth {
namespace {

// The picture has twice the size of the SVG, so that it is sharp on paper and on high-density screens.
constexpr float density = 2;
constexpr int width = static_cast<int>(saved_width * density);
constexpr int height = static_cast<int>(saved_height * density);

Outcome<Picture> render(ImDrawList& list) {
    auto framebuffer = Framebuffer::make(width, height);
    if (!framebuffer) return framebuffer.error();
    ImDrawData data;
    data.Valid = true;
    data.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    data.FramebufferScale = {1, 1};
    data.Textures = &ImGui::GetPlatformIO().Textures;
    data.AddDrawList(&list);
    GLint bound = 0;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &bound);
    framebuffer->bind();
    ImGui_ImplOpenGL3_RenderDrawData(&data);
    auto picture = framebuffer->read();
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(bound));
    return picture;
}

}  // namespace

FigurePicture::FigurePicture(const LabState& lab) {
    if (!lab.saving || lab.saving->step != Saving::Step::drawing) return;
    list_ = std::make_unique<ImDrawList>(ImGui::GetDrawListSharedData());
    list_->_ResetForNewFrame();
    list_->_SetPixelDensity(1);
    list_->PushTexture(ImGui::GetIO().Fonts->TexRef);
    list_->PushClipRect({0, 0}, {width, height});
    const ImGuiStyle& style = ImGui::GetStyle();
    ImGui::PushFont(nullptr, style.FontSizeBase * density / style.FontScaleMain);
    ImGuiCanvas canvas(list_.get());
    draw_page(canvas, lab.saving->figure, theme_of(lab), width, height);
    ImGui::PopFont();
}

FigurePicture::~FigurePicture() = default;

void FigurePicture::save(LabState& lab) {
    if (!list_) return;
    write_saving(lab, [path = lab.saving->path, picture = render(*list_)] {
        return picture ? write_png(path, *picture) : picture.error();
    });
}

}  // namespace sawtooth
