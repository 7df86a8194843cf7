#include "app/gui/state/checking.h"

#include "app/engine/run/configure.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"

namespace sawtooth {

void start_check(LabState& lab) {
    CheckRequest request;
    request.base = request_of(lab);
    request.base.parameters = {};
    request.base.preset.clear();
    request.base.input.clear();
    request.base.values = Values::usual;
    // A recording cannot be checked, but the kernels that compute its outputs can.
    if (!request.base.recording.empty()) request.base.backend = BackendChoice::cpu;
    request.base.recording.clear();
    request.base.optional = false;
    request.base.time_limit_seconds.reset();
    lab.checking = {};
    lab.checking.family = lab.family->name;
    lab.checking.ticket = lab.engine.check(std::move(request));
    lab.checking.to_front = true;
}

void end_check_of_other_family(LabState& lab) {
    if (lab.checking.family == lab.family->name) return;
    if (lab.checking.ticket) lab.engine.cancel_check();
    lab.checking = {};
}

void load_finding(LabState& lab, const Finding& finding) {
    // A result of another family may be looked at.
    const auto family = find_offered_family(finding.request.family);
    if (family && (*family)->name != lab.family->name)
        show_family(lab, **family, leave_family(lab, **family));
    lab.request.preset.clear();
    lab.request.input.clear();
    lab.given.clear();
    lab.fixed.clear();
    lab.request.backend = finding.request.backend;
    lab.request.device = finding.request.device;
    lab.request.recording.clear();
    lab.request.parameters = finding.request.parameters;
    lab.request.seed = finding.request.seed;
    lab.request.values = finding.request.values;
    lab.request.optional = finding.request.optional;
    for (const Variant& variant : lab.family->variants) lab.disabled_variants.insert(variant.name);
    lab.disabled_variants.erase(finding.variant);
    lab.view.visible.clear();
    lab.tried.clear();
    if (finding.request.jitter != 0 || finding.request.multiprocessors != 0)
        note(lab, LogLine::Kind::note,
             "check: this finding was wrong with --jitter or --multiprocessors, which its command sets and "
             "the window does not");
    submit(lab);
}

void take_check_event(LabState& lab, const Event& event) {
    Checking& checking = lab.checking;
    if (event.kind == Event::Kind::failed) {
        checking.ticket = 0;
        const bool stopped = event.error->kind == Error::Kind::cancelled;
        checking.ended = stopped ? "stopped" : event.error->text;
        note(lab, stopped ? LogLine::Kind::note : LogLine::Kind::problem, "check: " + checking.ended);
        return;
    }
    checking.report = event.report;
    if (!event.report->complete) return;
    checking.ticket = 0;
    note(lab, event.report->findings.empty() ? LogLine::Kind::done : LogLine::Kind::problem,
         "check: " + summary_of(*event.report));
}

}  // namespace sawtooth
