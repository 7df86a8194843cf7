// The numbers in the figures of Block Two-Pass, against small computations of their own.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/btp/family.h"
#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"
#include "kernels/core/table.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/btp/run_btp.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace btp;
using namespace btp_facts;
using namespace figure_facts;

Result run_with(const Settings& settings) { return run_in_engine(btp_family(), settings); }

// Returns an output of the reference with another order.
Array with_order(const Result& result, const Value& order, const char* output) {
    Parameters parameters = result.parameters;
    parameters.set("order", order);
    return *find(*reference(parameters, result.inputs, {}), output);
}

std::span<float> gates_of(Result& result, int64_t head) {
    const auto length = static_cast<size_t>(result.parameters.integer("L"));
    return find(result.inputs, "a")->as<float>().subspan(static_cast<size_t>(head) * length, length);
}

// Returns the largest |left - right| over all channels of a head at a position.
double largest_difference(const Array& left, const Array& right, int64_t head, int64_t position) {
    const Shape shape = left.whole_shape();
    const int64_t width = shape[2], length = shape[3];
    double largest = 0;
    for (int64_t channel = 0; channel < width; ++channel) {
        const int64_t at = (head * width + channel) * length + position;
        largest = std::max(largest, std::abs(left.value(at) - right.value(at)));
    }
    return largest;
}

TEST_CASE("btp: truncation errors are the distances between the orders of the reference", "[btp][figures]") {
    const auto order = GENERATE(Value(1), Value(2), Value("full"));
    const int64_t width = GENERATE(1, 3, 8, 20), length = GENERATE(33, 250, 256);
    const int64_t block = GENERATE(16, 64);
    if (length <= block) return;
    const Result result = result_of({{"B", 2},
                                     {"H", 2},
                                     {"L", length},
                                     {"DH", width},
                                     {"BL", block},
                                     {"order", order},
                                     {"drawn_batch", 1},
                                     {"drawn_head", 1}});
    INFO(width << " " << length << " " << block);
    const Array exact = with_order(result, Value("full"), "x");
    const Figure figure = figure_of(result, "truncation");
    double largest[2] = {};
    for (const int64_t other : {1, 2}) {
        const Array x = with_order(result, Value(other), "x");
        const auto lines = marks_of<Line>(figure);
        if (length <= other * block) {
            CHECK(lines.size() == static_cast<size_t>(other - 1));
            continue;
        }
        const Line line = line_named(lines, "order " + std::to_string(other));
        REQUIRE(line.y.size() == static_cast<size_t>(length));
        for (int64_t at = 0; at < length; ++at) {
            const double wanted = largest_difference(x, exact, 3, at),
                         drawn = line.y[static_cast<size_t>(at)];
            CHECK(line.x[static_cast<size_t>(at)] == static_cast<double>(at));
            CHECK(std::isnan(drawn) == (at < other * block));
            if (!std::isnan(drawn)) CHECK(drawn == Approx(wanted).epsilon(1e-9).margin(1e-13));
            largest[other - 1] = std::max(largest[other - 1], wanted);
        }
    }
    double largest_x = 0;
    for (int64_t at = 0; at < length; ++at)
        largest_x =
            std::max(largest_x, largest_difference(Array::zeros("x", Dtype::f64, exact.shape), exact, 3, at));
    const auto lost = [&](int64_t other) {
        const double most = largest[other - 1];
        return most == 0 ? "nothing" : percent_number(most / largest_x) + " % of the largest |x|";
    };
    if (order == Value("full"))
        CHECK(contains(figure.caption, fmt::format("Order full is exact. Order 1 loses up to {}, order 2 {}.",
                                                   lost(1), lost(2))));
    else if (order == Value(1))
        CHECK(contains(figure.caption, fmt::format("Order 1 loses up to {}: it sees 0 to {} positions back",
                                                   lost(1), block - 1)));
    else
        CHECK(contains(figure.caption, fmt::format("Order 2 loses up to {}: it sees {} to {} positions back",
                                                   lost(2), block, 2 * block - 1)));
}

