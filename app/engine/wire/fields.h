#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "app/engine/wire/launch_columns.h"
#include "app/engine/wire/messages.h"

namespace sawtooth {

// The fields of every struct that leaves the process, by name: in messages to and from workers and in session
// files (session_fields.h has those of session files alone). A name never changes its meaning, so that builds
// of different age understand each other: readers skip names that they do not know, and a field that is
// absent keeps its default. A default that is zero, false or empty stays so, because such values are not
// written.
//
// The structured binding requires every field, so a field that is added later and forgotten here does not
// compile.
// with_fields(object, visit) calls visit(fields...). A std::tuple of references would do the same, and its
// templates take longer to compile.
#define SAWTOOTH_FIELDS(Type, ...) SAWTOOTH_SENT_FIELDS(Type, (__VA_ARGS__), __VA_ARGS__)

// Some of the fields: those in brackets, of all that follow.
#define SAWTOOTH_SENT_FIELDS(Type, Sent, ...)                               \
    template <class Visit>                                                  \
    void with_fields(const Type& object, Visit&& visit) {                   \
        const auto& [__VA_ARGS__] = object;                                 \
        visit Sent;                                                         \
    }                                                                       \
    constexpr std::string_view listed_fields(const Type*) { return #Sent; } \
    constexpr std::string_view name_of_type(const Type*) { return #Type; }

SAWTOOTH_FIELDS(Parameters, values)
SAWTOOTH_FIELDS(Request, family, variants, backend, device, arch, kernels, jitter, multiprocessors, on,
                recording, threads, preset, parameters, seed, values, optional, input, repeats, cache,
                profile, extras, time_limit_seconds, memory_limit_bytes)
SAWTOOTH_FIELDS(SweepAxis, parameter, values, also)
SAWTOOTH_FIELDS(Sweep, id, base, axes, search)
SAWTOOTH_FIELDS(View::Range, low, high)
SAWTOOTH_FIELDS(View, visible, columns)
SAWTOOTH_FIELDS(Error, kind, text)

SAWTOOTH_FIELDS(Work, bytes, operations)
// The storage and the address have no meaning in another process.
SAWTOOTH_SENT_FIELDS(Buffer, (name, shape, element_bytes), name, shape, element_bytes, storage, address)
SAWTOOTH_FIELDS(Extent, x, y, z)
SAWTOOTH_FIELDS(Resources, registers, shared_bytes, spill_bytes, barriers)
SAWTOOTH_FIELDS(LaunchInfo, name, meaning, grid, grid_formula, block, reads, writes, resources, scratch_bytes,
                work)
SAWTOOTH_FIELDS(Occupancy, theoretical, achieved, limiter, blocks)
SAWTOOTH_FIELDS(LaunchColumns, infos, info, start_us, duration_us, spans, busy_worker, busy_start_us,
                busy_end_us, combines, read, written, occupancies, occupancy, counted, counters)
SAWTOOTH_FIELDS(CompiledLaunch, launch, architecture, resources, occupancy, threads)
SAWTOOTH_FIELDS(Track, name, unit, start_us, step_us, values)
SAWTOOTH_FIELDS(Metric, id, label, unit, value)
SAWTOOTH_FIELDS(OutputError, output, max_abs, rel_l2, nonfinite, first_nonfinite, by_position)
SAWTOOTH_FIELDS(JudgedElement, index, got, want, bound, where)
SAWTOOTH_FIELDS(OutputVerdict, output, verdict, judged, elements, rel_l2, worst)
SAWTOOTH_FIELDS(TimeStatistics, median, q1, q3, samples, disturbed)
SAWTOOTH_FIELDS(VariantResult, name, index, refused, exact, outputs, errors, verdicts, memory_bytes, work,
                time, launches, launch_count, compiled, tracks, metrics)
SAWTOOTH_FIELDS(GpuCeilings, bf16_operations_per_second, launch_stream_us, launch_graph_us,
                launch_programmatic_us, l2_read_bytes_per_second)
SAWTOOTH_FIELDS(Ceilings, processor, date, driver, clock_mhz, threads, copy_bytes_per_second,
                triad_bytes_per_second, operations_per_second, launch_us, gpu)
SAWTOOTH_FIELDS(Copy, bytes, time)
SAWTOOTH_FIELDS(Clocks, before_mhz, after_mhz, highest_mhz, throttled)
SAWTOOTH_FIELDS(Hop, name, ms)
SAWTOOTH_FIELDS(Result, request, parameters, main_output, backend, device, host, processors, inputs,
                reference, work, variants, ceilings, copy, clocks, in_turns, notes, hops, timed, complete)
SAWTOOTH_FIELDS(SweepCell, values, refused, result)

SAWTOOTH_FIELDS(Axis, label, unit, scale, minimum, maximum, in_sight, categories, whole, growing, shared)
SAWTOOTH_FIELDS(Ink, role, index, dashed, ghost)
SAWTOOTH_FIELDS(Setting, parameter, values)
SAWTOOTH_FIELDS(Line, label, ink, x, y, markers, sets, wrong, unstable, names, joined)
SAWTOOTH_FIELDS(Band, label, ink, x, low, high)
SAWTOOTH_FIELDS(Bar::Segment, label, length)
SAWTOOTH_FIELDS(Bar, ink, segments, low, high, text, badge, tick, launches)
SAWTOOTH_FIELDS(Bars, bars, most)
SAWTOOTH_FIELDS(HeatMap::Framed, row, column, label, ink)
SAWTOOTH_FIELDS(HeatMap, label, unit, rows, columns, values, x_low, x_high, y_low, y_high, colours,
                logarithmic, best, texts, unstable, framed, sets_x, sets_y)
SAWTOOTH_FIELDS(Matrix::Kind, label, ink)
SAWTOOTH_FIELDS(Matrix, row_labels, column_labels, kinds, cells, texts)
SAWTOOTH_FIELDS(KindMap::Kind, label, ink, pattern)
SAWTOOTH_FIELDS(KindMap, label, kinds, row_names, column_names, cells, x_low, x_high, y_low, y_high)
SAWTOOTH_FIELDS(Tree::Node, x, y, text, lit)
SAWTOOTH_FIELDS(Tree::Edge, from, to, lit, arrow, text)
SAWTOOTH_FIELDS(Tree, nodes, edges)
SAWTOOTH_FIELDS(Tracks::Span, start, end, label, busy)
SAWTOOTH_FIELDS(Tracks::Track, label, ink, spans, x, y, unit)
SAWTOOTH_FIELDS(Tracks, tracks)
SAWTOOTH_FIELDS(Rule, across, at, label, ink)
SAWTOOTH_FIELDS(Note, x, y, text, by_user)
SAWTOOTH_FIELDS(Zoom, figure, low, high)
SAWTOOTH_FIELDS(Figure, id, place, title, caption, missing, x, y, marks, chosen_by, zoom, sizes)

SAWTOOTH_FIELDS(CheckRequest, base, seconds, only_first, patience, most, part, parts, first, leave_out)
SAWTOOTH_FIELDS(Finding, variant, request, problem, verdict, number, seconds, figures)
SAWTOOTH_FIELDS(CheckReport, family, device, tried, next, size, judged, cannot_judge, given_up, seconds,
                trying_number, trying, findings, complete)

SAWTOOTH_FIELDS(Spread, median, q1, q3)
SAWTOOTH_FIELDS(Bound, by, share, step_us, empty_launches)
SAWTOOTH_FIELDS(LaunchCost, name, meaning, count, bytes, time, over_copy)
SAWTOOTH_FIELDS(BenchRow, family, name, variant, parameters, time, limit_name, limit, ratio, errors, note,
                launches, bound, costs, verdict, verdicts, counted, compiled, device, host)
SAWTOOTH_FIELDS(BenchReport, device, date, version, rows, notes, repeats, cache, ended)

SAWTOOTH_FIELDS(Chip, backend, name, architecture, multiprocessors, shared_bytes_per_block, memory_bytes,
                compute_capability, threads_per_multiprocessor, blocks_per_multiprocessor,
                registers_per_multiprocessor, shared_bytes_per_multiprocessor, l2_bytes)
SAWTOOTH_FIELDS(Devices::Cpu, name, cores, vectors, memory_bytes, last_level_cache_bytes)
SAWTOOTH_FIELDS(Devices, cpu, gpus, gpu_reason, driver, toolkit, toolkit_reason, counters_allowed,
                counters_reason, limits)

SAWTOOTH_FIELDS(Hello, program, format, schema, device, packs)
SAWTOOTH_FIELDS(FilePart, first, bytes)
SAWTOOTH_FIELDS(RunJob, job, id, request, sent_input, view)
SAWTOOTH_FIELDS(CellJob, job, sweep, sent_input, cell)
SAWTOOTH_FIELDS(CheckJob, job, request)
SAWTOOTH_FIELDS(BenchJob, job, families, base)
SAWTOOTH_FIELDS(LookJob, job, id, view, figure_parameters)
SAWTOOTH_FIELDS(FetchJob, job, id, array, offset)
SAWTOOTH_FIELDS(DevicesJob, job, tries_counters, measures_limits)
SAWTOOTH_FIELDS(KeepResults, ids)
SAWTOOTH_FIELDS(CancelJob, job)
SAWTOOTH_FIELDS(Said, job, progress)
SAWTOOTH_FIELDS(Shown, job, result, figures, figures_ms)
SAWTOOTH_FIELDS(CellDone, job, cell)
SAWTOOTH_FIELDS(Checked, job, report)
SAWTOOTH_FIELDS(BenchDone, job, report)
SAWTOOTH_FIELDS(FiguresMade, job, figures)
SAWTOOTH_FIELDS(ArrayPart, job, bytes)
SAWTOOTH_FIELDS(DevicesFound, job, devices)
SAWTOOTH_FIELDS(Failed, job, error, ending)

template <class Visit>
void with_fields(const Alive&, Visit&& visit) {
    visit();
}
constexpr std::string_view listed_fields(const Alive*) { return "()"; }
constexpr std::string_view name_of_type(const Alive*) { return "Alive"; }

// The data of an array, and which rows it has, stay where it was computed.
SAWTOOTH_SENT_FIELDS(Array, (name, dtype, shape), name, dtype, shape, data, rows)

// The deadline belongs to the client, which stops the worker.
SAWTOOTH_SENT_FIELDS(Progress, (fraction, words, excused), fraction, words, excused, deadline)

template <class T>
concept Struct = requires(const T* object) {
    name_of_type(object);
};

// The name of an alternative of a variant.
template <Struct T>
constexpr std::string_view name_of_alternative() {
    return name_of_type(static_cast<const T*>(nullptr));
}
template <class T>
constexpr std::string_view name_of_alternative() {
    if (std::is_same_v<T, bool>) return "boolean";
    if (std::is_same_v<T, int64_t>) return "integer";
    if (std::is_same_v<T, double>) return "real";
    if (std::is_same_v<T, std::string>) return "text";
    static_assert(!std::is_class_v<T> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, std::vector<int64_t>>);
    return "integers";
}

// The name of an enumerator as in the source, "" if the enumeration has none of that value.
template <class Enumeration, Enumeration value>
constexpr std::string_view name_of_enumerator() {
    std::string_view text =
        __PRETTY_FUNCTION__;  // "… [with Enumeration = …; Enumeration value = sawtooth::Cache::hot; …"
    text.remove_prefix(text.find("value = ") + 8);
    text = text.substr(0, text.find_first_of(";]"));
    return text.find('(') == text.npos ? text.substr(text.rfind(':') + 1) : "";  // "(sawtooth::Cache)2"
}

// The names of the enumerators 0, 1, 2, …, as many as there are in a row.
template <class Enumeration>
constexpr auto enumerator_names = [] {
    constexpr size_t most = 16;
    std::array<std::string_view, most> names;
    [&]<int... values>(std::integer_sequence<int, values...>) {
        ((names[values] = name_of_enumerator<Enumeration, static_cast<Enumeration>(values)>()), ...);
    }
    (std::make_integer_sequence<int, most>());
    return names;
}();

}  // namespace sawtooth
