#include "kernels/core/typed_values.h"

#include <string>

#include "kernels/families.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

double number(const std::string& text) {
    const auto value = evaluate(text);
    INFO(text);
    REQUIRE(value);
    return *value;
}

TEST_CASE("an expression has its usual value", "[core]") {
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
    CHECK(number("2^20") == 1048576);
    CHECK(number("3*2^2 + 1") == 13);
    CHECK(number("-2^2") == -4);
    CHECK(number("2^-1") == 0.5);
    CHECK(number("2^3^2") == 512);
}

TEST_CASE("what is no expression is refused with the place in it", "[core]") {
    for (const char* text : {"", " ", "4*", "(1", "1)", "2kk", "four", "1 2", "*3", "0x10", "1/0", "nan",
                             "1e999", "2^", "^2", "2^9999", "(-1)^0.5"}) {
        INFO(text);
        CHECK_FALSE(evaluate(text));
    }
    CHECK(evaluate("12 apples").error().text.find("apples") != std::string::npos);
    CHECK_FALSE(evaluate(std::string(100000, '(')));
    CHECK_FALSE(evaluate(std::string(100000, '-') + "1"));
    std::string tower = "1";
    for (int i = 0; i < 100000; ++i) tower += "^1";
    CHECK_FALSE(evaluate(tower));
}

Parameter powers() {
    return integer_parameter("size", "", Group::shape, "", 8, 1, 4096, Step::powers_of_two, Renews::inputs);
}
Parameter even() {
    return integer_parameter("window", "", Group::shape, "", 8, 0, 4096, Step::linear, Renews::inputs);
}
Parameter real() { return real_parameter("rate", "", Group::numerics, 0.5, 0, 1, Renews::kernels); }

// Returns the values of a sweep as text.
std::string values(const Parameter& row, const std::string& text) {
    const auto read = parse_values(row, text);
    if (!read) return read.error().text;
    std::string list;
    for (const Value& value : *read) list += (list.empty() ? "" : " ") + to_text(value);
    return list;
}

TEST_CASE("what is typed becomes a value of the parameter's type, or says why not", "[core]") {
    Parameter row = powers();
    row.word = "auto";
    CHECK(*row.parse("2k") == Value(int64_t{2048}));
    CHECK(*row.parse("4*16") == Value(int64_t{64}));
    CHECK(*row.parse("auto") == Value(std::string("auto")));
    CHECK(row.parse("1/2").error().text ==
          "size = 1/2: not an integer, like 4096, 2k, 4*1024 or 2^12; accepted: auto or 1 to 4096");
    CHECK(row.parse("2^60").error().text == "size = 2^60: out of range (auto or 1 to 4096)");
    const auto beyond = row.parse("1M");
    REQUIRE_FALSE(beyond);
    CHECK(beyond.error().text == "size = 1048576: out of range (auto or 1 to 4096)");
    CHECK(*real().parse("1/4") == Value(0.25));
    CHECK_FALSE(real().parse("2"));
    const Parameter choice =
        choice_parameter("tile", "", Group::tiling, int64_t{64}, {int64_t{32}, int64_t{64}}, Renews::kernels);
    CHECK(*choice.parse("2*32") == Value(int64_t{64}));
    CHECK_FALSE(choice.parse("48"));
}

TEST_CASE("values of a sweep are a list, ranges, or both", "[core]") {
    CHECK(values(powers(), "16,64,256") == "16 64 256");
    CHECK(values(powers(), "16..256") == "16 32 64 128 256");
    CHECK(values(powers(), "3..20") == "3 4 8 16 20");
    CHECK(values(powers(), "1k..4k") == "1024 2048 4096");
    CHECK(values(powers(), "16..256x4") == "16 64 256");
    CHECK(values(powers(), "10..100x3") == "10 30 90");
    CHECK(values(powers(), "64..512+64") == "64 128 192 256 320 384 448 512");
    CHECK(values(powers(), "1, 16..64, 32, 4*25") == "1 16 32 64 100");
    CHECK(values(powers(), "8..(4+4)*2") == "8 16");
    CHECK(values(even(), "1..5") == "1 2 3 4 5");
    CHECK(values(even(), "0..80") == "0 10 20 30 40 50 60 70 80");
    CHECK(values(even(), "1..100") == "1 12 23 34 45 56 67 78 89 100");
    CHECK(values(real(), "0..1") == "0 0.125 0.25 0.375 0.5 0.625 0.75 0.875 1");
    CHECK(values(real(), "0.1..0.3+0.1") == "0.1 0.2 0.3");
    CHECK(values(real(), "1e-3..1e-1x10") == "0.001 0.01 0.1");
    CHECK(values(real(), "1e-3..1e+0x10") == "0.001 0.01 0.1 1");
    Parameter gate = real();
    gate.step = Step::towards_one;
    CHECK(values(gate, "0..1") == "0 0.5 0.75 0.87 0.937 0.969 0.984 0.9922 1");
}

