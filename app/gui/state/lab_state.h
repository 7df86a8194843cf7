#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/engine/engine.h"
#include "app/engine/files/npz.h"
#include "app/engine/machine/devices.h"
#include "app/engine/recordings/recordings.h"
#include "app/engine/session/session.h"
#include "app/gui/state/background.h"
#include "app/gui/state/file_writer.h"
#include "kernels/core/family.h"
#include "kernels/core/table.h"
#include "viz/ghosts.h"

namespace sawtooth {

// The engine as the lab sees it. Tests replace its functions.
struct EngineCalls {
    std::function<uint64_t(Request, View)> run;
    std::function<uint64_t(Sweep)> sweep;
    std::function<void(std::string, View, Parameters)> look;
    std::function<void(std::vector<Kept>)> keep;
    std::function<void()> cancel_run;
    std::function<void(uint64_t)> cancel_sweep;
    std::function<uint64_t(CheckRequest)> check;
    std::function<void()> cancel_check;
    std::function<std::vector<Event>()> take_events;
    std::function<void()> wake;  // draws the next frame soon; may be called on any thread
    // May take a while, so it is called on a thread of its own.
    std::function<Devices(std::stop_token)> devices;
};

// The newest Request that was sent and has not been answered yet.
struct Pending {
    uint64_t ticket = 0;  // 0: nothing runs
    double since = 0;
    Request request = {};
    std::set<std::string> disabled_variants = {};  // by the user; the Request leaves out refused ones, too
    Progress progress = {};
    // The time at which its worker will be stopped, and when that was first reported, on the clock of
    // LabState::now.
    struct Deadline {
        double at = 0, heard = 0;
    };
    std::optional<Deadline> deadline = {};
};

// A failed run; kept until the next one is sent or the user dismisses it.
struct Failure {
    Error error;
    Request request;
};

// A sweep with figures in Story and More, requested by figures of the family or by the user.
struct BackgroundSweep {
    std::string key;  // the id of the sweep, or the parameters that the user sweeps
    Sweep sweep;
    std::string title;
    bool by_person = false;
    uint64_t ticket = 0;    // 0: not running
    uint64_t finished = 0;  // the ticket once it has ended: newer results renew its figures
    size_t done = 0;        // number of cells
    Figures figures;        // those of an earlier base remain, dimmed, until the new ones have two points
    bool of_earlier_base = false;  // whether the figures are those
    std::string problem;
    Parameters best = {};    // the setting of the fastest correct result, once the sweep is complete
    std::string best_words;  // "fused: chunk 64, 12.3 us …; naive may be as fast"
    // The last complete result, for the session, and its figures: they stay until the sweep has ended again.
    std::shared_ptr<const SweepResult> result = {};
    Figures result_figures = {};
    bool is_saved = false;  // the file of the session has `result`

    // Whether the sweep would give the same numbers with other settings. It is kept because every cell must
    // be compared and figures ask in every frame.
    struct Compared {
        Request base, now;
        Backend backend = Backend::cpu;
        bool alike = false;
    };
    mutable std::optional<Compared> compared = {},
                                    compared_back = {};  // back: with the result looked back at

    bool answers_to(uint64_t event) const { return event != 0 && (event == ticket || event == finished); }
};

// A sweep as the user describes it, in the grammar of the command line.
struct SweepForm {
    std::string over, values;                     // the first axis
    std::string second = {}, second_values = {};  // the second axis; "": none
    int repeats = 9;
    bool search = false;
};

// The check of a family, which is running or complete.
struct Checking {
    std::string family;   // "": nothing was checked
    uint64_t ticket = 0;  // 0: no check is running
    std::shared_ptr<const CheckReport> report;
    std::string ended;      // why it ended early: "stopped", or an error
    size_t shown = 0;       // index of the finding whose figures are shown
    bool to_front = false;  // brings the panel to the front, once
};

// The reason why the current settings cannot run.
struct Problem {
    std::string parameter;  // the control that shows it; "" if it concerns several or none
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
    Background<Outcome<InputFile>> file;
};

// The folder shown in the Open dialog, as of when it was read.
struct FolderListing {
    struct Entry {
        std::string name;
        bool folder = false;
    };
    std::string typed, folder;  // folder: that of the typed path
    std::vector<Entry> entries;
    double at = 0;  // on the clock of LabState::now
};

// A figure that is being saved.
struct Saving {
    enum class Format { png, svg, csv, trace, session };
    enum class Step { asking, drawing, writing, saved };  // drawing: a PNG is drawn after this frame
    Format format = Format::svg;
    Figure figure;  // of a trace and of a session: only the title
    std::string path;
    std::string problem = {};
    Step step = Step::asking;
    std::shared_ptr<const Result> result = {};  // of a trace
};

enum class ThemeChoice { system, dark, light };
enum class Arrangement { explore, compare };  // of the panels

// Settings that are saved between starts, beside the layout of the panels.
struct WindowSettings {
    ThemeChoice theme = ThemeChoice::system;
    double scale = 0;  // 1 to 2; 0: that of the monitor
    int width = 1600, height = 900;
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;
    std::string recording;    // Request::recording
    bool own_layout = false;  // the user docked or resized panels, which the layout must then keep
    Arrangement arrangement = Arrangement::explore;
    bool shows_history = true;
    std::vector<std::string> recent = {};  // paths of opened and saved files, the newest first

