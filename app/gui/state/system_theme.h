#pragma once

#include <optional>
#include <string_view>

namespace sawtooth {

// Whether the desktop prefers dark windows, by its environment, the answer of its portal, and its files; dark
// if unknown.
bool system_prefers_dark(std::optional<int> colour_scheme);

// The portal's color-scheme, which GNOME and KDE have: 0 no preference, 1 dark, 2 light; absent without an
// answer. Takes up to a second: call it on a thread of its own.
std::optional<int> ask_portal();
// From what `busctl` or `gdbus` prints.
std::optional<int> parse_colour_scheme(std::string_view answer);

}  // namespace sawtooth
