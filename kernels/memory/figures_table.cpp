#include <algorithm>

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
    for (const std::string& rule : rules())
        matrix.column_labels.push_back(parameters.is("rule", rule) ? "[" + rule + "]" : rule);
    for (const Strategy& strategy : strategies()) {
        matrix.row_labels.push_back(strategy.name);
        for (size_t rule = 0; rule < rules().size(); ++rule) {
            const bool goes = std::find(strategy.rules.begin(), strategy.rules.end(), rules()[rule]) !=
                              strategy.rules.end();
            const int kind = goes ? static_cast<int>(strategy.exact(static_cast<UpdateRule>(rule))) : -1;
            matrix.cells.push_back(kind);
            matrix.texts.push_back(goes ? texts[kind] : "");
        }
    }
    figure.marks.push_back(std::move(matrix));
    return figure;
}

}  // namespace sawtooth::memory
