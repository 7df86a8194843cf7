#include "kernels/cuda/compile_log.h"

#include <cstdlib>
#include <sstream>

namespace sawtooth::cuda {
namespace {

bool has(const std::string& line, const char* words) { return line.find(words) != std::string::npos; }

// Returns the number right before `words`: 372 in "0 bytes, 372 bytes spill stores"; 0 if there is none.
int64_t number_before(const std::string& line, const char* words) {
    size_t end = line.find(words);
    if (end == std::string::npos) return 0;
    size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    return std::atoll(line.substr(begin, end - begin).c_str());
}

// Returns the text between the first two single quotes.
std::string quoted(const std::string& line) {
    const size_t open = line.find('\'');
    const size_t close = line.find('\'', open + 1);
    return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

// Whether a line is a warning. Lines that begin with spaces show source code. Performance remarks of the
// assembler, which have a number ("ptxas info : (C7508) …"), count as warnings.
bool is_warning(const std::string& line) {
    return !line.starts_with(' ') &&
           (has(line, ": warning") || has(line, "ptxas warning") || has(line, "(C7"));
}

bool is_error(const std::string& line) {
    return !line.starts_with(' ') && !is_warning(line) &&
           (has(line, "error:") || has(line, "; error") || has(line, "ptxas error") || has(line, "fatal"));
}

}  // namespace

CompileLog read_compile_log(std::string_view log, const std::string& file) {
    CompileLog result;
    Resources* entry = nullptr;
    std::istringstream lines{std::string(log)};
    for (std::string line; std::getline(lines, line);) {
        if (has(line, "Compiling entry function")) entry = &result.kernels[quoted(line)];
        if (entry && has(line, "bytes spill stores"))
            entry->spill_bytes +=
                number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
        if (entry && has(line, "Used ")) {
            entry->registers = static_cast<int>(number_before(line, " registers"));
            entry->shared_bytes = number_before(line, " bytes smem");
            entry->barriers = static_cast<int>(number_before(line, " barriers"));
        }
        if (is_warning(line)) result.warnings += (result.warnings.empty() ? "" : "\n") + line;
        if (result.first_error.empty() && is_error(line))
            result.first_error = line.starts_with("kernels/") ? line : file + ": " + line;
    }
    return result;
}

}  // namespace sawtooth::cuda
