#include "kernels/cpu/row_scan.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "kernels/core/random.h"
#include "tests/kernels/cpu/vector_targets.h"
#include "tests/kit/catch.h"

namespace sawtooth::cpu {
namespace {

// All but complex_linear, whose columns are pairs.
constexpr Operator every_operator[] = {
    Operator::sum,    Operator::product,         Operator::maximum,     Operator::minimum,
    Operator::linear, Operator::compensated_sum, Operator::log_sum_exp, Operator::segmented_sum};
// Lengths around vectors of 4, 8 and 16 lanes, around blocks of four such vectors, and of several blocks with
// an incomplete one at the end.
constexpr int64_t every_length[] = {0,  1,  2,  3,  4,  5,  7,   8,   9,   15,  16, 17,
                                    31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 515};

struct Wide {
    double first, second;
};

Wide join(Operator op, Wide left, Wide right) {
    switch (op) {
        case Operator::product:
            return {left.first * right.first, 0};
        case Operator::maximum:
            return {std::fmax(left.first, right.first), 0};
        case Operator::minimum:
            return {std::fmin(left.first, right.first), 0};
        case Operator::linear:
            return {left.first * right.first, right.first * left.second + right.second};
        case Operator::segmented_sum:
            return {left.first * right.first, (right.first == 0 ? 0 : left.second) + right.second};
        case Operator::log_sum_exp: {
            const double most = std::fmax(left.first, right.first);
            return {most,
                    left.second * std::exp(left.first - most) + right.second * std::exp(right.first - most)};
        }
        default:
            return {left.first + right.first, left.second + right.second};
    }
}

double finished(Operator op, Wide state) {
    return input_planes_of(op) == 2          ? state.second
           : op == Operator::compensated_sum ? state.first + state.second
           : op == Operator::log_sum_exp     ? state.first + std::log(state.second)
                                             : state.first;
}

// Rows of `columns` numbers, forward or backward in memory, with guard values before and after that must not
// change.
struct Data {
    static constexpr int64_t margin = 64;
    static constexpr float untouched = 12345;
    Operator op;
    int64_t rows, columns;
    bool backwards;
    std::vector<float> in[2], out, states[2];
    std::vector<float> carry[2], total[2];

    Data(Operator the_op, int64_t the_rows, int64_t the_columns, bool is_backwards, uint64_t seed = 1)
        : op(the_op), rows(the_rows), columns(the_columns), backwards(is_backwards) {
        Random random(seed, "rows");
        const auto size = static_cast<size_t>(rows * columns + 2 * margin);
        out.assign(size, untouched);
        for (int p = 0; p < 2; ++p) {
            states[p].assign(size, untouched);
            in[p].resize(size);
            // Gates and factors near 1, so that products neither vanish nor overflow.
            const bool is_factor = op == Operator::product || (op == Operator::linear && p == 0);
            for (float& value : in[p])
                value = static_cast<float>(is_factor ? random.uniform(0.9, 1.1) : random.uniform(-1, 1));
            carry[p].resize(static_cast<size_t>(columns));
            for (float& value : carry[p]) value = static_cast<float>(random.uniform(-1, 1));
            if (op == Operator::segmented_sum && p == 0)
                for (float& gate : in[p]) gate = gate < -0.7f ? 0.0f : 1.0f;
            if (op == Operator::log_sum_exp && p == 1)  // sums of exponentials, relative to the largest
                for (std::vector<float>* sums : {&in[p], &carry[p]})
                    for (float& value : *sums) value += 2;
            if (op == Operator::compensated_sum && p == 1) carry[p].assign(carry[p].size(), 0.0f);
            total[p].resize(static_cast<size_t>(columns));
            fill_identity(op, p, total[p].data(), columns);
        }
    }

    int64_t stride() const { return backwards ? -columns : columns; }
    int64_t begin() const { return margin + (backwards ? std::max<int64_t>(rows - 1, 0) * columns : 0); }
    size_t at(int64_t row, int64_t column) const {
        return static_cast<size_t>(begin() + row * stride() + column);
    }

