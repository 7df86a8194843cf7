#include "app/gui/state/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/engine/recordings/recordings.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/run_rows.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

constexpr const char* no_cuda_form = "No variant of this family has a CUDA kernel in this version.";

bool elsewhere(const LabState& lab) { return !lab.request.on.empty(); }

bool gpu_is_usable(const LabState& lab) {
    return lab.devices && !lab.devices->gpus.empty() && lab.devices->gpu_reason.empty();
}

std::string reason_no_gpu(const LabState& lab) {
    if (!has_cuda_form(*lab.family)) return no_cuda_form;
    if (elsewhere(lab)) return "";
    if (!lab.devices) return "Looking for GPUs.";
    if (!lab.devices->gpu_reason.empty()) return lab.devices->gpu_reason;
    return lab.devices->gpus.empty() ? "The driver finds no GPU." : "";
}

// The short name of a GPU, such as "H200", because the bar is narrow; with its number if there are several.
std::string gpu_name(const LabState& lab, size_t index) {
    const auto& gpus = lab.devices->gpus;
    std::string_view name = gpus[index].name;
    for (const std::string_view maker : {"NVIDIA ", "GeForce "})
        if (name.starts_with(maker)) name.remove_prefix(maker.size());
    return gpus.size() == 1 ? std::string(name) : fmt::format("{}: {}", index, name);
}

BackendOption automatic_option(const LabState& lab) {
    return {BackendChoice::automatic, 0, "auto",
            "The first GPU if it, its driver and the compiler NVRTC work; otherwise the CPU.",
            has_cuda_form(*lab.family) ? "" : no_cuda_form};
}

BackendOption cpu_option(const LabState& lab) {
    if (elsewhere(lab))
        return {BackendChoice::cpu, 0, "Remote CPU", "The processor of the remote machine.", ""};
    const int threads = lab.request.threads > 0 ? lab.request.threads : cores();
    return {BackendChoice::cpu, 0, fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s"),
            lab.devices ? lab.devices->cpu.name : "The processor.", ""};
}

BackendOption gpu_option(const LabState& lab, size_t index) {
    const Chip& gpu = lab.devices->gpus[index];
    return {BackendChoice::cuda, static_cast<int>(index), gpu_name(lab, index),
            fmt::format("{}, {}", gpu.name, gpu.architecture), reason_no_gpu(lab)};
}

// The option for an unknown GPU, or for the case that there is none.
BackendOption any_gpu_option(const LabState& lab, int device) {
    const std::string name = device == 0 && !elsewhere(lab) ? "GPU" : fmt::format("GPU {}", device);
    return {BackendChoice::cuda, device, elsewhere(lab) ? name + " there" : name,
            "A GPU, with kernels compiled for it.", reason_no_gpu(lab)};
}

BackendOption recorded_option(const LabState& lab, const std::string& name) {
    return {
        BackendChoice::cuda,
        0,
        recording_words(name),
        "Times, launches, occupancy, counters and errors that were recorded on this GPU, beside outputs of "
        "this CPU.",
        has_cuda_form(*lab.family) ? "" : no_cuda_form,
        name};
}

}  // namespace

bool has_cuda_form(const Family& family) {
    return std::any_of(family.variants.begin(), family.variants.end(),
                       [](const Variant& variant) { return variant.runs_on(Backend::cuda); });
}

std::string reason_not_compiled(const LabState& lab) {
    if (!has_cuda_form(*lab.family)) return no_cuda_form;
    return lab.devices && !elsewhere(lab) ? lab.devices->toolkit_reason : "";
}

std::vector<BackendOption> backend_options(const LabState& lab) {
    std::vector<BackendOption> options{automatic_option(lab), cpu_option(lab)};
    if (elsewhere(lab))
        options.push_back(any_gpu_option(lab, lab.request.device));
    else if (lab.devices)
        for (size_t i = 0; i < lab.devices->gpus.size(); ++i) options.push_back(gpu_option(lab, i));
    if (options.size() == 2) options.push_back(any_gpu_option(lab, 0));
    if (!elsewhere(lab))
        for (const std::string& name : lab.recordings) options.push_back(recorded_option(lab, name));
    return options;
}

BackendOption present_backend(const LabState& lab) {
    if (!lab.request.recording.empty()) return recorded_option(lab, lab.request.recording);
    for (BackendOption& option : backend_options(lab))
        if (option.recording.empty() && option.backend == lab.request.backend &&
            (option.backend != BackendChoice::cuda || option.device == lab.request.device))
            return option;
    return any_gpu_option(lab, lab.request.device);
}

