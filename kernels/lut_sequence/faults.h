#pragma once

#include <string>

#include "kernels/core/plan_builder.h"
#include "kernels/lut_sequence/events.h"

namespace sawtooth::lut_sequence {

// Takes the numbers that Room names. A fault is set to the index of the batch item plus one.
inline int32_t* take_room_faults(PlanBuilder& builder) {
    return builder.take_faults(3, [s = Sizes(builder.parameters())](int64_t room, int32_t number) {
        const std::string whose = " of batch item " + std::to_string(number - 1);
        if (room == room_hash_table)
            return "The hash table" + whose + " is full: it has " + std::to_string(s.hash_width()) +
                   " slots.";
        const bool main = room == room_events;
        return std::string(main ? "The main" : "The alternative") + " events" + whose +
               " do not fit into their buffer of " +
               std::to_string(most_events(s, main ? main_events : alternative_events)) + ".";
    });
}

}  // namespace sawtooth::lut_sequence