    Walk walk() {
        Walk walk{.op = op, .rows = rows, .columns = columns};
        walk.is_line = columns == 1;
        walk.in = {{in[0].data() + begin(), input_planes_of(op) == 2 ? in[1].data() + begin() : nullptr},
                   stride()};
        walk.carry = {{carry[0].data(), carry[1].data()}};
        walk.total = {{total[0].data(), total[1].data()}};
        return walk;
    }
    Walk scan() {
        Walk with_out = walk();
        with_out.out = out.data() + begin();
        with_out.out_stride = stride();
        return with_out;
    }
    Walk scan_whole_states() {
        Walk with_states = walk();
        with_states.states_out = {{states[0].data() + begin(), states[1].data() + begin()}, stride()};
        return with_states;
    }

    Wide input(int64_t row, int64_t column) const {
        return {in[0][at(row, column)],
                input_planes_of(op) == 2 ? in[1][at(row, column)] : second_of_input(op)};
    }
    Wide carried(int64_t column) const {
        const auto c = static_cast<size_t>(column);
        return {carry[0][c], planes_of(op) == 2 ? carry[1][c] : 0};
    }
};

// The states after every row of a column in double, and the tolerance of a float: every join rounds each
// value by 2^-24 of the largest value that the same walk over absolute values reaches. A maximum is exact,
// and a join of log_sum_exp has four roundings: an exponential within two, a product and a sum.
struct Expected {
    std::vector<Wide> states, slack;
    std::vector<double> slack_of_out;

    Expected(const Data& data, int64_t column) {
        Wide state = data.carried(column), size = magnitude(state);
        for (int64_t row = 0; row < data.rows; ++row) {
            state = join(data.op, state, data.input(row, column));
            size = data.op == Operator::maximum || data.op == Operator::minimum
                       ? Wide{0, 0}
                       : join(data.op, size, magnitude(data.input(row, column)));
            const double rounding = static_cast<double>(2 * row + 4) * 0x1p-24;
            states.push_back(state);
            slack.push_back({rounding * size.first, rounding * size.second});
            if (data.op == Operator::log_sum_exp) slack.back() = {0, 2 * rounding * state.second};
            slack_of_out.push_back(data.op == Operator::log_sum_exp
                                       ? 2 * rounding * (1 + std::abs(finished(data.op, state)))
                                   : input_planes_of(data.op) == 2 ? slack.back().second
                                                                   : slack.back().first);
        }
    }

