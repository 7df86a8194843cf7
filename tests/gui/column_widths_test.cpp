#include "app/gui/state/column_widths.h"

#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

using Widths = std::vector<float>;

TEST_CASE("columns that fit fill the panel, and the next one starts beyond its edge", "[gui]") {
    CHECK(fitted_widths({100, 50, 50, 50, 80}, 300, 10, 4, 60) == Widths{105, 55, 55, 55, 80});
    CHECK(fitted_widths({100, 50, 50, 50, 80}, 380, 10, 4, 60) ==
          Widths{100, 50, 50, 50, 80});  // all columns fit
}

TEST_CASE("the first column shrinks until the wanted columns fit, down to a minimum", "[gui]") {
    CHECK(fitted_widths({100, 50, 50, 50, 80}, 250, 10, 4, 60) == Widths{70, 50, 50, 50, 80});
    CHECK(fitted_widths({100, 50, 50, 50, 80}, 195, 10, 4, 60) == Widths{65, 55, 55, 50, 80});
    CHECK(fitted_widths({40, 50, 50}, 20, 10, 4, 60) == Widths{40, 50, 50});
}

TEST_CASE("a table with fewer columns is unchanged", "[gui]") {
    CHECK(fitted_widths({100, 50}, 300, 10, 4, 60) == Widths{100, 50});
    CHECK(fitted_widths({}, 300, 10, 4, 60).empty());
}

}  // namespace
}  // namespace sawtooth
