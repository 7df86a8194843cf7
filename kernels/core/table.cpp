#include "kernels/core/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sawtooth {
namespace {

std::string heading(const Table::Column& column) {
    return column.unit.empty() ? column.name : column.name + " (" + column.unit + ")";
}

// Returns the number of columns on a screen: UTF-8 continuation bytes take none.
size_t width_of(const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool right) {
    const std::string room(width > width_of(text) ? width - width_of(text) : 0, ' ');
    return right ? room + text : text + room;
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string tsv_cell(std::string text) {
    for (char& c : text)
        if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    return text;
}

template <class Cell>
std::string separated(const Table& table, const char* separator, const char* line_end, Cell&& cell) {
    std::string text;
    const auto add = [&](const std::string& part, bool first) {
        text += (first ? "" : separator) + cell(part);
    };
    for (size_t c = 0; c < table.columns.size(); ++c) add(heading(table.columns[c]), c == 0);
    text += line_end;
    for (const auto& row : table.rows) {
        for (size_t c = 0; c < row.size(); ++c) add(row[c], c == 0);
        text += line_end;
    }
    return text;
}

std::vector<size_t> widths_of(const Table& table) {
    std::vector<size_t> widths;
    for (size_t c = 0; c < table.columns.size(); ++c) {
        size_t width = width_of(heading(table.columns[c]));
        for (const auto& row : table.rows) width = std::max(width, width_of(row[c]));
        widths.push_back(width);
    }
    return widths;
}

}  // namespace

std::string Table::plain() const {
    const auto widths = widths_of(*this);
    std::string text;
    const auto line = [&](auto&& cell_of) {
        std::string row;
        for (size_t c = 0; c < columns.size(); ++c)
            row += (c ? "  " : "") + padded(cell_of(c), widths[c], columns[c].number);
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    };
    line([&](size_t c) { return heading(columns[c]); });
    for (const auto& row : rows) line([&](size_t c) { return row[c]; });
    return text;
}

std::string Table::markdown() const {
    const auto widths = widths_of(*this);
    std::string text = "|";
    for (size_t c = 0; c < columns.size(); ++c)
        text += " " + padded(heading(columns[c]), widths[c], columns[c].number) + " |";
    text += "\n|";
    for (size_t c = 0; c < columns.size(); ++c)
        text += " " + std::string(std::max<size_t>(widths[c], 3) - 1, '-') + (columns[c].number ? ":" : "-") +
                " |";
    text += "\n";
    for (const auto& row : rows) {
        text += "|";
        for (size_t c = 0; c < columns.size(); ++c)
            text += " " + padded(row[c], widths[c], columns[c].number) + " |";
        text += "\n";
    }
    return text;
}

std::string Table::csv() const { return separated(*this, ",", "\r\n", csv_cell); }
std::string Table::tsv() const { return separated(*this, "\t", "\n", tsv_cell); }

std::string short_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    const double size = std::fabs(value);
    if (value == 0)
        return "0";
    else if (size < 1e-3 || size >= 1e6)
        std::snprintf(text, sizeof text, "%.2e", value);
    else if (value == std::floor(value) || size >= 1e4)
        std::snprintf(text, sizeof text, "%.0f", value);
    else
        std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string number_words(double value) {
    constexpr double exact = 1e15;
    const double size = std::fabs(value);
    if (!(size >= 1e4 && size < exact)) return short_number(value);
    if (value == std::floor(value)) return with_thousands(std::llround(value));
    const double scale = std::pow(10, std::floor(std::log10(size)) - 3);  // of the last of four digits
    return with_thousands(std::llround(std::round(value / scale) * scale));
}

std::string rounded(double value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

std::string percent_number(double share) {
    return share < 0.1 ? rounded(100 * share, 2) : std::to_string(std::lrint(100 * share));
}

std::string with_thousands(int64_t count) {
    std::string digits = std::to_string(count);
    for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<size_t>(at), 1, ',');
    return digits;
}

std::string count_words(int64_t count, std::string_view noun) {
    return with_thousands(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string short_time(double microseconds) {
    char text[32];
    if (microseconds < 999.5)
        std::snprintf(text, sizeof text, "%.3g us", microseconds);
    else if (microseconds < 999.5e3)
        std::snprintf(text, sizeof text, "%.3g ms", microseconds / 1e3);
    else
        std::snprintf(text, sizeof text, "%.3g s", microseconds / 1e6);
    return text;
}

std::string short_bytes(double bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
    char text[32];
    const int digits = bytes < 1000 ? 3 : 4;  // so that 1,000 to 1,023 have no exponent
    if (unit == 0)
        std::snprintf(text, sizeof text, "%.0f B", bytes);
    else
        std::snprintf(text, sizeof text, "%.*g %s", digits, bytes, units[unit]);
    return text;
}

}  // namespace sawtooth
