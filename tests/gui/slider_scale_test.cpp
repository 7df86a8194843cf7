#include "app/gui/state/slider_scale.h"

#include "app/gui/panels/controls.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/shown_values.h"
#include "kernels/families.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

TEST_CASE("the slider of a parameter near one gives 0.9, 0.99 and 0.999 even room", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    choose_family(lab, *find_family("btp"));
    const Parameter& gate = row(lab, "gate");
    const SliderSpan span = span_of(lab, gate);
    const auto share = [&](double number) { return static_cast<double>(share_of(gate, span, number)); };
    CHECK(share(0) == 0);
    CHECK(share(1) == 1);
    CHECK(share(0.99) - share(0.9) == Approx(share(0.9)));
    CHECK(share(0.999) - share(0.99) == Approx(share(0.9)));
    for (const double number : {0.0, 0.5, 0.9, 0.95, 0.99, 0.9973, 0.999, 1.0})
        CHECK(towards_one_at(span, share(number)) == Approx(number).margin(5e-4 * (1 - number) + 1e-9));
    CHECK(contains(explanation(lab, gate), "logarithmic in 1 - gate"));
}

TEST_CASE("a slider is logarithmic where even steps would be finer than pixels, and 0 is a small number",
          "[gui]") {
    const auto share = [](const Parameter& row, SliderSpan span, double number) {
        return static_cast<double>(share_of(row, span, number));
    };
    const Parameter whole = integer_parameter("whole", "", Group::shape, "", 1, 0, 1000000, Step::linear,
                                              Renews::inputs),
                    real = real_parameter("real", "", Group::numerics, 1, 0, 1000, Renews::inputs);
    CHECK_FALSE(is_logarithmic(whole, {1, 100}));
    CHECK(scale_words(whole, {1, 100}).empty());
    CHECK(share(whole, {1, 101}, 51) == Approx(0.5));
    CHECK(is_logarithmic(whole, {1, 1e6}));
    CHECK(scale_words(whole, {1, 1e6}) == "logarithmic");
    CHECK(share(whole, {1, 1e6}, 1000) == Approx(0.5));
    CHECK(share(whole, {0, 1e5}, 100) == Approx(0.5));  // between 0.1 and 1e5
    CHECK_FALSE(is_logarithmic(real, {1, 100}));
    CHECK(is_logarithmic(real, {0, 1000}));
    CHECK(share(real, {0, 1000}, 1) == Approx(0.5));  // between 0.001 and 1000
    CHECK_FALSE(is_logarithmic(real, {-4, 1e6}));
}

TEST_CASE("a logarithmic slider says so in its tooltip, and other sliders say nothing", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    for (const Family* family : lab.families) {
        choose_family(lab, *family);
        for (const Parameter& each : family->parameters) {
            INFO(family->name << " " << each.name);
            const std::string words = scale_words(each, span_of(lab, each));
            CHECK(contains(explanation(lab, each), "Slider: " + words) == !words.empty());
        }
    }
}

}  // namespace
}  // namespace sawtooth
