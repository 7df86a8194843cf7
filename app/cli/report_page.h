#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::cli {

// The content of one section of the page.
struct FamilyReport {
    const Family* family = nullptr;
    std::shared_ptr<const Result> result;
    std::vector<Figure> figures;  // from the result and its sweeps
};

// A self-contained HTML page that can be printed. Each family has its description and variants, a summary,
// the figures of the first screen in their order, the other figures, tables, and the command that reproduces
// the numbers.
std::string report_page(const std::vector<FamilyReport>& families, const std::string& date);

}  // namespace sawtooth::cli
