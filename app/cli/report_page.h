#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::cli {

// One section of the page.
struct FamilyReport {
    const Family* family = nullptr;
    std::shared_ptr<const Result> result;
    std::vector<Figure> figures;  // from the result and its sweeps
};

// A self-contained HTML page: per family a summary, times, figures as SVG in light and dark, tables and the
// command that makes the same numbers.
std::string report_page(const std::vector<FamilyReport>& families, const std::string& date);

}  // namespace sawtooth::cli