TEST_CASE("btp: the truncation error says how far an order sees, and how far inputs reach",
          "[btp][figures]") {
    Result result = result_of({{"H", 1}, {"L", 128}, {"DH", 1}, {"gate", 0.5}});
    std::ranges::fill(gates_of(result, 0), 0.5f);
    std::ranges::fill(find(result.inputs, "u")->as<float>(), 0.0f);
    find(result.inputs, "u")->as<float>()[47] = 1;
    const Figure figure = figure_of(result, "truncation");
    // The last input of block 2 misses from block 4 on, after 17 gates.
    const Line line = line_named(marks_of<Line>(figure), "order 2");
    CHECK(std::isnan(line.y[63]));
    CHECK(line.y[64] == std::pow(0.5, 17));
    CHECK(line.y[80] == std::pow(0.5, 33));
    CHECK(contains(figure.caption, "Order 2 loses up to " + percent_number(std::pow(0.5, 17)) + " %"));
    CHECK(contains(figure.caption, "16 to 31 positions back. Inputs fade to 1 % after 7 positions."));
    CHECK(marks_of<Rule>(figure).size() == 7);
    CHECK(marks_of<Rule>(figure)[2].at == 48);
}

TEST_CASE("btp: without truncation a sentence says why", "[btp][figures]") {
    const Result single = result_of({{"L", 16}});
    CHECK(contains(figure_of(single, "truncation").missing, "more than one block"));
    CHECK(contains(figure_of(single, "truncation_by_gate").missing, "more than two blocks"));
    Result forgetful = result_of({{"H", 1}, {"L", 64}});
    for (size_t at = 0; at < 64; at += 16) gates_of(forgetful, 0)[at] = 0;
    CHECK(contains(figure_of(forgetful, "truncation").missing, "every order is exact"));
}

TEST_CASE("btp: the exact recurrence of a long sequence is followed as far as the window can wait",
          "[btp][figures]") {
    Result result;
    result.parameters = settled(btp_family(), {{"H", 1}, {"L", 1 << 15}, {"DH", 256}});
    result.inputs = generated_inputs(btp_family(), result.parameters);
    const Figure whole = truncation_figure(result, {});
    CHECK(contains(whole.caption, "Computed up to position 15,886."));
    CHECK(line_named(marks_of<Line>(whole), "order 2").x.back() < 15887);
    CHECK(whole.x.in_sight == 255);
    CHECK(marks_of<Rule>(whole).size() == 15);
    View view;
    view.visible["position"] = {20000, 21000};
    const Figure late = truncation_figure(result, view);
    CHECK(contains(late.missing, "up to position 15,886"));
    view.visible["position"] = {1000, 1063};
    const Figure part = truncation_figure(result, view);
    const Line line = line_named(marks_of<Line>(part), "order 1");
    CHECK(line.x.front() == 999);
    CHECK(line.x.back() == 1064);
    CHECK(marks_of<Rule>(part).size() == 4);
    CHECK(part.caption == whole.caption);
    view.visible["position"] = {0, 15};  // the first block, where every order is exact
    CHECK(truncation_figure(result, view).missing.empty());
}

TEST_CASE("btp: truncation by gate is that of the reference with a constant gate", "[btp][figures]") {
    const int64_t block = GENERATE(16, 32, 64);
    Result result =
        result_of({{"H", 2}, {"L", 300}, {"DH", 3}, {"BL", block}, {"drawn_head", 1}, {"drawn_channel", 2}});
    const Figure figure = figure_of(result, "truncation_by_gate");
    const Line line = line_named(marks_of<Line>(figure), "BL " + std::to_string(block));
    REQUIRE(line.x.size() == 21);
    CHECK(line.x.front() == 1);
    CHECK(line.x.back() == 1024);
    double within = 0;
    for (size_t i = 0; i < line.x.size(); ++i) {
        const double gate = std::exp2(-1 / line.x[i]);
        std::ranges::fill(find(result.inputs, "a")->as<float>(), static_cast<float>(gate));
        const Array two = with_order(result, Value(2), "x"), full = with_order(result, Value("full"), "x");
        double lost = 0, largest = 0;
        for (int64_t at = 5 * 300; at < 6 * 300; ++at) {  // head 1, channel 2
            lost = std::max(lost, std::abs(two.value(at) - full.value(at)));
            largest = std::max(largest, std::abs(full.value(at)));
        }
        CHECK(line.y[i] == Approx(lost / largest).epsilon(1e-4).margin(1e-14));
        if (lost / largest <= 0.01) within = gate;
    }
    CHECK(contains(figure.caption, fmt::format("within 1 % up to a gate of {:.3g}", within)));
}

