// Colours, dashes and markers that must be distinguishable are, for every eye and in both themes.

#include "viz/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

TEST_CASE("no two variants share a stroke, and the first eight have different colours", "[viz]") {
    for (const Theme* theme : {&dark_theme(), &light_theme()})
        for (int i = 0; i < 24; ++i)
            for (int j = 0; j < i; ++j) {
                const Stroke one = stroke_of({Ink::Role::variant, i}, *theme),
                             other = stroke_of({Ink::Role::variant, j}, *theme);
                CHECK_FALSE(one == other);
                if (i < 8) CHECK(one.colour != other.colour);
                if (i >= 6) continue;
                CHECK(one.dash != other.dash);
                CHECK(one.marker != other.marker);
            }
}

TEST_CASE("no two of eight variants are alike in either theme, also with deuteranopia", "[viz]") {
    using Three = std::array<double, 3>;
    const auto times = [](const std::array<Three, 3>& matrix, const Three& value) {
        Three product;
        for (size_t i = 0; i < 3; ++i)
            product[i] = matrix[i][0] * value[0] + matrix[i][1] * value[1] + matrix[i][2] * value[2];
        return product;
    };
    // The matrices are from Machado, Oliveira and Fernandes (2009), at full severity; OKLab is from Ottosson
    // (2020).
    const std::array<Three, 3> deuteranopia{
        {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
    const std::array<Three, 3> cones{{{0.4122214708, 0.5363325363, 0.0514459929},
                                      {0.2119034982, 0.6806995451, 0.1073969566},
                                      {0.0883024619, 0.2817188376, 0.6299787005}}};
    const std::array<Three, 3> axes{{{0.2104542553, 0.7936177850, -0.0040720468},
                                     {1.9779984951, -2.4285922050, 0.4505937099},
                                     {0.0259040371, 0.7827717662, -0.8086757660}}};
    const auto seen = [&](uint32_t rgb, bool is_deuteranope) {
        Three linear;
        for (size_t i = 0; i < 3; ++i) {
            const double share = (rgb >> (16 - 8 * i) & 255) / 255.0;
            linear[i] = share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
        }
        if (is_deuteranope) linear = times(deuteranopia, linear);
        for (double& each : linear) each = std::clamp(each, 0.0, 1.0);
        Three excited = times(cones, linear);
        for (double& each : excited) each = std::cbrt(each);
        return times(axes, excited);
    };
    for (const Theme* theme : {&dark_theme(), &light_theme()})
        for (const bool is_deuteranope : {false, true})
            for (size_t i = 0; i < theme->variants.size(); ++i)
                for (size_t j = 0; j < i; ++j) {
                    const Three one = seen(theme->variants[i], is_deuteranope),
                                other = seen(theme->variants[j], is_deuteranope);
                    CAPTURE(theme->dark, is_deuteranope, i, j);
                    CHECK(std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]) > 0.1);
                }
}

TEST_CASE("a limit does not look like an error", "[viz]") {
    for (const Theme* theme : {&dark_theme(), &light_theme()}) {
        CHECK(theme->limit != theme->wrong);
        CHECK(stroke_of({Ink::Role::limit}, *theme).dash != Dash::solid);
    }
}

TEST_CASE("every stroke has a contrast of 3:1 and text of 4.5:1 in both themes", "[viz]") {
    for (const Theme* theme : {&dark_theme(), &light_theme()}) {
        std::vector<Ink> inks{
            {Ink::Role::reference}, {Ink::Role::limit}, {Ink::Role::quiet}, {Ink::Role::accent}};
        for (int i = 0; i < 8; ++i) inks.push_back({Ink::Role::variant, i});
        for (const Ink& ink : inks) CHECK(contrast(stroke_of(ink, *theme).colour.rgb, theme->ground) >= 3);
        CHECK(contrast(theme->text, theme->ground) >= 4.5);
        CHECK(contrast(theme->quiet_text, theme->ground) >= 4.5);
    }
}

}  // namespace
}  // namespace sawtooth