    bool operator==(const WindowSettings&) const = default;
};

// The settings at which a family was left: they return with the family, also at the next start.
struct FamilySettings {
    std::string preset, input;
    Parameters parameters;  // those that the user set
    std::set<std::string> disabled_variants;
    std::set<int> hidden_variants;               // hidden in the figures; they still run
    std::map<std::string, View::Range> visible;  // the zoom, as in View

    bool operator==(const FamilySettings&) const = default;
};

// Everything that decides what runs, for undo.
struct Snapshot {
    const Family* family = nullptr;
    Request request;
    std::set<std::string> disabled_variants;
    Arrays given;  // without data
    std::map<std::string, std::string> fixed;
    std::string tried;
};

// A result that was pinned: figures show it behind the newest one.
struct Pin {
    uint64_t ticket = 0;  // that of the result
    int number = 1;       // 1 to 8, of no other pin: Ink::ghost
    bool is_baseline = false;
    Snapshot settings;  // those of the result
    std::shared_ptr<const Result> result;
    Figures figures;
    std::shared_ptr<SessionResult> packed = {};  // as in PastResult
};

// A complete result in the history of results.
struct PastResult {
    uint64_t ticket = 0;  // of the result; of one from a file at least first_ticket_of_files
    Snapshot settings;    // those of the result
    Parameters parameters;
    std::string device, date;  // UTC: "2026-11-26 14:03:27"
    // The fastest variant that is not wrong.
    std::string variant;
    std::optional<double> median_us, rel_l2;
    std::vector<std::string> wrong;  // variants with wrong outputs
    struct Mark {
        int variant = 0;
        double x = 0, y = 0;
    };
    std::vector<Mark> roofline = {};  // where its variants are in the roofline; empty for one from a file
    // The result and its figures in little memory. They are packed on the thread that writes files, and only
    // that thread uses them until `result` is gone.
    std::shared_ptr<SessionResult> packed;
    std::shared_ptr<const Result> result;
    Figures figures;
};

// The tickets of results that come from session files start here; those of the engine are below.
constexpr uint64_t first_ticket_of_files = uint64_t{1} << 30;

// An earlier result that is shown in place of the newest one, which is here meanwhile.
struct LookingBack {
    uint64_t ticket = 0;  // of the earlier result
    Snapshot settings;    // the present ones, of the family of the newest result
    uint64_t shown_ticket = 0;
    std::shared_ptr<const Result> result = {};  // null: there is none newer than those of the history
    std::shared_ptr<const Result> times_of = {};
    Figures figures = {};
    std::set<std::string> kept_figures = {};
    // Of another family: its input file, which is not open; and the sweeps of the user that had not ended.
    std::string input = {};
    std::vector<Sweep> sweeps = {};
};

// A sweep that has finished earlier.
struct SweptBefore {
    std::shared_ptr<const SweepResult> result;
    Figures figures;
    bool is_saved = false;  // the file of the session has it
};

// A session file, ready to be shown: the results of pins and the sweeps are unpacked.
struct OpenedSession {
    Session session;
    std::vector<std::string> notes;
    bool is_partial = false;                  // some of the file was left out
    std::vector<SessionResult::Opened> pins;  // as in Session::pins
    std::vector<SweptBefore> sweeps;
};

// The session: what a .sawtooth file holds of the window.
struct SessionState {
    std::string path;       // of the file it was saved to or opened from; "": none
    uint64_t revision = 0;  // grows with every change
    int opened = 0;         // how many sessions were opened: another one is shown once that grows
    uint64_t next_ticket = first_ticket_of_files;
    std::vector<BenchReport> benches;  // from the file; the window only keeps them
    // Results that the file at `path` has although they are shown nowhere: they left the history, for
    // example.
    struct Unshown {
        uint64_t ticket = 0;
        std::shared_ptr<SessionResult> packed;  // as in PastResult
    };
    std::vector<Unshown> unshown;
    std::set<uint64_t> saved;  // tickets of all results of that file
    struct Note {
        SessionNote note;
        uint64_t ticket = 0;  // of its result; 0: none
    };
    std::vector<Note> notes;
    // The finished sweeps of families that are not shown; they return with their family. And those of the
    // file that newer ones of the same title replaced.
    std::vector<SweptBefore> sweeps;
    uint64_t marks = 0, saved_marks = 0;  // grow with every change of pins and notes, and when they are saved
    struct Opening {
        std::string path;
        bool is_restored = false;  // from an autosaved file, which is no file of the user
        Background<Outcome<OpenedSession>> session;
    };
    std::optional<Opening> opening;
    // An autosaved session whose process ended without closing it.
    struct Offer {
        std::string path, words;
    };
    std::optional<Offer> offer;
    std::string autosave_path;  // of this process; "": nothing is autosaved
};

// A note that is being written: its dialog is open.
struct NoteForm {
    SessionState::Note note;
    std::optional<size_t> index;  // in SessionState::notes; absent: it is new
    std::string where;            // the title of the figure or of the launch
};

// The help that F1 shows for the item under the mouse.
struct Help {
    std::string title, text;
    bool lists_shortcuts = false;  // below it: there was no item
};

// The palette of Ctrl+Shift+P, while it is open.
struct Palette {
    std::array<char, 128> text = {};
    int selected = 0;
    bool scrolls = false;  // scrolls to the selected row in this frame
};

// The report that the last session left when a signal ended it.
struct CrashNotice {
    std::string words, path, text;
    bool shown = false;  // the dialog shows its text
};

class LogFile;

// Facts about a result that panels show. They are computed once, because a GPU run has thousands of launches,
// too many to go through in every frame.
struct Told {
    Table measured, compiled;
    std::map<std::string, std::string> wrong;  // variants with wrong outputs, and the words for them
    bool has_achieved = false;                 // counters were read, so there is achieved occupancy
    std::vector<Pinned> ghosts;                // what figures show behind it: ghosts_of in pins.h
};

// The complete state of the window. lab.h changes it; panels draw it.
struct LabState {
    // Compiled once: each takes five kilobytes of code.
    LabState();
    LabState(LabState&&) noexcept;
    LabState& operator=(LabState&&) noexcept;
    ~LabState();