TEST_CASE("btp: Lmat is drawn with its zeros, and its NaN as cells without a value", "[btp][figures]") {
    const auto construction = GENERATE(as<std::string>(), "log_stable", "log_difference", "masked_cumprod",
                                       "cumprod_ratio", "double");
    Result result = result_of({{"H", 2},
                               {"L", 50},
                               {"BL", 16},
                               {"construction", construction},
                               {"drawn_head", 1},
                               {"drawn_block", 2}});
    gates_of(result, 1)[40] = 0;
    const Figure figure = figure_of(result, "transfer-matrix");
    CHECK(contains(figure.caption, "Built by " + construction));
    const HeatMap map = marks_of<HeatMap>(figure).front();
    REQUIRE(map.rows == 16);
    CHECK(map.x_low == 31.5);
    CHECK(map.logarithmic);
    size_t nans = 0, zeros = 0;
    for (size_t i = 0; i < 16; ++i)
        for (size_t j = 0; j < 16; ++j) {
            const size_t at = i * 16 + j;
            const bool is_nan = j <= i && j >= 8 && construction == "log_difference";
            const bool is_zero = j <= i && i >= 8 && (j < 8 || construction == "cumprod_ratio");
            nans += is_nan, zeros += is_zero;
            CHECK(map.texts[at] == (is_nan ? "NaN" : is_zero ? "0" : ""));
            CHECK(std::isnan(map.values[at]) == (j > i || is_nan || is_zero));
            double product = 1;
            for (size_t k = j + 1; k <= i; ++k) product *= double{gates_of(result, 1)[32 + k]};
            if (!std::isnan(map.values[at])) CHECK(map.values[at] == Approx(product).epsilon(1e-5));
        }
    CHECK(map.framed.size() == nans);
    CHECK(contains(figure.caption, fmt::format("{} of 136 elements are NaN", nans)) == (nans > 0));
    CHECK(contains(figure.caption, fmt::format("{} of 136 elements are 0", zeros)));
    // The last block has two positions.
    result.parameters.set("drawn_block", 99);
    CHECK(marks_of<HeatMap>(figure_of(result, "transfer-matrix")).front().rows == 2);
}

// Returns the largest error of transfer_matrix, compared with the products of the gates.
double error_of(const std::string& construction, const std::vector<float>& gates) {
    const size_t n = gates.size();
    const auto built = transfer_matrix(construction_named(construction), gates);
    double largest = 0;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) {
            double product = 1;
            for (size_t k = j + 1; k <= i; ++k) product *= double{gates[k]};
            const double error = std::abs(double{built[i * n + j]} - product);
            if (std::isnan(error)) return gap;
            largest = std::max(largest, error);
        }
    return largest;
}

const std::vector<std::string> constructions = {"log_stable", "log_difference", "masked_cumprod",
                                                "cumprod_ratio", "double"};

