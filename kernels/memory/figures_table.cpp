#include "kernels/memory/figure_parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

Figure table_figure(const Parameters& parameters) {
    Figure figure = new_figure("rules-and-strategies", Place::error, "Rules and strategies",
                               "Where each strategy gives what the sequential rule gives, when tokens read "
                               "the evolving memory; an empty cell: it does not go with the rule.",
                               {}, {});
    static const char* const texts[] = {"exact", "at chunk 1", "in locals"};
    Matrix matrix;
    matrix.kinds = {{"exact", {Ink::Role::accent}},
                    {"exact at chunk 1", {Ink::Role::quiet}},
                    {"exact inside a local memory", {Ink::Role::limit}}};
    for (const UpdateRule& rule : rules())
        matrix.column_labels.push_back(parameters.is("rule", rule.name) ? "[" + rule.name + "]" : rule.name);
    for (const Strategy& strategy : strategies()) {
        matrix.row_labels.push_back(strategy.name);
        for (const UpdateRule& rule : rules()) {
            const bool goes = strategy.goes_with(rule);
            const int kind = goes ? static_cast<int>(strategy.exact_for(rule)) : -1;
            matrix.cells.push_back(kind);
            matrix.texts.push_back(goes ? texts[kind] : "");
        }
    }
    figure.marks.push_back(std::move(matrix));
    return figure;
}

}  // namespace sawtooth::memory
