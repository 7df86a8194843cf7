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

// A self-contained HTML page that can be printed: per family what it is and its variants, a summary, the
// figures of the first screen in its order, then the others, tables, and the command that makes the same
// numbers.
std::string report_page(const std::vector<FamilyReport>& families, const std::string& date);

}  // namespace sawtooth::cli
