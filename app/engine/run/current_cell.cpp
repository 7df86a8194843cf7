#include "app/engine/run/current_cell.h"

#include <algorithm>

#include "app/engine/run/configure.h"

namespace sawtooth {
namespace {

// The Request without its parameters, its variants and whatever does not change the numbers.
Request surroundings_of(Request request) {
    const Request usual;
    request.parameters = {};
    request.variants.clear();
    request.preset.clear();
    request.profile = usual.profile;
    request.extras = usual.extras;
    request.time_limit_seconds.reset();
    request.memory_limit_bytes.reset();
    return request;
}

Parameters deciding(const Family& family, const Parameters& parameters, Backend backend) {
    Parameters acting = family.acting(parameters, backend);
    for (const Parameter& row : family.parameters)
        if (row.renews == Renews::figures) acting.values.erase(row.name);
    return acting;
}

bool has_variants(const Result& result, const std::vector<std::string>& names) {
    if (names.empty()) return result.request.variants.empty();
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return find(result, name) != nullptr; });
}

}  // namespace

std::optional<SweepCell> cell_from(const Sweep& sweep, size_t index, const Result& result) {
    const Request request = sweep.request(index);
    const auto family = find_offered_family(request.family);
    if (!family || !result.complete || !result.timed || !has_variants(result, request.variants)) return {};
    if (surroundings_of(request) != surroundings_of(result.request)) return {};
    const Parameters wanted = in_force(**family, request, {}, result.backend);
    if (deciding(**family, wanted, result.backend) != deciding(**family, result.parameters, result.backend))
        return {};
    auto own = std::make_shared<Result>(result);
    own->request = request;
    own->parameters = wanted;
    own->inputs.clear();
    own->reference.clear();
    if (!request.variants.empty())
        std::erase_if(own->variants, [&](const VariantResult& variant) {
            return std::find(request.variants.begin(), request.variants.end(), variant.name) ==
                   request.variants.end();
        });
    for (VariantResult& variant : own->variants) variant.outputs.clear();
    return SweepCell{sweep.cell(index), "", std::move(own)};
}

std::shared_ptr<const SweepResult> with_current(const SweepResult& sweep, const Result& result) {
    std::shared_ptr<SweepResult> renewed;
    for (size_t index = 0; index < sweep.cells.size(); ++index) {
        auto cell = cell_from(sweep.sweep, index, result);
        if (!cell) continue;
        if (!renewed) renewed = std::make_shared<SweepResult>(sweep);
        renewed->cells[index] = std::move(*cell);
    }
    return renewed;
}

}  // namespace sawtooth
