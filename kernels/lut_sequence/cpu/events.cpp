#include "kernels/lut_sequence/cpu/events.h"

#include <algorithm>
#include <atomic>

#include "kernels/lut_table/cpu/launches.h"

namespace sawtooth::lut_sequence {
namespace {

void add(const EventJob& events, Room room, int64_t position, int64_t neuron, int64_t count) {
    const EventBuffer& buffer = room == room_events ? events.main : events.alternative;
    if (!buffer.add(position, neuron, count)) note_full(events, room, position);
}

// Stores main and alternative neurons that fire at a position as events. ToStatistic adds them to the dense
// statistic instead.
struct ToBuffer {
    const EventJob& events;
    void main(int64_t position, int64_t neuron) const { add(events, room_events, position, neuron, 1); }
    void alternative(int64_t position, int64_t neuron) const {
        add(events, room_alternative_events, position, neuron, 0);
    }
};
struct ToStatistic {
    const EventJob& events;
    float share = alternative_share(events.job.sizes);
    float& at(int64_t position, int64_t neuron) const {
        return events.statistic[position * events.job.neurons() + neuron];
    }
    void main(int64_t position, int64_t neuron) const { at(position, neuron) += 1; }
    void alternative(int64_t position, int64_t neuron) const { at(position, neuron) += share; }
};

template <class To>
void fill_pair(const CpuJob& job, const To& to, const Pair& pair) {
    const auto fires = [&](int64_t neuron) { return neuron >= 0 && job.weights_of(neuron).count() > 0; };
    const int64_t position = job.position(pair.item, pair.j), main = job.neuron_of(pair);
    if (fires(main)) to.main(position, main);
    if (!job.dx) return;
    for (const int64_t neuron : {job.alternative_of(pair, main), job.positional_alternative_of(pair, main)})
        if (fires(neuron)) to.alternative(position, neuron);
}

// Fills a column of tiles down to the diagonal, which has all events of its positions j. The loop over
// detectors is outermost, so that events are sorted by detector.
template <class To>
void fill_column(const CpuJob& job, const To& to, int64_t item, int64_t column) {
    const Sizes& s = job.sizes;
    const Range queries = tile_at(column, s.tile, s.length);
    for (int64_t t = 0; t < s.detectors; ++t)
        for (int64_t row = 0; row <= column; ++row) {
            const Range keys = tile_at(row, s.tile, s.length);
            for (int64_t j = queries.first; j < queries.last; ++j)
                for (int64_t i = keys.first; i < std::min(keys.last, j); ++i)
                    fill_pair(job, to, {item, i, j, t});
        }
}

void densify(const EventJob& events, int64_t position) {
    float* const statistic = events.statistic + position * events.job.neurons();
    for (int64_t neuron = 0; neuron < events.job.neurons(); ++neuron) {
        const float fired = statistic[neuron];
        if (fired == 0) continue;
        const bool main = fired >= 1;
        add(events, main ? room_events : room_alternative_events, position, neuron,
            static_cast<int64_t>(fired));
        statistic[neuron] = 0;
    }
}

}  // namespace

EventBuffer::EventBuffer(const Sizes& s, int64_t events_a_pair, const EventArrays& arrays)
    : sizes(s),
      a_pair(events_a_pair),
      events(arrays.events.as<Event>()),
      counts(arrays.count.as<int32_t>()) {}

Range EventBuffer::events_of(int64_t position, int64_t detector) const {
    const Range all = events_of(position);
    const auto end_of = [&](int64_t detectors) {
        const auto is_before = [last = detectors * sizes.rows](const Event& event) {
            return event.neuron < last;
        };
        return std::partition_point(events + all.first, events + all.last, is_before) - events;
    };
    return {end_of(detector), end_of(detector + 1)};
}

EventJob::EventJob(PlanBuilder& builder, const CpuJob& all)
    : job(all),
      passed(builder, all, {all.sizes.batch, all.sizes.length}),
      main(all.sizes, main_events, passed.events),
      alternative(all.sizes, alternative_events, passed.alternative),
      statistic(passed.firing_stat.as<float>()),
      faults(take_room_faults(builder)) {}

void note_full(const EventJob& events, Room room, int64_t position) {
    std::atomic_ref(events.faults[room])
        .store(static_cast<int32_t>(position / events.job.sizes.length + 1), std::memory_order_relaxed);
}

void add_event_launches(cpu::PlanBuilder& builder, const EventJob& events) {
    const Sizes& s = events.job.sizes;
    const Passed& passed = events.passed;
    add_clear(builder, passed.events.count);
    if (passed.alternative.count) add_clear(builder, passed.alternative.count);
    builder.launch(fill_after_detectors_firing_stat(events.job, passed),
                   side("B", s.batch) * pieces("S", s.length, "tile", s.tile), cpu::Split::cyclic,
                   [&events, columns = ceil_divide(s.length, s.tile)](const cpu::Item& item) {
                       const int64_t sequence = item.index / columns, column = item.index % columns;
                       if (events.statistic)
                           fill_column(events.job, ToStatistic{events}, sequence, column);
                       else
                           fill_column(events.job, ToBuffer{events}, sequence, column);
                   });
    if (!events.statistic) return;
    builder.launch(densify_firing_stat(events.job, passed), side("B", s.batch) * side("S", s.length),
                   [&events](const cpu::Item& item) { densify(events, item.index); });
}

}  // namespace sawtooth::lut_sequence
