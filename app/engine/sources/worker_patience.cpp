#include "app/engine/sources/worker_patience.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth {
namespace {

using Time = WorkerPatience::Time;

constexpr double seconds_after_cancel = 2;
constexpr Time::duration longest_excuse = std::chrono::minutes(2);

Time after(Time time, double seconds) {
    constexpr double far = 1e8;  // three years, still in the range of the clock
    return time +
           std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(std::min(seconds, far)));
}

double longest_silence(std::optional<double> limit) {
    const double seconds = limit.value_or(10);
    return seconds + std::clamp(seconds, 0.5, 2.0);
}

}  // namespace

void WorkerPatience::said(const Progress& progress, Time now) {
    if (excused_since_) excused_ += now - *excused_since_;
    const bool excused = progress.excused && counts_ == Counts::launches;
    excused_since_ = excused ? std::optional(now) : std::nullopt;
    words_ = progress.words;
}

std::optional<Time> WorkerPatience::deadline(Time now) const {
    if (!limit_) return {};
    const Time::duration running = excused_since_ ? now - *excused_since_ : Time::duration(0);
    return after(began_, *limit_) + std::min(excused_ + running, longest_excuse);
}

std::optional<std::string> WorkerPatience::spent(Time now) const {
    if (const auto last = deadline(now); last && now >= *last) {
        const bool used_up = *last >= after(began_, *limit_) + longest_excuse;
        return fmt::format("time limit: {} did not finish within {:g} s{}", words_, *limit_,
                           used_up ? " and 2 minutes for compiling, references and counters" : "");
    }
    if (cancelled_ && now >= after(*cancelled_, seconds_after_cancel))
        return fmt::format("{} did not finish within {:g} s after it was cancelled", words_,
                           seconds_after_cancel);
    if (is_silent(now))
        return fmt::format("no response from the worker for {:.3g} s", longest_silence(limit_));
    return {};
}

bool WorkerPatience::is_silent(Time now) const { return now >= after(heard_, longest_silence(limit_)); }

}  // namespace sawtooth
