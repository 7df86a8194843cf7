#include "kernels/core/typed_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "kernels/core/nearest.h"

namespace sawtooth {
namespace {

constexpr const char* range_form =
    "a range is FIRST..LAST, FIRST..LASTxFACTOR or FIRST..LAST+STEP, like 16..256, 16..256x2 or 64..512+64";

// Evaluates the grammar
//   sum: product {+|- product}; product: factor {*|/ factor}; factor: {+|-} base [^ factor];
//   base: number [k|M|G] | "(" sum ")"
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
        const auto value = base(depth);
        if (!value || !take('^')) return value;
        const auto exponent = factor(depth + 1);
        return exponent ? std::optional(std::pow(*value, *exponent)) : std::nullopt;
    }

    std::optional<double> base(int depth) {
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

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::string with_spaces(std::string_view title) {
    std::string text(title);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

// Rounds off the last digits, in which sums of decimal fractions are inexact.
double tidy(double number) {
    char text[32];
    const auto written = std::to_chars(text, text + sizeof text, number, std::chars_format::general, 12);
    std::from_chars(text, written.ptr, number);
    return number;
}

struct TypedRange {
    double first = 0, last = 0;
    std::optional<double> factor, step;
};

// Returns where the factor or the step of a range begins: at an x or + outside parentheses that is neither a
// sign nor part of an exponent.
size_t end_of_last(std::string_view text) {
    int depth = 0;
    for (size_t i = 1; i < text.size(); ++i) {
        const char before = text[i - 1];
        if (before == '(') ++depth;
        if (text[i] == ')') --depth;
        const bool in_exponent =
            i > 1 && (before == 'e' || before == 'E') && text[i - 2] >= '.' && text[i - 2] <= '9';
        if (depth == 0 && (text[i] == 'x' || (text[i] == '+' && !in_exponent))) return i;
    }
    return text.size();
}

// Reads a range; absent if the text is not one.
std::optional<TypedRange> parse_range(std::string_view text) {
    const size_t dots = text.find("..");
    const std::string_view rest = text.substr(dots + 2);
    const size_t end = end_of_last(rest);
    const auto first = evaluate(text.substr(0, dots)), last = evaluate(rest.substr(0, end));
    if (!first || !last) return {};
    TypedRange range{*first, *last, {}, {}};
    if (end == rest.size()) return range;
    const auto pace = evaluate(rest.substr(end + 1));
    if (!pace) return {};
    (rest[end] == 'x' ? range.factor : range.step) = *pace;
    return range;
}

// Returns both ends and even steps between them; of integers all if they are few.
std::vector<double> in_even_steps(double first, double last, bool whole) {
    int steps = 8;
    const double length = last - first;
    if (whole && length <= steps) steps = static_cast<int>(length);
    if (whole && length > steps)
        for (const int count : {8, 9, 7, 10, 6, 11, 5, 12, 4})
            if (std::fmod(length, count) == 0) {
                steps = count;
                break;
            }
    std::vector<double> numbers;
    for (int i = 0; i < steps; ++i) numbers.push_back(tidy(first + length * i / steps));
    numbers.push_back(last);
    return numbers;
}

// Returns values that are even on a logarithmic axis of 1 - value, on which an end of 1 counts as eight
// halvings.
std::vector<double> towards_one(double first, double last) {
    const double ratio = (last < 1 ? 1 - last : (1 - first) / 256) / (1 - first);
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
        const double rest = (1 - first) * std::pow(ratio, i / 8.0);
        const double digit = std::pow(10, std::floor(std::log10(rest)) - 1);
        numbers.push_back(i == 0 ? first : tidy(1 - std::round(rest / digit) * digit));
    }
    numbers.push_back(last);
    return numbers;
}

std::vector<double> automatic_steps(const Parameter& row, double first, double last) {
    if (first == last) return {first};
    if (row.step == Step::towards_one && last <= 1) return towards_one(first, last);
    if (row.step != Step::powers_of_two) return in_even_steps(first, last, row.type == Type::integer);
    std::vector<double> numbers = {first};
    for (double power = 1; power < last; power *= 2)
        if (power > first) numbers.push_back(power);
    numbers.push_back(last);
    return numbers;
}

// Returns the choices in the range, in their order.
std::vector<double> choices_within(const Parameter& row, double first, double last) {
    std::vector<double> numbers;
    for (const Value& choice : row.choices)
        if (const auto number = as_number(choice); number && *number >= first && *number <= last)
            numbers.push_back(*number);
    return numbers;
}

// Returns the values of a range, at most most_swept_values + 1 of them.
std::vector<double> numbers_of(const Parameter& row, const TypedRange& range) {
    if (!range.factor && !range.step)
        return row.type == Type::choice ? choices_within(row, range.first, range.last)
                                        : automatic_steps(row, range.first, range.last);
    const double last = range.last + 1e-9 * std::abs(range.last);
    std::vector<double> numbers;
    for (double number = range.first; number <= last && numbers.size() <= most_swept_values;) {
        numbers.push_back(tidy(number));
        number = range.factor ? number * *range.factor
                              : range.first + static_cast<double>(numbers.size()) * *range.step;
    }
    return numbers;
}

// Returns why the range has no values; "" if it has some.
std::string fault_in(const Parameter& row, const std::optional<TypedRange>& range) {
    const bool has_numbers = row.type == Type::integer || row.type == Type::real ||
                             std::any_of(row.choices.begin(), row.choices.end(),
                                         [](const Value& v) { return as_number(v).has_value(); });
    if (!has_numbers) return "it has no order, so no ranges; accepted: " + row.accepted();
    if (!range) return range_form;
    if (range->first > range->last) return "the first number of a range must not be above the last";
    if (range->factor && !(*range->factor > 1 && range->first > 0))
        return "a factor must be above 1, and the first number above 0";
    if (range->step && !(*range->step > 0)) return "a step must be above 0";
    return "";
}

Outcome<std::vector<Value>> values_of_range(const Parameter& row, std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        return Error::usage(Refusal{row.name, std::string(text), why});
    };
    const auto range = parse_range(text);
    if (const std::string fault = fault_in(row, range); !fault.empty()) return refuse(fault);
    const std::vector<double> numbers = numbers_of(row, *range);
    if (numbers.empty()) return refuse("no value in this range; accepted: " + row.accepted());
    std::vector<Value> values;
    for (const double number : numbers) {
        const Value value = number_value(row, number);
        if (row.type == Type::integer && !range->factor && as_number(value) != number)
            return refuse("not integers; accepted: " + row.accepted());
        if (const auto refusal = row.check(value)) return Error::usage(*refusal);
        values.push_back(value);
    }
    return values;
}

}  // namespace

