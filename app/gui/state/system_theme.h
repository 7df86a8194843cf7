#pragma once

#include <optional>
#include <string_view>

namespace sawtooth {

// Returns whether the desktop prefers dark windows, judged by its environment, the answer of its portal, and
// its files; true if unknown.
bool system_prefers_dark(std::optional<int> colour_scheme);

// Asks the portal for its color-scheme, which GNOME and KDE support: 0 no preference, 1 dark, 2 light; absent
// without an answer. Takes up to a second, so call it on a thread of its own.
std::optional<int> ask_portal();
// Parses the output of `busctl` or `gdbus`.
std::optional<int> parse_colour_scheme(std::string_view answer);

}  // namespace sawtooth
