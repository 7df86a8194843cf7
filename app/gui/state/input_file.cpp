#include "app/gui/state/input_file.h"

#include <fmt/format.h>

#include <utility>

#include "app/engine/guarded.h"
#include "app/engine/run/configure.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/recent_files.h"
#include "kernels/core/dimensions.h"

namespace sawtooth {
namespace {

// The parameters that arrays of the file fix, each with the name of the array.
std::map<std::string, std::string> fixed_by(const Family& family, const Arrays& arrays) {
    std::map<std::string, std::string> fixed;
    for (const Array& array : arrays)
        if (const ArraySpec* spec = family.array(array.name))
            for (const std::string& dimension : dimensions_of(*spec, array.shape))
                if (family.parameter(dimension)) fixed.emplace(dimension, array.name);
    return fixed;
}

// Uses the arrays as inputs if they fit the Request.
std::optional<Error> use_arrays(LabState& lab, Request request, Arrays arrays) {
    if (const auto configuration = configure(request, arrays, backend_in_force(lab)); !configuration)
        return configuration.error();
    note(lab, LogLine::Kind::note, fmt::format("using inputs from {}", request.input));
    lab.request = std::move(request);
    lab.fixed = fixed_by(*lab.family, arrays);
    for (Array& array : arrays) array.data.reset();
    lab.given = std::move(arrays);
    lab.view.visible.clear();
    return {};
}

}  // namespace

std::optional<Error> use_input_file(LabState& lab) {
    auto file = read_input(*lab.family, lab.request, {});
    if (!file) return file.error();
    return use_arrays(lab, lab.request, std::move(file->arrays));
}

void open_file(LabState& lab, const std::string& path) {
    // Dropping a file that is being read would block until it is read.
    if (lab.opening) {
        note(lab, LogLine::Kind::problem,
             fmt::format("did not open {}: still reading {}", path, lab.opening->path));
        return;
    }
    lab.open_problem.clear();
    Request request = lab.request;
    request.input = path;
    auto file = in_background<Outcome<InputFile>>(
        [family = lab.family, request](std::stop_token stop) {
            return guarded([&] { return read_input(*family, request, stop); });
        },
        lab.engine.wake);
    if (file)
        lab.opening = Opening{path, std::move(*file)};
    else
        note(lab, LogLine::Kind::problem, file.error().text);
}

void close_file(LabState& lab) {
    note(lab, LogLine::Kind::note, fmt::format("closed {}", lab.request.input));
    lab.request.input.clear();
    lab.given.clear();
    lab.fixed.clear();
    lab.view.visible.clear();
    submit(lab);
}

void give_up_opening(LabState& lab) {
    if (!lab.opening) return;
    lab.opening->file.thread.request_stop();
    lab.request.input = lab.opening->path;
    note(lab, LogLine::Kind::note,
         fmt::format("stopped reading {}; it is opened when {} is shown again", lab.opening->path,
                     lab.family->title));
    lab.given_up.push_back(std::move(*lab.opening));
    lab.opening.reset();
}

void take_opened(LabState& lab) {
    std::erase_if(lab.given_up, [](const Opening& each) { return each.file.is_ready(); });
    if (!lab.opening || !lab.opening->file.is_ready()) return;
    const std::string path = lab.opening->path;
    Outcome<InputFile> file = lab.opening->file.result.get();
    lab.opening.reset();
    std::optional<Error> problem;
    if (file) {
        Request request = lab.request;
        request.input = path;
        for (const auto& [parameter, array] : fixed_by(*lab.family, file->arrays))
            request.parameters.values.erase(parameter);
        for (const auto& [parameter, chosen] :
             overruled(*lab.family, request, file->arrays, backend_in_force(lab)))
            request.parameters.values.erase(parameter);
        problem = use_arrays(lab, std::move(request), std::move(file->arrays));
    } else {
        problem = file.error();
    }
    if (problem) {
        lab.open_problem = problem->text;
        note(lab, LogLine::Kind::problem, problem->text);
        return;
    }
    lab.show_open = false;
    add_recent_file(lab.settings, path);
    submit(lab);
}

}  // namespace sawtooth