TEST_CASE("a range of choices has those from the one to the other", "[core]") {
    const Parameter tile = choice_parameter("tile", "", Group::tiling, int64_t{64},
                                            {"auto", int64_t{16}, int64_t{32}, int64_t{64}}, Renews::kernels);
    CHECK(values(tile, "auto,20..100") == "auto 32 64");
    CHECK(values(tile, "16..64x2") == "16 32 64");
    CHECK(values(tile, "16..64+16") == "tile = 48: not one of auto, 16, 32, 64");
    CHECK(values(tile, "100..200") == "tile = 100..200: no value in this range; accepted: auto, 16, 32, 64");
    const Parameter op = choice_parameter("op", "", Group::algorithm, "sum", {"sum", "max"}, Renews::inputs);
    CHECK(values(op, "sum..max") == "op = sum..max: it has no order, so no ranges; accepted: sum, max");
}

TEST_CASE("what is no range says what was given and what is accepted", "[core]") {
    for (const char* text : {"16..", "..16", "16..x2", "16..64x", "16..64+", "a..b", "1..2..3"}) {
        INFO(text << ": " << values(powers(), text));
        CHECK(values(powers(), text).find(std::string("size = ") + text + ": a range is FIRST..LAST") == 0);
    }
    CHECK(values(powers(), "64..16").find("must not be above the last") != std::string::npos);
    CHECK(values(powers(), "16..64x1").find("a factor must be above 1") != std::string::npos);
    CHECK(values(even(), "0..64x2").find("the first number above 0") != std::string::npos);
    CHECK(values(powers(), "16..64+0").find("a step must be above 0") != std::string::npos);
    CHECK(values(powers(), "16..8k").find("size = 8192: out of range (1 to 4096)") == 0);
    CHECK(values(even(), "0..4k+1") == "window = 0..4k+1: more than 1000 values");
    std::string list = "0";
    for (int i = 1; i <= 1000; ++i) list += "," + std::to_string(2 * i);
    CHECK(values(even(), list) == "window: more than 1000 values");
    CHECK(values(even(), "0..4+1/2").find("not integers") != std::string::npos);
    CHECK(values(powers(), "16,,64").find("size: not an integer") == 0);
}

TEST_CASE("the text of values reads back as these values", "[core]") {
    for (const char* text : {"16..256", "64..512+64", "16,64,200", "1,2", "3..20"}) {
        INFO(text);
        CHECK(range_text(powers(), *parse_values(powers(), text)) == text);
    }
    CHECK(range_text(powers(), {int64_t{4}, int64_t{8}, int64_t{16}}) == "4..16");
    CHECK(range_text(flag_parameter("f", "", Group::algorithm, false, Renews::kernels), {false, true}) ==
          "false,true");
}

TEST_CASE("a parameter is found by its name or its title", "[core]") {
    Family family;
    family.name = "attention";
    for (const char* name : {"H", "N", "heads"}) {
        family.parameters.push_back(powers());
        family.parameters.back().name = name;
    }
    family.parameters[0].title = "heads";
    family.parameters[1].title = "positions per head";
    CHECK(find_parameter(family, "N") == &family.parameters[1]);
    CHECK(find_parameter(family, "positions per head") == &family.parameters[1]);
    CHECK(find_parameter(family, "positions_per_head") == &family.parameters[1]);
    CHECK(find_parameter(family, "heads") == &family.parameters[2]);  // a name comes first
    family.parameters[2].name = "h";
    CHECK(find_parameter(family, "heads") == &family.parameters[0]);
    CHECK(
        no_such_parameter("haeds", family) ==
        "haeds is not a parameter of attention. Did you mean heads? Parameters: H (heads), N (positions per "
        "head), h");
    family.parameters[2].title = "heads";
    CHECK(find_parameter(family, "heads") == nullptr);  // the title of two
}

TEST_CASE("titles of parameters can be told from names and from each other", "[core]") {
    for (const Family* family : all_families())
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name << " " << row.title);
            CHECK((row.title.empty() || find_parameter(*family, row.title) == &row));
        }
}

}  // namespace
}  // namespace sawtooth
