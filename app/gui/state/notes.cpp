#include "app/gui/state/notes.h"

#include <algorithm>
#include <utility>

#include "app/gui/state/selection.h"

namespace sawtooth {
namespace {

void marks_changed(LabState& lab) {
    lab.note_form.reset();
    ++lab.session.marks;
    ++lab.session.revision;
}

}  // namespace

std::vector<const SessionNote*> notes_on(const LabState& lab, uint64_t ticket) {
    std::vector<const SessionNote*> notes;
    for (const SessionState::Note& each : lab.session.notes)
        if (each.ticket == ticket && each.note.family == lab.family->name) notes.push_back(&each.note);
    return notes;
}

std::string reason_no_note(const LabState& lab) {
    if (!lab.result) return "Nothing was run yet.";
    return lab.result->complete ? "" : "The result is not complete yet.";
}

bool has_note(const LabState& lab, uint64_t ticket) {
    return std::any_of(lab.session.notes.begin(), lab.session.notes.end(),
                       [ticket](const SessionState::Note& note) { return note.ticket == ticket; });
}

std::optional<size_t> note_of_selected(const LabState& lab) {
    if (!selected_launch(lab)) return {};
    const auto& notes = lab.session.notes;
    const auto found = std::find_if(notes.begin(), notes.end(), [&](const SessionState::Note& each) {
        return each.ticket == lab.shown_ticket && each.note.figure.empty() &&
               each.note.variant == lab.selected->variant && each.note.launch == lab.selected->index;
    });
    if (found == notes.end()) return {};
    return static_cast<size_t>(found - notes.begin());
}

void begin_note(LabState& lab, const Figure& figure, double x, double y, uint64_t ticket) {
    SessionNote note;
    note.family = lab.family->name;
    note.figure = figure.id;
    note.x = x;
    note.y = y;
    lab.note_form = NoteForm{{std::move(note), ticket}, {}, figure.title};
}

void begin_note_on_selected(LabState& lab) {
    if (!selected_launch(lab)) return;
    const std::string where = title_of_selected(lab);
    if (const auto index = note_of_selected(lab)) return edit_note(lab, *index, where);
    SessionNote note;
    note.family = lab.family->name;
    note.variant = lab.selected->variant;
    note.launch = lab.selected->index;
    lab.note_form = NoteForm{{std::move(note), lab.shown_ticket}, {}, where};
}

void edit_note(LabState& lab, size_t index, std::string where) {
    lab.note_form = NoteForm{lab.session.notes[index], index, std::move(where)};
}

void finish_note(LabState& lab) {
    NoteForm& form = *lab.note_form;
    if (form.index)
        lab.session.notes[*form.index] = std::move(form.note);
    else
        lab.session.notes.push_back(std::move(form.note));
    marks_changed(lab);
}

void remove_note(LabState& lab) {
    const std::optional<size_t> index = lab.note_form->index;
    if (!index) return lab.note_form.reset();
    lab.session.notes.erase(lab.session.notes.begin() + static_cast<int64_t>(*index));
    marks_changed(lab);
}

}  // namespace sawtooth
