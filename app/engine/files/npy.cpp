#include "app/engine/files/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace sawtooth {
namespace {

// Reads the few Python literals of a header from left to right.
class Literals {
  public:
    explicit Literals(std::string_view text) : rest_(text) {}

    bool take(char wanted) {
        skip_space();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    bool take(std::string_view word) {
        skip_space();
        if (rest_.substr(0, word.size()) != word) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::optional<std::string> quoted() {
        const char quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
        const size_t end = quote ? rest_.find(quote) : std::string_view::npos;
        if (end == std::string_view::npos) return {};
        std::string word(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return word;
    }

    // An integer; Python 2 wrote long ones with an L.
    std::optional<int64_t> integer() {
        skip_space();
        int64_t number = 0;
        const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
        if (problem != std::errc{}) return {};
        rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
        take('L');
        return number;
    }

    bool at_end() {
        skip_space();
        return rest_.empty();
    }

  private:
    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    std::string_view rest_;
};

std::optional<Shape> read_shape(Literals& literals) {
    Shape shape;
    if (!literals.take('(')) return {};
    while (!literals.take(')')) {
        const auto extent = literals.integer();
        if (!extent) return {};
        shape.push_back(*extent);
        if (!literals.take(',')) {
            if (!literals.take(')')) return {};
            return shape;
        }
    }
    return shape;
}

std::optional<std::string> wrong_with(const Shape& shape) {
    constexpr size_t dimensions = 32;  // the limit of NumPy
    constexpr int64_t most = int64_t{1} << 62;
    if (shape.size() > dimensions)
        return fmt::format("has {} dimensions; the limit is {}", shape.size(), dimensions);
    // The product of the non-empty axes, so that an empty one does not hide overflow of the others.
    int64_t product = 1;
    for (const int64_t extent : shape) {
        if (extent < 0) return fmt::format("shape {} is negative", to_text(shape));
        if (extent == 0) continue;
        if (extent > most / product) return fmt::format("shape {} is larger than any memory", to_text(shape));
        product *= extent;
    }
    return {};
}

}  // namespace

Outcome<NpyHeader> parse_npy_header(std::string_view text) {
    const Error damaged = Error::usage("damaged .npy header; write it with numpy.save");
    Literals literals(text);
    std::optional<std::string> dtype;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    if (!literals.take('{')) return damaged;
    while (!literals.take('}')) {
        const auto key = literals.quoted();
        if (!key || !literals.take(':')) return damaged;
        if (key == "descr" && !dtype) {
            if (literals.take('['))
                return Error::usage("structured arrays are not supported; expected an array of numbers");
            dtype = literals.quoted();
            if (!dtype) return damaged;
        } else if (key == "fortran_order" && !fortran_order) {
            fortran_order = literals.take("True");
            if (!*fortran_order && !literals.take("False")) return damaged;
        } else if (key == "shape" && !shape) {
            shape = read_shape(literals);
            if (!shape) return damaged;
        } else {
            return damaged;
        }
        if (!literals.take(',')) {
            if (!literals.take('}')) return damaged;
            break;
        }
    }
    if (!literals.at_end() || !dtype || !fortran_order || !shape) return damaged;
    if (auto problem = wrong_with(*shape)) return Error::usage(*problem);
    return NpyHeader{*dtype, *fortran_order, *shape};
}

std::string npy_header(const Array& array) {
    std::string_view dtype;
    switch (array.dtype) {
        case Dtype::f32:
            dtype = "<f4";
            break;
        case Dtype::f64:
            dtype = "<f8";
            break;
        case Dtype::complex64:
            dtype = "<c8";
            break;
        case Dtype::complex128:
            dtype = "<c16";
            break;
        case Dtype::int32:
            dtype = "<i4";
            break;
    }
    std::string shape;
    for (const int64_t extent : array.shape) shape += fmt::format("{},", extent);
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, shape);
    constexpr size_t before = 10;  // bytes of magic, version and length
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string header(npy_magic);
    header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
    return header + text;
}

}  // namespace sawtooth
