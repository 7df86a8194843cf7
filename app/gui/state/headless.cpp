#include "app/gui/state/headless.h"

#include <chrono>
#include <utility>

#include "app/gui/state/lab.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

double clock_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Headless::Headless(const WindowOptions& options)
    : opened_(clock_seconds()), engine_(options.cache_directory, [this] {
          const std::lock_guard lock(mutex_);
          woken_ = true;
          changed_.notify_all();
      }) {}

Outcome<std::unique_ptr<Headless>> Headless::open(const WindowOptions& options) {
    std::unique_ptr<Headless> session(new Headless(options));
    auto lab = open_lab(options, calls_of(session->engine_, {}));
    if (!lab) return lab.error();
    session->lab_ = std::move(*lab);
    apply_options(session->lab_, options);
    return session;
}

double Headless::seconds() const { return clock_seconds() - opened_; }

bool Headless::wait(double seconds) {
    bool woken = false;
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return woken_; });
        woken = std::exchange(woken_, false);
    }
    update(lab_, this->seconds());
    return woken;
}

void Headless::wait_until_done(const std::stop_token& stop) {
    const auto looks_for_devices = [&] {
        return lab_.request.backend != BackendChoice::cpu && !lab_.devices;
    };
    while (!lab_.problem && !stop.stop_requested() &&
           (looks_for_devices() || lab_.session.opening || lab_.pending.ticket || lab_.sweeps_due ||
            lab_.look_due || sweeps_run(lab_)))
        wait(0.1);
}

void apply_options(LabState& lab, const WindowOptions& options) {
    if (options.theme == "dark") lab.once.theme = ThemeChoice::dark;
    if (options.theme == "light") lab.once.theme = ThemeChoice::light;
    if (options.scale > 0) lab.once.scale = options.scale;
}

}  // namespace sawtooth
