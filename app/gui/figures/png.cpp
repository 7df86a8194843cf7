#include <png.h>

#include <cstring>

#include "app/engine/files/files.h"
#include "app/gui/figures/picture.h"

namespace sawtooth {

std::optional<Error> write_png(const std::string& path, const Picture& picture) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t bytes = 0;
    const auto encode = [&](void* memory) {
        return png_image_write_to_memory(&image, memory, &bytes, 0, picture.rgb.data(), 0, nullptr) != 0;
    };
    if (!encode(nullptr)) return Error::failure(path + ": cannot be written: " + image.message);
    std::string content(bytes, '\0');
    if (!encode(content.data())) return Error::failure(path + ": cannot be written: " + image.message);
    content.resize(bytes);
    return write_file(path, content);
}

}  // namespace sawtooth