    EngineCalls engine;
    std::unique_ptr<FileWriter> files = std::make_unique<FileWriter>();
    double now = 0;  // seconds, on the clock of the window

    // The settings. `request.parameters` has only values set by the user.
    std::vector<const Family*> families;
    const Family* family = nullptr;
    Request request;
    bool live = true;
    Parameters parameters;  // all parameters of the family, as in effect in the last valid configuration
    std::optional<Problem> problem;
    std::set<std::string> disabled_variants;
    std::string tried;  // the example of About that was set last; "" after another change
    std::map<std::string, FamilySettings> others;  // settings of the families that are not shown, by name
    struct History {
        std::optional<Snapshot> present;  // as of the last frame; absent at the start
        std::vector<Snapshot> undo, redo;
    };
    History history;

    // The available devices; absent until `search` has found them. The saved backend is then chosen, unless
    // another one was chosen before.
    std::optional<Devices> devices;
    std::optional<Background<Devices>> search;
    bool wants_kept_backend = false;

    std::vector<std::string> recordings;  // the names of all recorded GPUs
    OpenRecording open_recording;
    // The recording that the Request names, of this family, and what must change for its nearest result.
    std::shared_ptr<const Recording> recording;
    Parameters nearest_recorded;

    // The arrays of the input file, without their data, and the parameters fixed by them.
    Arrays given;
    std::map<std::string, std::string> fixed;  // parameter to name of the array
    std::optional<Opening> opening;
    // For families that were left since: they end soon, and nobody waits for them.
    std::vector<Opening> given_up;
    std::string open_problem;