TEST_CASE("btp: errors of constructions are those against explicit products", "[btp][figures]") {
    Result result = result_of({{"H", 1}, {"L", 200}, {"BL", 16}, {"drawn_block", 1}});
    const auto all = gates_of(result, 0);
    std::vector<float> gates(all.begin() + 16, all.begin() + 32);
    const Figure figure = figure_of(result, "construction-error");
    const auto set_gates = [&](double gate) {
        for (const size_t at : {1, 5, 9, 13}) gates[at] = static_cast<float>(gate);
    };
    for (const std::string& construction : constructions) {
        INFO(construction);
        const Line line = line_named(marks_of<Line>(figure), construction);
        REQUIRE(line.x.size() == 41);  // 0, a gap, 1e-38 to 1
        set_gates(0);
        const double at_zero = error_of(construction, gates);
        CHECK(std::isnan(line.y[0]) == (construction == "log_difference"));
        if (!std::isnan(at_zero)) CHECK(line.y[0] == Approx(at_zero).margin(1e-15));
        CHECK(std::isnan(line.y[1]));
        for (size_t i = 2; i < 41; ++i) {
            set_gates(line.x[i]);
            CHECK(line.x[i] == Approx(std::pow(10, static_cast<int>(i) - 40)));
            CHECK(line.y[i] == Approx(error_of(construction, gates)).margin(1e-15));
        }
        if (construction != "log_difference" && construction != "cumprod_ratio")
            for (const double error : line.y) CHECK_FALSE(error > 1e-6);
    }
    CHECK(marks_of<Rule>(figure).front().label == "0, log_difference: NaN");
    CHECK(contains(figure.caption, "and NaN at 0, cumprod_ratio is off by up to 1; the others stay within"));
}

TEST_CASE("btp: errors of constructions by block length use the gates from the drawn block on",
          "[btp][figures]") {
    const int64_t drawn_block = GENERATE(2, 11);
    const Result result = result_of({{"H", 1}, {"L", 200}, {"BL", 16}, {"drawn_block", drawn_block}});
    const auto all = find(result.inputs, "a")->as<float>();
    const Figure figure = figure_of(result, "construction-error-by-block");
    for (const std::string& construction : constructions) {
        const Line line = line_named(marks_of<Line>(figure), construction);
        CHECK(line.x == std::vector<double>{16, 32, 64});
        CHECK(line.sets.parameter == "BL");
        for (size_t i = 0; i < 3; ++i) {
            const auto block = static_cast<int64_t>(line.x[i]);
            const auto first = all.begin() + std::min(16 * drawn_block, 200 - block);
            CHECK(line.y[i] == Approx(error_of(construction, {first, first + block})).margin(1e-15));
        }
    }
    const Result small = result_of({{"L", 40}});
    CHECK(marks_of<Line>(figure_of(small, "construction-error-by-block")).front().x.size() == 2);
    CHECK_FALSE(figure_of(result_of({{"L", 8}}), "construction-error-by-block").missing.empty());
    CHECK_FALSE(figure_of(result_of({{"L", 1}}), "construction-error").missing.empty());
}

TEST_CASE("btp: g c^T is what the second pass adds to order 1", "[btp][figures]") {
    const auto order = GENERATE(Value(2), Value("full"));
    const Result result = result_of({{"B", 2},
                                     {"H", 3},
                                     {"L", 75},
                                     {"DH", 5},
                                     {"order", order},
                                     {"drawn_batch", 1},
                                     {"drawn_head", 2},
                                     {"drawn_block", GENERATE(1, 4)}});
    const Array local = with_order(result, Value(1), "x");
    const Array& x = *find(result.reference, "x");
    const Drawn drawn(result.parameters);
    const Range positions = drawn.block_positions();
    const HeatMap map = marks_of<HeatMap>(figure_of(result, "rank-one")).front();
    REQUIRE(map.rows == 5);
    REQUIRE(map.columns == positions.count());
    CHECK(map.x_low == static_cast<double>(positions.first) - 0.5);
    const Line g = marks_of<Line>(figure_of(result, "rank-one-g")).front();
    const Line c = marks_of<Line>(figure_of(result, "rank-one-c")).front();
    CHECK(g.x.front() == static_cast<double>(positions.first));
    for (int64_t channel = 0; channel < 5; ++channel)
        for (int64_t i = 0; i < map.columns; ++i) {
            const int64_t at = (5 * 5 + channel) * 75 + positions.first + i;
            const double added = map.values[static_cast<size_t>(channel * map.columns + i)];
            CHECK(added == Approx(x.value(at).real() - local.value(at).real()).margin(1e-13));
            CHECK(added == g.y[static_cast<size_t>(i)] * c.y[static_cast<size_t>(channel)]);
        }
}

