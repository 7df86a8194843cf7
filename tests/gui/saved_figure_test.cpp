// A saved figure is the one that the window shows.

#include <algorithm>

#include "app/gui/figures/figure_menu.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

// Errors against the length, whose points set it.
Figure against_length() {
    Figure figure = FakeEngine::figure("against", Place::error, "Error against length");
    Line& line = std::get<Line>(figure.marks.front());
    line.sets = {"length", line.x};
    return figure;
}

void show(LabState& lab, const Figure& figure) {
    lab.figures = std::make_shared<const std::vector<Figure>>(std::vector{figure});
}

// The picture of the only figure of the result.
Figure saved(LabState& lab) {
    std::vector<Action> all;
    add_figures(lab, all);
    const std::string& title = lab.figures->front().title;
    const auto found = std::ranges::find_if(all, [&](const Action& entry) {
        return entry.name == "Save as PNG…" && entry.details(lab) == title;
    });
    REQUIRE(found != all.end());
    found->act(lab);
    REQUIRE(lab.saving);
    return lab.saving->figure;
}

template <class T>
std::vector<T> marks_of(const Figure& figure) {
    std::vector<T> marks;
    for (const Mark& mark : figure.marks)
        if (const T* const found = std::get_if<T>(&mark)) marks.push_back(*found);
    return marks;
}

TEST_CASE("a saved figure has marks at the values of the result that is shown", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    run_with_length(lab, engine, 64);
    run_with_length(lab, engine, 32);
    show(lab, against_length());
    REQUIRE(marks_of<Rule>(saved(lab)).size() == 1);
    CHECK(marks_of<Rule>(saved(lab)).front().at == 32);
    look_back(lab, lab.past_results.front().ticket);
    show(lab, against_length());
    REQUIRE(marks_of<Rule>(saved(lab)).size() == 1);
    CHECK(marks_of<Rule>(saved(lab)).front().at == 64);
}

TEST_CASE("a saved figure has no hidden variants, and the caption from sweeps", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    BackgroundSweep& sweep = lab.sweeps.front();
    Figure swept = FakeEngine::figure("ways", Place::views, "Ways");
    swept.caption = "Idle: sync 80 %.";
    sweep.figures = std::make_shared<const std::vector<Figure>>(std::vector{swept});
    sweep.done = 1;
    Figure figure = FakeEngine::figure("two", Place::error, "Two variants");
    figure.caption = "Errors.";
    figure.chosen_by = {sweep.sweep.axes.front().parameter};
    Line second = std::get<Line>(figure.marks.front());
    second.ink = {Ink::Role::variant, 1};
    figure.marks.emplace_back(second);
    show(lab, figure);
    CHECK(marks_of<Line>(saved(lab)).size() == 2);
    CHECK(saved(lab).caption == "Idle: sync 80 %. Errors.");
    lab.hidden_variants = {1};
    CHECK(marks_of<Line>(saved(lab)).size() == 1);
}

}  // namespace
}  // namespace sawtooth
