#include "app/engine/session/notes_on_figures.h"

#include "kernels/figures/figures.h"
#include "tests/engine/session/sample_session.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

Figure with_tracks(const VariantResult& variant) {
    Figure figure;
    figure.id = "timeline";
    figure.place = Place::timeline;
    Tracks tracks;
    tracks.tracks = {{"another", {Ink::Role::variant, 17}, {{0, 100, "launch"}}, {}, {}, ""},
                     {"its own", ink_of(variant), {{0, 100, "launch"}}, {}, {}, ""}};
    figure.marks = {tracks};
    return figure;
}

TEST_CASE("a note on a launch is in the middle of the launch, in a row of its variant", "[session]") {
    Result result;
    VariantResult& variant = result.variants.emplace_back();
    variant.name = "fused";
    variant.index = 2;
    variant.launches.resize(2);
    variant.launches[1].start_us = 40;
    variant.launches[1].duration_us = 20;
    SessionNote note;
    note.variant = "fused";
    note.launch = 1;
    note.text = "slow";
    const Figure figure = with_notes(with_tracks(variant), {&note}, &result);
    REQUIRE(figure.marks.size() == 2);
    const Note& mark = std::get<Note>(figure.marks[1]);
    CHECK(mark.x == 50);
    CHECK(mark.y == 1);
    CHECK(mark.text == "slow");
    note.launch = 2;  // the result has no such launch
    CHECK(with_notes(with_tracks(variant), {&note}, &result).marks.size() == 1);
    note = {{}, "scan", "timeline", 3, 4, "", 0, "here"};
    CHECK(std::get<Note>(with_notes(with_tracks(variant), {&note}, nullptr).marks[1]).y == 4);
}

}  // namespace
}  // namespace sawtooth
