#include "app/gui/expression.h"

#include <string>

#include "tests/catch.h"

namespace sawtooth {
namespace {

double number(const std::string& text) {
    const auto value = evaluate(text);
    INFO(text);
    REQUIRE(value);
    return *value;
}

TEST_CASE("an expression has its usual value", "[gui]") {
    CHECK(number("4096") == 4096);
    CHECK(number("4*1024") == 4096);
    CHECK(number("2k") == 2048);
    CHECK(number("3M + 1") == 3 * 1048576 + 1);
    CHECK(number("1G") == 1073741824);
    CHECK(number("2+3*4") == 14);
    CHECK(number("(2+3)*4") == 20);
    CHECK(number("8/2/2") == 2);
    CHECK(number("10-4-3") == 3);
    CHECK(number("-3 * -(1+1)") == 6);
    CHECK(number(" 1e-4 ") == 1e-4);
    CHECK(number("1.5k") == 1536);
}

TEST_CASE("what is no expression is refused with the place in it", "[gui]") {
    for (const char* text :
         {"", " ", "4*", "(1", "1)", "2kk", "four", "1 2", "*3", "0x10", "1/0", "nan", "1e999"}) {
        INFO(text);
        CHECK_FALSE(evaluate(text));
    }
    CHECK(evaluate("12 apples").error().text.find("apples") != std::string::npos);
    CHECK_FALSE(evaluate(std::string(100000, '(')));
    CHECK_FALSE(evaluate(std::string(100000, '-') + "1"));
}

TEST_CASE("what is typed becomes a value of the parameter's type, or says why not", "[gui]") {
    Parameter row =
        integer_parameter("size", "", Group::shape, "", 8, 1, 4096, Step::powers_of_two, Renews::inputs);
    row.word = "auto";
    CHECK(*parse_typed(row, "2k") == Value(int64_t{2048}));
    CHECK(*parse_typed(row, "auto") == Value(std::string("auto")));
    CHECK_FALSE(parse_typed(row, "1/2"));
    const auto beyond = parse_typed(row, "1M");
    REQUIRE_FALSE(beyond);
    CHECK(beyond.error().text.find("size = 1048576") == 0);
    CHECK(beyond.error().text.find("4096") != std::string::npos);

    const Parameter real = real_parameter("rate", "", Group::numerics, 0.5, 0, 1, Renews::kernels);
    CHECK(*parse_typed(real, "1/4") == Value(0.25));
    CHECK_FALSE(parse_typed(real, "2"));
}

}  // namespace
}  // namespace sawtooth
