#pragma once

#include <functional>
#include <optional>

#include "app/cli/arguments.h"
#include "app/engine/session/session.h"

namespace sawtooth::cli {

// Checks before a run that results can be added to the file of --session, if it is given: it can be written,
// and does not exist or is a session that this build knows whole.
std::optional<Error> check_session(const Arguments& arguments);

// Adds to the file of --session, if it is given, and creates it if it does not exist. After a failure the
// file is as it was.
std::optional<Error> add_to_session(const Arguments& arguments, const std::function<void(Session&)>& add);

}  // namespace sawtooth::cli