std::optional<double> as_number(const Value& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return {};
}

Outcome<double> evaluate(std::string_view text) {
    Reader reader(text);
    const auto value = reader.whole();
    const std::string quoted = "'" + std::string(text) + "'";
    if (!value)
        return Error::usage(quoted + (reader.rest().empty()
                                          ? " is incomplete"
                                          : " is invalid at '" + std::string(reader.rest()) + "'"));
    if (!std::isfinite(*value)) return Error::usage(quoted + " is not a finite number");
    return *value;
}

Value number_value(const Parameter& row, double number) {
    for (const Value& choice : row.choices)
        if (as_number(choice) == number) return choice;
    if (row.type == Type::real) return number;
    return static_cast<int64_t>(std::llround(std::clamp(number, -0x1p62, 0x1p62)));
}

const Parameter* find_parameter(const Family& family, std::string_view typed) {
    if (const Parameter* const row = family.parameter(typed)) return row;
    const Parameter* found = nullptr;
    for (const Parameter& row : family.parameters) {
        if (row.title.empty() || with_spaces(row.title) != with_spaces(typed)) continue;
        if (found) return nullptr;
        found = &row;
    }
    return found;
}

std::string name_and_title(const Parameter& row) {
    return row.title.empty() ? row.name : row.name + " (" + row.title + ")";
}

std::string no_such_parameter(std::string_view typed, const Family& family) {
    Names words, rows;
    for (const Parameter& row : family.parameters) {
        words.push_back(row.name);
        if (!row.title.empty()) words.push_back(row.title);
        rows.push_back(name_and_title(row));
    }
    return std::string(typed) + " is not a parameter of " + family.name + "." + suggestion(typed, words) +
           " Parameters: " + listed(rows);
}

Outcome<std::vector<Value>> parse_values(const Parameter& row, std::string_view text) {
    std::vector<Value> values;
    const auto add = [&](const Value& value) {
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    };
    for (size_t start = 0; start <= text.size();) {
        const size_t comma = std::min(text.find(',', start), text.size());
        const std::string_view item = trimmed(text.substr(start, comma - start));
        if (item.find("..") == std::string_view::npos) {
            const auto value = row.parse(item);
            if (!value) return value.error();
            add(*value);
        } else {
            const auto range = values_of_range(row, item);
            if (!range) return range.error();
            for (const Value& value : *range) add(value);
        }
        start = comma + 1;
    }
    if (values.size() > most_swept_values) {
        constexpr size_t most_quoted = 80;  // a list of so many values fills a screen
        return Error::usage(
            Refusal{row.name, text.size() > most_quoted ? "" : std::string(text), "more than 1000 values"});
    }
    return values;
}

std::string range_text(const Parameter& row, const std::vector<Value>& values) {
    const auto reads = [&](const std::string& text) {
        const auto read = parse_values(row, text);
        return read && *read == values;
    };
    if (values.size() > 2) {
        const std::string ends = to_text(values.front()) + ".." + to_text(values.back());
        if (reads(ends)) return ends;
        const auto first = as_number(values[0]), second = as_number(values[1]);
        if (first && second) {
            const std::string stepped = ends + "+" + to_text(number_value(row, tidy(*second - *first)));
            if (reads(stepped)) return stepped;
        }
    }
    std::string list;
    for (const Value& value : values) list += (list.empty() ? "" : ",") + to_text(value);
    return list;
}

}  // namespace sawtooth