    static Wide magnitude(Wide state) { return {std::abs(state.first), std::abs(state.second)}; }
};

bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
    return left.size() == right.size() &&
           std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

void check_finished(const Data& data, const Data& before) {
    int64_t wrong = 0;
    for (int64_t column = 0; column < data.columns; ++column) {
        const Expected expected(before, column);
        for (int64_t row = 0; row < data.rows; ++row) {
            const auto r = static_cast<size_t>(row);
            wrong += !(std::abs(data.out[data.at(row, column)] - finished(data.op, expected.states[r])) <=
                       expected.slack_of_out[r]);
        }
    }
    CHECK(wrong == 0);
    int64_t touched = 0;
    for (int64_t i = 0; i < Data::margin; ++i)
        touched += data.out[static_cast<size_t>(i)] != Data::untouched ||
                   data.out[data.out.size() - 1 - static_cast<size_t>(i)] != Data::untouched;
    CHECK(touched == 0);
}

void check_states(const Data& data, const Data& before) {
    int64_t wrong = 0;
    for (int64_t column = 0; column < data.columns; ++column) {
        const Expected expected(before, column);
        for (int64_t row = 0; row < data.rows; ++row) {
            const Wide want = expected.states[static_cast<size_t>(row)];
            const Wide slack = expected.slack[static_cast<size_t>(row)];
            const double first = data.states[0][data.at(row, column)];
            const double second = data.states[1][data.at(row, column)];
            if (data.op == Operator::compensated_sum)  // the error of the sum is in the state
                wrong += !(std::abs(first + second - want.first) <= slack.first * 0x1p-20);
            else
                wrong += !(std::abs(first - want.first) <= slack.first);
            if (planes_of(data.op) == 2 && data.op != Operator::compensated_sum)
                wrong += !(std::abs(second - want.second) <= slack.second);
        }
    }
    CHECK(wrong == 0);
}

void check_scans(const Data& before) {
    for (auto* scan : {scan_rows, scan_and_fold_rows, chain_rows}) {
        Data data = before;
        scan(data.scan());
        check_finished(data, before);
    }
    Data data = before;
    scan_states(data.scan_whole_states());
    check_states(data, before);
}

TEST_CASE("row scans agree with a plain loop in double", "[row_scan][cpu]") {
    const int64_t columns = GENERATE(1, 2, 20, 37);
    const bool backwards = GENERATE(false, true);
    for_each_vector_target([&] {
        for (const Operator op : every_operator) {
            for (const int64_t rows : every_length) {
                INFO("operator " << static_cast<int>(op) << ", " << rows << " rows of " << columns
                                 << (backwards ? " backwards" : ""));
                check_scans(Data(op, rows, columns, backwards));
            }
        }
    });
}

TEST_CASE("fold, scan and scan-and-fold give the same carry, total and rows", "[row_scan][cpu]") {
    const int64_t columns = GENERATE(1, 20);
    const bool backwards = GENERATE(false, true);
    for_each_vector_target([&] {
        for (const Operator op : every_operator) {
            for (const int64_t rows : every_length) {
                INFO("operator " << static_cast<int>(op) << ", " << rows << " rows of " << columns);
                const Data before(op, rows, columns, backwards);
                Data folded = before, scanned = before, both = before, streamed = before;
                fold_rows(folded.walk());
                scan_rows(scanned.scan());
                scan_and_fold_rows(both.scan());
                Walk stream = streamed.scan();
                stream.stream = true;
                scan_rows(stream);
                CHECK(same_bits(both.out, scanned.out));
                CHECK(same_bits(streamed.out, scanned.out));
                for (int p = 0; p < planes_of(op); ++p) {
                    CHECK(same_bits(folded.total[p], both.total[p]));
                    CHECK(same_bits(both.carry[p], scanned.carry[p]));
                    CHECK(same_bits(folded.carry[p], before.carry[p]));
                }
                // The last row is the carry, finished; a logarithm in double rounds otherwise.
                if (rows > 0 && op != Operator::log_sum_exp)
                    for (int64_t column = 0; column < columns; ++column)
                        CHECK(both.out[both.at(rows - 1, column)] ==
                              static_cast<float>(finished(op, both.carried(column))));
            }
        }
    });
}

TEST_CASE("a chain of rows combines strictly one after another", "[row_scan][cpu]") {
    Data data(Operator::linear, 515, 1, GENERATE(false, true));
    float state = data.carry[1][0];
    std::vector<float> expected = data.out;
    for (int64_t row = 0; row < data.rows; ++row) {
        const float product = data.in[0][data.at(row, 0)] * state;
        expected[data.at(row, 0)] = state = product + data.in[1][data.at(row, 0)];
    }
    chain_rows(data.scan());
    CHECK(same_bits(data.out, expected));
}

TEST_CASE("NaN and infinities in a column reach only later rows, as in a plain loop", "[row_scan][cpu]") {
    const bool backwards = GENERATE(false, true);
    const float strange = GENERATE(NAN, INFINITY, -INFINITY);
    for (const Operator op : every_operator) {
        // With gates the value is set in x, not in a gate: an infinite gate times a split prefix may be inf -
        // inf.
        const int plane = input_planes_of(op) - 1;
        for (const int64_t place : {0, 1, 7, 30, 64, 130, 199}) {
            Data data(op, 200, 1, backwards);
            data.in[plane][data.at(place, 0)] = strange;
            Data chain = data;
            chain_rows(chain.scan());
            scan_rows(data.scan());
            int64_t differing = 0;
            for (int64_t row = 0; row < data.rows; ++row) {
                const float is = data.out[data.at(row, 0)], should = chain.out[data.at(row, 0)];
                differing +=
                    !(std::isfinite(should) ? std::isfinite(is)
                                            : (std::isnan(should) && std::isnan(is)) || is == should);
            }
            INFO("operator " << static_cast<int>(op) << ", " << strange << " in row " << place);
            CHECK(differing == 0);
        }
    }
}

TEST_CASE("joining a prefix to rows equals combine and finish", "[row_scan][cpu]") {
    const int64_t columns = GENERATE(1, 2, 3, 16, 100, 300);
    const int64_t rows = GENERATE(1, 2, 5, 300);
    for (const Operator op : every_operator) {
        Data data(op, rows, columns, false);
        const States before = {{data.carry[0].data(), data.carry[1].data()}};
        const States states = {{data.in[0].data(), data.in[1].data()}};
        const auto count = static_cast<size_t>(rows * columns);
        std::vector<float> expected(count), got(count);
        for (int64_t row = 0; row < rows; ++row) {
            std::vector<float> joined[2] = {std::vector<float>(static_cast<size_t>(columns)),
                                            std::vector<float>(static_cast<size_t>(columns))};
            const States out = {{joined[0].data(), joined[1].data()}};
            combine(op, before, states.from(row * columns), out, columns);
            finish(op, out, expected.data() + row * columns, columns);
        }
        combine_rows(op, before, states, got.data(), rows, columns);
        INFO("operator " << static_cast<int>(op));
        CHECK(same_bits(got, expected));
        combine_rows(op, before, states, data.in[0].data(), rows, columns);  // in place
        CHECK(std::memcmp(data.in[0].data(), expected.data(), count * sizeof(float)) == 0);
    }
}

TEST_CASE("totals spread in place become the states before their groups", "[row_scan][cpu]") {
    for (const Operator op : every_operator) {
        Data data(op, 40, 3, false);
        Data chain = data;
        const States totals = {{data.in[0].data(), data.in[1].data()}};
        const States carry = {{data.carry[0].data(), data.carry[1].data()}};
        const States next = {{chain.carry[0].data(), chain.carry[1].data()}};
        spread(op, totals, 40, 3, carry, totals);
        for (int64_t group = 0; group < 40; ++group) {
            for (int p = 0; p < planes_of(op); ++p) {
                const float *const total = totals.plane[p] + group * 3, *const at = next.plane[p];
                CHECK(same_bits({total, total + 3}, {at, at + 3}));
            }
            combine(op, next, States{{chain.in[0].data(), chain.in[1].data()}}.from(group * 3), next, 3);
        }
        for (int p = 0; p < planes_of(op); ++p) CHECK(same_bits(data.carry[p], chain.carry[p]));
    }
}

TEST_CASE("complex rows agree with a plain loop, whatever the number of columns", "[row_scan][cpu]") {
    using Number = std::complex<double>;
    const int64_t columns = GENERATE(2, 6, 16, 38);  // half a vector, a tail, whole vectors, and a tail
    const bool backwards = GENERATE(false, true);
    const Operator op = Operator::complex_linear;
    const auto times = [](Number a, Number b) {  // without the rules for infinities of the library
        return Number(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    };
    for_each_vector_target([&] {
        for (const int64_t rows : {1, 2, 9, 200}) {
            Data before(op, rows, columns, backwards);
            for (float& gate : before.in[0]) gate *= 0.7f;  // at most 1 in magnitude
            Data scanned = before, both = before;
            const auto in = [&](const std::vector<float>& plane, int64_t row, int64_t column) {
                return Number(plane[scanned.at(row, column)], plane[scanned.at(row, column + 1)]);
            };
            scan_rows(scanned.scan());
            scan_and_fold_rows(both.scan());
            CHECK(same_bits(scanned.out, both.out));
            for (int64_t c = 0; c < columns; c += 2) {
                const auto at = static_cast<size_t>(c);
                Number state(before.carry[1][at], before.carry[1][at + 1]), product = 1, total = 0;
                for (int64_t row = 0; row < rows; ++row) {
                    const Number a = in(both.in[0], row, c), x = in(both.in[1], row, c);
                    product = times(a, product);
                    total = times(a, total) + x;
                    state = times(a, state) + x;
                    CHECK(std::abs(in(both.out, row, c) - state) < 1e-5);
                }
                CHECK(std::abs(Number(both.total[0][at], both.total[0][at + 1]) - product) < 1e-5);
                CHECK(std::abs(Number(both.total[1][at], both.total[1][at + 1]) - total) < 1e-5);
            }
        }
    });
}

}  // namespace
}  // namespace sawtooth::cpu
