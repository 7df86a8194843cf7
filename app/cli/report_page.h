#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::cli {

// What the page shows of one family.
struct FamilyReport {
    const Family* family = nullptr;
    std::shared_ptr<const Result> result;
    std::vector<Figure> figures;  // of the result and of the sweeps
};

// One HTML page that holds everything it shows: figures as SVG in light and dark, tables, how to make it
// again.
std::string report_page(const std::vector<FamilyReport>& families, const std::string& date);

}  // namespace sawtooth::cli
