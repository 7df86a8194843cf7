#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/figure.h"
#include "kernels/core/result.h"
#include "tests/kit/run_family.h"

namespace sawtooth::figure_facts {

inline const Figure& figure_named(const std::vector<Figure>& figures, const std::string& id) {
    for (const Figure& figure : figures)
        if (figure.id == id) return figure;
    FAIL("no figure " << id);
    return figures.front();
}

inline Figure figure_of(const Result& result, const std::string& id, const View& view = {}) {
    return figure_named(family_of(result.parameters).figures(result, view), id);
}

// Returns a result with generated inputs and their reference, for which nothing ran.
inline Result result_of(const Family& family, const Settings& settings) {
    Result result;
    result.parameters = settled(family, settings);
    result.inputs = generated_inputs(family, result.parameters);
    result.reference = reference_for(result.parameters, result.inputs);
    return result;
}

inline bool has_figure(const std::vector<Figure>& figures, const std::string& id) {
    return std::any_of(figures.begin(), figures.end(), [&](const Figure& figure) { return figure.id == id; });
}

template <class Wanted>
std::vector<Wanted> marks_of(const Figure& figure) {
    std::vector<Wanted> marks;
    for (const Mark& mark : figure.marks)
        if (const auto* wanted = std::get_if<Wanted>(&mark)) marks.push_back(*wanted);
    return marks;
}

inline const Line& line_named(const std::vector<Line>& lines, const std::string& label) {
    for (const Line& line : lines)
        if (line.label == label) return line;
    FAIL("no line " << label);
    return lines.front();
}

// Returns the ids of figures and checks that each is complete: it has its own id, a title, marks and a
// caption or the sentence why marks are missing, and only controls that renew nothing but figures.
inline std::set<std::string> ids_of_complete(const std::vector<Figure>& figures, const Family& family) {
    std::set<std::string> ids;
    for (const Figure& figure : figures) {
        INFO(figure.id);
        CHECK(ids.insert(figure.id).second);
        CHECK(figure.marks.empty() == !figure.missing.empty());
        CHECK(figure.caption.empty() == !figure.missing.empty());
        CHECK_FALSE(figure.title.empty());
        for (const std::string& name : figure.chosen_by)
            CHECK(family.parameter(name)->renews == Renews::figures);
    }
    return ids;
}

// Removes the times, as in a partial result.
inline void forget_times(Result& result) {
    for (VariantResult& variant : result.variants) variant.time.reset(), variant.launches.clear();
}

inline void refuse_variants(Result& result) {
    for (VariantResult& variant : result.variants) {
        variant.outputs.clear(), variant.errors.clear();
        variant.refused = "refused";
    }
}

}  // namespace sawtooth::figure_facts
