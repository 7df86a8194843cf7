#include "app/gui/expression.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace sawtooth {
namespace {

// sum: product {+|- product}; product: factor {*|/ factor}; factor: {+|-} (number [k|M|G] | "(" sum ")").
class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::optional<double> whole() {
        const auto value = sum(0);
        skip_spaces();
        if (!value || at_ < text_.size()) return {};
        return value;
    }

    std::string_view rest() const { return text_.substr(at_); }

  private:
    static constexpr int deepest = 64;  // hostile input must not overflow the stack

    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    bool take(char wanted) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    std::optional<double> sum(int depth) {
        auto left = product(depth);
        while (left) {
            const bool plus = take('+');
            if (!plus && !take('-')) return left;
            const auto right = product(depth);
            if (!right) return {};
            left = plus ? *left + *right : *left - *right;
        }
        return left;
    }

    std::optional<double> product(int depth) {
        auto left = factor(depth);
        while (left) {
            const bool times = take('*');
            if (!times && !take('/')) return left;
            const auto right = factor(depth);
            if (!right) return {};
            left = times ? *left * *right : *left / *right;
        }
        return left;
    }

    std::optional<double> factor(int depth) {
        if (depth > deepest) return {};
        if (take('+')) return factor(depth + 1);
        if (take('-')) {
            const auto value = factor(depth + 1);
            return value ? std::optional(-*value) : std::nullopt;
        }
        if (!take('(')) return number();
        const auto value = sum(depth + 1);
        return value && take(')') ? value : std::nullopt;
    }

    std::optional<double> number() {
        skip_spaces();
        double value = 0;
        const char* begin = text_.data() + at_;
        const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (problem != std::errc{} || !std::isfinite(value)) return {};
        at_ += static_cast<size_t>(end - begin);
        if (take('k')) return value * 0x1p10;
        if (take('M')) return value * 0x1p20;
        if (take('G')) return value * 0x1p30;
        return value;
    }

    std::string_view text_;
    size_t at_ = 0;
};

bool fits_integer(double number) { return number == std::floor(number) && std::abs(number) < 0x1p53; }

}  // namespace

Outcome<double> evaluate(std::string_view text) {
    Reader reader(text);
    const auto value = reader.whole();
    if (!value)
        return Error::usage(reader.rest().empty()
                                ? fmt::format("'{}' is incomplete", text)
                                : fmt::format("'{}' is invalid at '{}'", text, reader.rest()));
    if (!std::isfinite(*value)) return Error::usage(fmt::format("'{}' is not a finite number", text));
    return *value;
}

Value number_value(const Parameter& row, double number) {
    for (const Value& choice : row.choices)
        if (choice == Value(static_cast<int64_t>(number))) return choice;
    if (row.type == Type::integer) return static_cast<int64_t>(number);
    return number;
}

Outcome<Value> parse_typed(const Parameter& row, std::string_view text) {
    auto plain = row.parse(text);
    if (plain || (row.type != Type::integer && row.type != Type::real)) return plain;
    const auto number = evaluate(text);
    if (!number) return Error::usage(fmt::format("{}: {}", row.name, number.error().text));
    if (row.type == Type::integer && !fits_integer(*number))
        return Error::usage(fmt::format("{} = {}: must be an integer", row.name, *number));
    const Value value = number_value(row, *number);
    if (const auto refusal = row.check(value)) return Error::usage(*refusal);
    return value;
}

}  // namespace sawtooth