void choose_backend(LabState& lab, BackendChoice backend, int device, const std::string& recording) {
    lab.wants_kept_backend = false;
    lab.request.backend = lab.settings.backend = backend;
    lab.request.device = lab.settings.device = device;
    lab.request.recording = lab.settings.recording = recording;
    submit(lab);
}

void choose_kept_recording(LabState& lab) {
    const std::string kept = lab.settings.recording;
    if (!lab.wants_kept_backend || kept.empty()) return;
    if (std::find(lab.recordings.begin(), lab.recordings.end(), kept) == lab.recordings.end()) return;
    choose_backend(lab, BackendChoice::cuda, 0, kept);
    lab.history.present.reset();  // this is the initial state and no step of undo
}

std::optional<Error> settle_recording(LabState& lab) {
    lab.recording.reset();
    lab.nearest_recorded = {};
    if (lab.request.recording.empty()) return {};
    auto recording = lab.open_recording.get(lab.request.recording, *lab.family);
    if (!recording) return recording.error();
    lab.recording = *recording;
    lab.nearest_recorded = lab.recording->changes_to_nearest(lab.parameters);
    return {};
}

void choose_nearest_recorded(LabState& lab) {
    const Request before = lab.request;
    for (const auto& [name, value] : lab.nearest_recorded.values) lab.request.parameters.set(name, value);
    take_change(lab, before);
}

void take_devices(LabState& lab) {
    if (!lab.search || !lab.search->is_ready()) return;
    lab.devices = lab.search->result.get();
    lab.search.reset();
    const BackendChoice kept = lab.settings.backend;
    if (!std::exchange(lab.wants_kept_backend, false) || kept == BackendChoice::cpu) return;
    const int device = lab.settings.device;
    const auto options = backend_options(lab);
    const auto found = std::find_if(options.begin(), options.end(), [&](const BackendOption& option) {
        return option.recording.empty() && option.backend == kept &&
               (kept != BackendChoice::cuda || option.device == device);
    });
    if (found != options.end() && found->reason.empty()) {
        choose_backend(lab, kept, device);
        lab.history.present.reset();  // this is the initial state and no step of undo
        return;
    }
    const std::string reason = found == options.end() ? reason_no_gpu(lab) : found->reason;
    note(lab, LogLine::Kind::note,
         fmt::format("{}, the backend of the last session, is not available; using the CPU: {}",
                     kept == BackendChoice::cuda ? fmt::format("GPU {}", device) : "auto",
                     reason.empty() ? "the driver finds fewer GPUs" : reason));
}

Backend backend_in_force(const LabState& lab) {
    if (lab.request.backend == BackendChoice::cpu) return Backend::cpu;
    if (lab.request.backend == BackendChoice::cuda) return Backend::cuda;
    const bool there = elsewhere(lab) || gpu_is_usable(lab);
    return there && has_cuda_form(*lab.family) ? Backend::cuda : Backend::cpu;
}

std::optional<Chip> chip_in_force(const LabState& lab) {
    if (backend_in_force(lab) == Backend::cpu) return cpu_chip();
    if (!lab.request.recording.empty()) return {};
    const auto device = static_cast<size_t>(lab.request.device);
    if (elsewhere(lab) || !lab.devices || device >= lab.devices->gpus.size()) return {};
    return lab.devices->gpus[device];
}

DeviceWords device_words(const LabState& lab) {
    if (!lab.result) return {lab.request.on.empty() ? "" : "through " + lab.request.on, false};
    const Result& result = *lab.result;
    const Request& asked = result.request;
    if (!asked.recording.empty()) {
        const bool has_times = std::ranges::any_of(
            result.variants, [](const VariantResult& variant) { return variant.time.has_value(); });
        const std::string times = has_times ? "times of " + result.device : "no recorded times";
        return {times + ", outputs of this CPU", false};
    }
    if (!asked.on.empty()) return {fmt::format("ran on {}, through {}", result.device, asked.on), false};
    if (asked.backend == BackendChoice::automatic)
        return {"auto: ran on " + result.device, gpu_is_usable(lab) && result.backend == Backend::cpu};
    const auto device = static_cast<size_t>(asked.device);
    const bool known = lab.devices && device < lab.devices->gpus.size();
    const std::string wanted = known ? lab.devices->gpus[device].name : "";
    const bool other = result.backend == Backend::cpu || result.device.find(wanted) == std::string::npos;
    if (asked.backend == BackendChoice::cuda && other)
        return {fmt::format("requested {}, ran on {}", known ? wanted : "a GPU", result.device), true};
    return {"ran on " + result.device, false};
}

}  // namespace sawtooth
