#pragma once

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/engine/devices.h"
#include "app/engine/engine.h"
#include "kernels/core/family.h"
#include "kernels/core/table.h"

namespace sawtooth {

// What the lab asks of an engine. Tests put their own functions in its place.
struct EngineCalls {
    std::function<uint64_t(Request, View)> run;
    std::function<uint64_t(Sweep)> sweep;
    std::function<void(View, Parameters)> look;
    std::function<void()> cancel_run;
    std::function<void(uint64_t)> cancel_sweep;
    std::function<std::vector<Event>()> take_events;
    std::function<void()> wake;        // draws the next frame soon; may be called on any thread
    std::function<Devices()> devices;  // may take a while: called on a thread of its own
};

using Figures = std::shared_ptr<const std::vector<Figure>>;

// The newest Request that left and is not answered yet.
struct Pending {
    uint64_t ticket = 0;  // 0: nothing runs
    double since = 0;
    Request request = {};
    Progress progress = {};
    // When its worker will be ended, and when that was first heard, on the clock of LabState::now.
    struct Deadline {
        double at = 0, heard = 0;
    };
    std::optional<Deadline> deadline = {};
};

// A run that failed, or cost its worker: kept until the next one leaves or a person puts it away.
struct Failure {
    Error error;
    Request request;
};

// A sweep whose figures stand in Story and More: asked for by figures of the family, or by a person.
struct BackgroundSweep {
    std::string key;  // the sweep's id, or what is swept by hand
    Sweep sweep;
    std::string title;
    bool by_person = false;
    uint64_t ticket = 0;  // 0: does not run
    size_t done = 0;      // cells
    Figures figures;      // those of an earlier base stay, dimmed, until the new ones have two points
    bool of_earlier_base = false;  // the figures
    Request asked;                 // of the lab when it was started, or found to be good still
    std::string problem;
};

// Why what is set cannot run.
struct Problem {
    std::string parameter;  // at whose control it is shown; "" where it is of no single one
    Error error;
};

struct LogLine {
    enum class Kind { note, done, problem };
    std::string time;  // "14:03:27"
    Kind kind = Kind::note;
    std::string text;
};

struct Opening {
    std::string path;
    std::future<Outcome<Arrays>> arrays;
};

// What a person is about to save.
struct Saving {
    enum class Format { png, svg, csv };
    enum class Step { asking, drawing, saved };  // drawing: a PNG, after this frame
    Format format = Format::svg;
    Figure figure;
    std::string path;
    std::string problem = {};
    Step step = Step::asking;
};

enum class ThemeChoice { system, dark, light };

// What is kept from one start to the next, beside the layout of the panels.
struct Settings {
    ThemeChoice theme = ThemeChoice::system;
    double scale = 0;  // 1 to 2; 0: that of the monitor
    int width = 1600, height = 900;
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;

    bool operator==(const Settings&) const = default;
};

// What F1 shows of what is under the mouse.
struct Help {
    std::string title, text;
};

// What panels tell of a result beside its figures: made once, as a run on a GPU has thousands of launches,
// and too many to go through in every frame.
struct Told {
    Table measured, compiled;
    std::map<std::string, std::string> wrong;  // variants whose outputs are, with the words for it
    bool has_achieved = false;                 // occupancy: counters were read
};

// Every piece of state of the window. lab.h changes it; panels draw it.
struct LabState {
    EngineCalls engine;
    double now = 0;  // seconds on the clock of the window

    // What is being edited. `request.parameters` holds only what a person set.
    std::vector<const Family*> families;
    const Family* family = nullptr;
    Request request;
    bool live = true;
    Parameters parameters;  // all of the family: those in force in the last good configuration
    std::optional<Problem> problem;
    std::set<std::string> disabled_variants;
    std::string tried;  // the words of the example in About that was set last; "" after another change

    // Where it could run: absent until `finding` is ready. Then the backend of the last time is chosen, where
    // nothing else was meanwhile.
    std::optional<Devices> devices;
    std::future<Devices> finding;
    bool wants_kept_backend = false;

    // The file that gives inputs, and which parameters its arrays fix.
    Arrays given;
    std::map<std::string, std::string> fixed;  // parameter: name of the array
    std::optional<Opening> opening;
    std::string open_problem;

    // What came back.
    Pending pending;
    uint64_t shown_ticket = 0;  // of `result`
    std::shared_ptr<const Result> result;
    Told told;  // of `result`
    Figures figures;
    // While `result` has no times yet: the last complete result. `result` contains its times, and `figures`
    // its figures with these ids.
    std::shared_ptr<const Result> times_of;
    std::set<std::string> kept_figures;
    std::vector<BackgroundSweep> sweeps;
    std::optional<Failure> failure;
    std::vector<std::string> seen_notes;
    std::deque<LogLine> log;

    // What becomes due, on the clock of `now`.
    std::optional<double> sweeps_due, look_due;

    // What of the plots is in sight, and where the mouse is, by the axis that plots share, or by figure.
    View view;
    int widest_plot = 0;                                // in pixels, in this frame
    std::map<std::string, double> cursor, next_cursor;  // drawn in this frame, and found by it for the next

    // The launch that a person clicked on; selection.h finds it.
    struct SelectedLaunch {
        std::string variant;
        size_t index = 0;  // among the variant's launches
        std::string kernel;
        bool in_numbers = false, in_occupancy = false;  // was brought into sight there
    };
    std::optional<SelectedLaunch> selected;
    // The range of time that a person measured on a figure.
    struct MeasuredTime {
        std::string figure;  // what figure_view.cpp calls it, whatever the panel
        size_t row = 0;
        Ink ink;  // of its track
        View::Range us;
        bool of_result = true;  // else of a sweep
        std::string words;
    };
    std::optional<MeasuredTime> measured;

    // The window itself.
    Settings settings;
    bool dark = true;  // what settings.theme comes to
    bool rebuild_layout = true;
    bool shows_story = true;        // a fresh layout comes with the story in front
    std::set<int> hidden_variants;  // in the figures; they run all the same
    std::string filling;            // the figure that fills its panel, "" for none
    std::string removed_sweep;      // at the end of this frame: its figures are being drawn
    bool full_screen = false;
    bool show_open = false;
    std::optional<Saving> saving;
    bool wants_help = false;  // F1 was pressed in this frame
    std::optional<Help> help;
    struct Typing {  // into a control, instead of dragging it
        std::string parameter, text, problem;
        bool begun = false;
    };
    std::string filter;  // of the rows of Parameters
    bool focuses_filter = false;
    std::optional<Typing> typing;
    std::string open_path;
};

}  // namespace sawtooth
