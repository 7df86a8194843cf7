#pragma once

#include <string>

#include "app/engine/bench.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

// No line of a bench on a terminal or in Markdown is longer.
constexpr size_t bench_width = 100;

// A table a family, one row a case and variant; cases that failed are told below it.
std::string bench_text(const BenchReport& report);
std::string bench_markdown(const BenchReport& report);
// The same rows in one table with every number in a column of its own.
Table bench_table(const BenchReport& report);

}  // namespace sawtooth::cli
