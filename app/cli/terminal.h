#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

// To standard output; the exit code: 1 where it could not be written.
int print(std::string_view text);
// One line on standard error; the exit code of the error.
int fail(const Error& error);
void print_note(std::string_view text);  // on standard error

// A line on standard error that renews itself, where that is a terminal; nothing elsewhere.
class ProgressBar {
  public:
    ProgressBar();
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(double fraction, std::string_view words);
    void clear();

  private:
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_;
};

// Breaks a text at spaces into lines no longer than `width`; all but the first are indented.
std::string wrapped(std::string_view text, size_t width, size_t indent);

// The table in parts that are at most `width` characters wide as plain text; each starts with the first
// column, and has at least one more.
std::vector<Table> parts_within(const Table& table, size_t width);
// The parts below each other.
std::string plain_within(const Table& table, size_t width);

}  // namespace sawtooth::cli
