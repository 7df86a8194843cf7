#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

// Writes to standard output. Returns the exit code: 1 if that failed.
int print(std::string_view text);
// Prints the error as one line on standard error. Returns its exit code.
int fail(const Error& error);
// Prints the error and ends the program at once, whatever its threads are doing.
[[noreturn]] void end_with(const Error& error);
// The exit code of a command that printed results: 4 if a variant is wrong, which is also reported in one
// line on standard error; otherwise `written`.
int exit_code(int written, std::string_view wrong, bool allowed);
void print_note(std::string_view text);  // prints on standard error

// A progress line on standard error; draws nothing if that is not a terminal.
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

// Prints a note while the progress line is shown.
void note_beside(ProgressBar& bar, std::string_view text);

// The usual width of printed texts and tables, in characters.
constexpr size_t text_width = 110;

// Breaks a text at spaces into lines of at most `width` bytes; all but the first are indented.
std::string wrapped(std::string_view text, size_t width, size_t indent);

// Splits a table into parts of at most `width` characters as plain text. Each part repeats the first
// column and has at least one more.
std::vector<Table> parts_within(const Table& table, size_t width);
// The parts as text, one below the other.
std::string plain_within(const Table& table, size_t width);

}  // namespace sawtooth::cli
