#pragma once

#include "kernels/cpu/plan_builder.h"
#include "kernels/lut_sequence/cpu/job.h"
#include "kernels/lut_sequence/events.h"
#include "kernels/lut_sequence/faults.h"

namespace sawtooth::lut_sequence {

// The events of one kind. Every position has its own part of the buffer, with room for all events that it can
// have, so that the order of events does not depend on threads. The events of a position are sorted by
// detector.
struct EventBuffer {
    EventBuffer(const Sizes& s, int64_t events_a_pair, const EventArrays& arrays);

    int64_t first_of(int64_t position) const {
        return position / sizes.length * events_before(sizes, sizes.length, a_pair) +
               events_before(sizes, position % sizes.length, a_pair);
    }
    Range events_of(int64_t position) const {
        const int64_t first = first_of(position);
        return {first, first + counts[position]};
    }
    // The events of one detector at a position.
    Range events_of(int64_t position, int64_t detector) const;

    // Returns false if there is no room.
    bool add(int64_t position, int64_t neuron, int64_t count) const {
        const int64_t at = first_of(position) + counts[position];
        if (at == first_of(position + 1)) return false;
        events[at] = {static_cast<int32_t>(neuron), static_cast<int32_t>(position),
                      static_cast<int32_t>(count)};
        ++counts[position];
        return true;
    }

    Sizes sizes;
    int64_t a_pair;
    Event* events;
    int32_t* counts;  // [B, S]
};

// The memory that the launches on events share.
struct EventJob {
    EventJob(PlanBuilder& builder, const CpuJob& all);

    const CpuJob& job;
    Passed passed;
    EventBuffer main, alternative;
    float* statistic;  // [B, S, neurons], or null
    int32_t* faults;   // the faults of Room
};

// Adds the launches that make the events.
void add_event_launches(cpu::PlanBuilder& builder, const EventJob& events);

// Fails the run because there is no room for an event of this position.
void note_full(const EventJob& events, Room room, int64_t position);

}  // namespace sawtooth::lut_sequence
