#include "app/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/engine/files/files.h"

namespace sawtooth::cli {
namespace {

std::string one_line(std::string_view text) {
    std::string line(text);
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    return line;
}

void complain(std::string_view text) {
    const std::string line = fmt::format("sawtooth: {}\n", one_line(text));
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

int print(std::string_view text) {
    if (const auto problem = write_file("-", text)) return fail(*problem);
    return 0;
}

int fail(const Error& error) {
    complain(error.text);
    return error.exit_code();
}

void end_with(const Error& error) { std::_Exit(fail(error)); }

int exit_code(int written, std::string_view wrong, bool allowed) {
    constexpr int wrong_code = 4;
    if (written != 0 || wrong.empty() || allowed) return written;
    fail(Error::failure(std::string(wrong) + ". Use --allow-wrong to accept it"));
    return wrong_code;
}

void print_note(std::string_view text) { complain(fmt::format("note: {}", text)); }

ProgressBar::ProgressBar() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressBar::show(double fraction, std::string_view words) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || (shown_ && now - last_ < std::chrono::milliseconds(50))) return;
    constexpr int width = 24;
    const double done = std::clamp(fraction, 0.0, 1.0);
    const std::string bar(static_cast<size_t>(done * width), '#');
    const std::string line =
        fmt::format("\r\033[K[{:<{}}] {:3.0f} %  {:.60}", bar, width, 100 * done, one_line(words));
    std::fwrite(line.data(), 1, line.size(), stderr);
    shown_ = true;
    last_ = now;
}

void ProgressBar::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

void note_beside(ProgressBar& bar, std::string_view text) {
    bar.clear();
    print_note(text);
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
    std::string lines;
    size_t column = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find(' '), text.size());
        if (column > 0 && column + 1 + end > width) {
            lines += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > 0) {
            lines += ' ';
            ++column;
        }
        lines += text.substr(0, end);
        column += end;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<Table> parts_within(const Table& table, size_t width) {
    std::vector<Table> parts;
    const Table none{{}, std::vector<std::vector<std::string>>(table.rows.size())};
    const auto with = [&](Table part, size_t column) {
        part.columns.push_back(table.columns[column]);
        for (size_t r = 0; r < table.rows.size(); ++r) part.rows[r].push_back(table.rows[r][column]);
        return part;
    };
    const auto width_of = [](const Table& part) {
        const std::string lines = part.plain();
        size_t widest = 0;
        for (size_t start = 0; start < lines.size();) {
            const size_t end = lines.find('\n', start);
            widest = std::max(widest, end - start);
            start = end + 1;
        }
        return widest;
    };
    Table part = none;
    for (size_t column = 0; column < table.columns.size(); ++column) {
        Table longer = with(part, column);
        if (part.columns.size() > 1 && width_of(longer) > width) {
            parts.push_back(std::move(part));
            longer = with(with(none, 0), column);
        }
        part = std::move(longer);
    }
    parts.push_back(std::move(part));
    return parts;
}

std::string plain_within(const Table& table, size_t width) {
    std::string text;
    for (const Table& part : parts_within(table, width)) text += (text.empty() ? "" : "\n") + part.plain();
    return text;
}

}  // namespace sawtooth::cli
