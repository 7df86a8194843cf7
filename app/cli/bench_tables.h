#pragma once

#include <string>

#include "app/engine/tables/bench.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

// The longest line of a bench in characters, on a terminal and in Markdown.
constexpr size_t bench_width = 112;

// One table per family, one row per case and variant; failures are listed below it.
std::string bench_text(const BenchReport& report);
std::string bench_markdown(const BenchReport& report);
// The same rows in one table, each number in its own column.
Table bench_table(const BenchReport& report);

}  // namespace sawtooth::cli