TEST_CASE("btp: without a carry the figures of the second pass say so", "[btp][figures]") {
    const Result first_order = result_of({{"order", 1}});
    CHECK(contains(figure_of(first_order, "rank-one").missing, "Order 1 has no second pass"));
    CHECK_FALSE(figure_of(first_order, "rank-one-g").marks.empty());
    const Result first_block = result_of({{"drawn_block", 0}});
    CHECK(contains(figure_of(first_block, "rank-one-c").missing, "first block receives no carry"));
    Result gone = result_of({{"H", 1}, {"L", 64}});
    gates_of(gone, 0)[20] = 0;
    const Figure g = figure_of(gone, "rank-one-g");
    CHECK(contains(g.caption, "The carry is gone from position 20 on"));
    CHECK(std::isnan(marks_of<Line>(g).front().y[4]));
    gates_of(gone, 0)[16] = 0;
    CHECK(contains(figure_of(gone, "rank-one-g").missing, "The first gate is 0"));
}

TEST_CASE("btp: carries are drawn block by block, every variant over the reference", "[btp][figures]") {
    const auto order = GENERATE(Value(1), Value(2), Value("full"));
    Result result =
        run_with({{"L", 200}, {"DH", 4}, {"order", order}, {"drawn_head", 2}, {"drawn_channel", 3}});
    const Array& carries = *find(result.reference, "carry");
    Array& output = *find(result.variants.front().outputs, "carry");
    const auto index = [](int64_t block) { return (2 * 13 + block) * 4 + 3; };
    output.as<float>()[static_cast<size_t>(index(7))] += 1;
    const Figure figure = figure_of(result, "carry");
    const auto lines = marks_of<Line>(figure);
    const Line truth = line_named(lines, "float64 reference"), off = line_named(lines, "sequential");
    REQUIRE(truth.y.size() == 13);
    double largest = 0;
    for (int64_t block = 0; block < 13; ++block) {
        CHECK(truth.y[static_cast<size_t>(block)] == carries.value(index(block)).real());
        CHECK(off.y[static_cast<size_t>(block)] == output.value(index(block)).real());
        largest = std::max(largest, std::abs(carries.value(index(block))));
    }
    CHECK(contains(figure.caption,
                   order == Value(1) ? "all carries are 0" : fmt::format("The largest, {:.3g}", largest)));
}

TEST_CASE("btp: every figure has marks or a sentence, and gradients appear with the backward pass",
          "[btp][figures]") {
    const bool backward = GENERATE(false, true);
    const auto order = GENERATE(Value(1), Value(2), Value("full"));
    Result result = run_with({{"L", 70}, {"order", order}, {"backward", backward}});
    const auto check_all = [&] {
        const auto ids = ids_of_complete(btp::figures(result, {}), btp_family());
        for (const char* id : {"truncation", "truncation_by_gate", "transfer-matrix", "construction-error",
                               "construction-error-by-block", "rank-one", "rank-one-g", "rank-one-c",
                               "output-x", "error-x", "carry"})
            CHECK(ids.count(id) == 1);
        for (const char* id : {"gradient-da", "gradient-du", "error-da", "error-du"})
            CHECK(ids.count(id) == backward);
    };
    check_all();
    CHECK(contains(figure_of(result, "error-x").caption, "All 4 variants are within"));
    CHECK_FALSE(contains(figure_of(result, "error-x").caption, "not finite"));
    result.variants[1].errors[0].nonfinite = 1234;
    CHECK(
        figure_of(result, "output-x").caption.starts_with("two_pass has 1,234 values that are not finite. "));
    // A partial result has no times yet, and a refused variant no outputs.
    forget_times(result);
    check_all();
    refuse_variants(result);
    check_all();
    CHECK(contains(figure_of(result, "output-x").missing, "Needs a variant that ran"));
}

}  // namespace
}  // namespace sawtooth
