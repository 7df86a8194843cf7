#include "app/engine/check/shrink.h"

#include "app/engine/check/draw.h"

namespace sawtooth {
namespace {

using Fails = std::function<bool(const Request&)>;

bool take_if_fails(Request& best, Request smaller, const Fails& fails) {
    if (smaller == best || !fails(smaller)) return false;
    best = std::move(smaller);
    return true;
}

Request with(Request request, const std::string& name, int64_t value) {
    request.parameters.set(name, value);
    return request;
}

// Finds the smallest value of an integer that still fails, by halving and then in steps of one.
bool shrink_size(const Parameter& row, Backend backend, const Family& family, Request& best,
                 const Fails& fails) {
    const auto size = [&] { return settled_values(family, best.parameters, backend).at(row.name); };
    if (!std::holds_alternative<int64_t>(size())) return false;
    const auto least = static_cast<int64_t>(row.minimum);
    const int64_t before = std::get<int64_t>(size());
    if (before <= least) return false;
    if (take_if_fails(best, with(best, row.name, least), fails)) return true;
    for (int64_t step = before - least; step > 0; step /= 2)
        while (std::get<int64_t>(size()) - step >= least)
            if (!take_if_fails(best, with(best, row.name, std::get<int64_t>(size()) - step), fails)) break;
    return std::get<int64_t>(size()) < before;
}

// Sets the choices back to their defaults, one after another, as long as the Request still fails.
bool shrink_choices(const Family& family, Request& best, const Fails& fails) {
    bool changed = false;
    const auto try_with = [&](auto&& change) {
        Request smaller = best;
        change(smaller);
        changed |= take_if_fails(best, std::move(smaller), fails);
    };
    try_with([](Request& request) { request.values = Values::usual; });
    try_with([](Request& request) { request.optional = false; });
    try_with([](Request& request) { request.extras = Extras::none; });
    try_with([](Request& request) { request.multiprocessors = 0; });
    for (const Parameter& row : family.parameters) {
        if (!best.parameters.has(row.name)) continue;
        const bool is_size = row.group == Group::shape && row.type == Type::integer;
        if (!is_size) try_with([&](Request& request) { request.parameters.values.erase(row.name); });
    }
    return changed;
}

}  // namespace

Request shrunk(const Family& family, Request failing, Backend backend, const Fails& fails) {
    Request best = std::move(failing);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Parameter& row : family.parameters)
            if (row.group == Group::shape && row.type == Type::integer)
                changed |= shrink_size(row, backend, family, best, fails);
        changed |= shrink_choices(family, best, fails);
    }
    return best;
}

}  // namespace sawtooth