    // The answers of the engine.
    Pending pending;
    uint64_t dropped_ticket = 0;  // results of this ticket and of older ones are no longer shown
    uint64_t shown_ticket = 0;    // ticket of `result`
    std::shared_ptr<const Result> result;
    Told told;  // facts about `result`
    Figures figures;
    // The last complete result, while `result` has no times yet. `result` contains its times, and `figures`
    // contains its figures with these ids.
    std::shared_ptr<const Result> times_of;
    std::set<std::string> kept_figures;
    std::map<std::string, int> pin_in_place;  // the number of the pin that a figure of maps shows, by its id
    std::vector<Pin> pins;                    // in the order in which they were pinned, of all families
    std::deque<PastResult> past_results;      // the last ones of all families, the newest last
    std::optional<LookingBack> looking_back;
    SessionState session;
    std::vector<BackgroundSweep> sweeps;
    Checking checking;
    std::optional<Failure> failure;
    std::vector<std::string> seen_notes;
    std::deque<LogLine> log;
    std::shared_ptr<LogFile> log_file;  // null: the Log is not kept

    // The times of actions that are due, on the clock of `now`.
    std::optional<double> sweeps_due, look_due;

    // The visible ranges and the mouse position, by shared axis or by figure.
    View view;
    int widest_plot = 0;  // in pixels, measured in this frame
    // Drawn in this frame, and found in it for the next frame.
    std::map<std::string, double> cursor, next_cursor;

    // The launch selected by a click; selection.h finds it.
    struct SelectedLaunch {
        std::string variant;
        size_t index = 0;  // index among the launches of the variant
        std::string kernel;
        bool in_numbers = false, in_occupancy = false;  // whether it was shown there
    };
    std::optional<SelectedLaunch> selected;
    // The measured range of time on a figure.
    struct MeasuredTime {
        std::string figure;  // its key in figure_view.cpp, in any panel
        size_t row = 0;
        Ink ink;  // ink of its track
        View::Range us;
        bool of_result = true;  // false: of a sweep
        std::string words;
    };
    std::optional<MeasuredTime> measured;

    // The state of the window itself.
    WindowSettings settings;
    // Options of the command line for this session: they override the settings until the user chooses again.
    struct Once {
        std::optional<ThemeChoice> theme;
        std::optional<double> scale;
    };
    Once once;
    // The scale that the monitor requests, and the number of pixels per length of the window. On Wayland at
    // 200 % both are 2; on X11 only the first one is.
    struct Monitor {
        double scale = 1, pixels = 1;
    };
    Monitor monitor;
    // Whether the desktop is dark: read from files at first, then as its portal answers.
    std::optional<bool> system_dark;
    std::optional<Background<std::optional<int>>> asking_theme;
    bool dark = true;            // the theme in effect
    bool rebuild_layout = true;  // builds the default layout
    // The default layout is rebuilt when size or scale change.
    struct Layout {
        std::array<double, 3> built_for = {}, last = {};  // width and height of the window, and scale
        int frames = 0;                                   // number of frames since it was built
        std::vector<std::array<double, 3>> places;        // places of the panels in the last frame
        // Layouts of the user for arrangements that were left, and the one that the next frame loads, as
        // texts of Dear ImGui.
        std::map<Arrangement, std::string> own;
        std::string next;
    };
    Layout layout;
    bool shows_story = true;          // a new layout has the story in front
    std::set<int> hidden_variants;    // hidden in the figures; they still run
    bool shows_top_of_about = false;  // once after a change of the family
    std::string filling;              // the figure that fills its panel, "" for none
    std::string removed_sweep;        // removed at the end of the frame, as its figures are being drawn
    struct Tooltips {
        bool shown = false;  // in this frame
        std::string elided;  // the whole text under the mouse, shown if there is no other tooltip
        std::optional<std::array<float, 2>> dragged_to;  // where a drag ended, until the mouse leaves
    };
    Tooltips tooltips;
    bool full_screen = false;
    bool show_open = false;
    std::optional<Saving> saving;
    std::optional<SweepForm> sweep_form;
    std::optional<NoteForm> note_form;
    struct MenuPlace {
        double x = 0, y = 0;
    };
    std::optional<MenuPlace> menu_place;  // where the menu of a figure was opened; absent: it has no axes
    bool wants_help = false;              // F1 was pressed in this frame
    std::optional<Help> help;
    std::optional<Palette> palette;
    std::optional<CrashNotice> crash;
    struct Typing {  // text typed into a control instead of dragging it
        std::string parameter, text, problem;
        bool begun = false;
    };
    std::string filter;  // filters the rows of Parameters
    bool focuses_filter = false;
    std::optional<Typing> typing;
    std::string open_path;
    std::optional<FolderListing> listing;
};

}  // namespace sawtooth
