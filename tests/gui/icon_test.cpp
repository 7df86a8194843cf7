#include "app/gui/shell/icon.h"

#include "tests/kit/catch.h"

using namespace sawtooth;

TEST_CASE("the icon of the window is a line on a square with round corners", "[gui]") {
    for (const int size : {32, 64}) {
        const auto pixels = icon_pixels(size);
        REQUIRE(pixels.size() == static_cast<size_t>(size * size * 4));
        const auto at = [&](int x, int y) {
            return &pixels[static_cast<size_t>(4) * static_cast<size_t>(y * size + x)];
        };
        CHECK(at(0, 0)[3] == 0);                  // outside
        CHECK(at(size / 2, size / 8)[3] == 255);  // the ground
        CHECK(at(size / 2, size / 8)[0] < 0x20);
        CHECK(at(48 * size / 128, 60 * size / 128)[0] > 0xE0);  // an edge of a tooth
    }
}
