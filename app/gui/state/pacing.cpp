#include "app/gui/state/pacing.h"

#include <algorithm>

namespace sawtooth {
namespace {

// Times in seconds.
constexpr double longest_wait = 3600, news_step = 0.1, tooltip_wait = 0.7, tooltip_step = 0.1,
                 blink_step = 0.4;

}  // namespace

double Pacing::next(const LabState& lab, bool text_cursor_blinks) const {
    const bool runs = lab.pending.ticket != 0;
    const bool has_outputs = lab.shown_ticket == lab.pending.ticket;
    const bool waited_for = lab.figures != drawn_figures_ && (!runs || has_outputs);
    if (unseen_input_ || waited_for || (!runs && settling_ > 0)) return last_frame_;
    double step = longest_wait;
    if (woken_ || settling_ > 0) step = news_step;
    if (last_frame_ - last_input_ < tooltip_wait) step = std::min(step, tooltip_step);
    if (text_cursor_blinks) step = std::min(step, blink_step);
    const double next = std::min(last_frame_ + step, changes_at_.value_or(last_frame_ + step));
    return std::min(next, due(lab).value_or(next));
}

}  // namespace sawtooth
