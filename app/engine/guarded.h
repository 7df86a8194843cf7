#pragma once

#include <fmt/format.h>

#include <new>
#include <system_error>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Returns the result of act(), an Outcome or an optional Error. An exception becomes a failure here, so that
// none leaves the engine or ends one of its threads.
template <class Act>
auto guarded(Act act) -> decltype(act()) {
    try {
        return act();
    } catch (const std::bad_alloc&) {
        return Error::failure("out of memory. Use a smaller shape or fewer variants");
    } catch (const std::system_error& error) {
        return Error::failure(
            fmt::format("the system refused a resource: {}. Use fewer --threads", error.code().message()));
    } catch (const std::exception& error) {
        return Error::failure(fmt::format("internal error: {}", error.what()));
    }
}

}  // namespace sawtooth
