#include "kernels/lut_sequence/describe.h"

#include <cmath>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_sequence/events.h"
#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut_sequence::describe {
namespace {

struct Described : Sizes, lut_table::describe::TableUses {
    explicit Described(const PlanRequest& request)
        : Sizes(request.parameters),
          TableUses(request),
          backward(runs_backward(request.parameters)),
          on_cpu(request.device == nullptr) {}

    // Of all pairs and detectors: main events through the buffer, and after equal ones are merged.
    double pair_events() const { return static_cast<double>(batch * detectors * pairs()); }
    double merged_events() const {
        // Those of a position share the bits of its query.
        const double likely = std::ldexp(1.0, static_cast<int>(anchors + positional));
        double of_sequence = 0;
        for (int64_t j = 1; j < length; ++j)
            of_sequence += likely * (1 - std::pow(1 - 1 / likely, static_cast<double>(j)));
        return of_sequence * static_cast<double>(batch * detectors);
    }
    double events_kept() const { return statistic ? merged_events() : pair_events(); }

    Buffer x() const { return {"x", {batch, length, inputs}}; }
    Buffer positional_values() const { return {"positional", {distances(), detectors, positional}}; }
    Buffer found(const char* name) const { return {name, {batch, length, detectors}}; }
    Buffer found_at_distance(const char* name) const { return {name, {distances(), detectors}}; }
    Uses found_bits() const { return {found("lookup_index"), found_at_distance("positional_lookup_index")}; }
    Uses all_found() const {
        return {found("lookup_index"),
                found("min_delta"),
                found("min_delta_index"),
                found_at_distance("positional_lookup_index"),
                found_at_distance("positional_min_delta"),
                found_at_distance("positional_min_delta_index")};
    }
    Buffer y() const { return {"y", {batch, length, outputs}, sum_bytes()}; }
    Buffer dy() const { return {"dy", {batch, length, outputs}}; }
    Buffer dx() const { return {"dx", {batch, length, inputs}, sum_bytes()}; }
    Buffer dpositional() const { return {"dpositional", {distances(), detectors, positional}, sum_bytes()}; }
    Buffer count(const char* name) const { return {name, on_cpu ? Shape{batch, length} : Shape{1}}; }
    Uses main_buffer() const {
        return {{"events", {most_events(*this, main_events)}, sizeof(Event)}, count("event_count")};
    }
    Uses alternative_buffer() const {
        return {{"alternative_events", {most_events(*this, alternative_events)}, sizeof(Event)},
                count("alternative_event_count")};
    }
    // All that the passes which run need.
    Uses buffers() const { return backward ? main_buffer() + alternative_buffer() : main_buffer(); }
    double kinds() const { return backward ? 2 : 1; }  // of events
    Buffer firing_stat() const { return {"firing_stat", {batch, length, neurons()}}; }
    Buffer hash_table() const { return {"hash_table", {batch, hash_width()}, sizeof(HashEntry)}; }
    Buffer hash_table_high() const { return {"hash_table_high", {batch, hash_width()}}; }
    Uses hash() const { return integer ? Uses{hash_table(), hash_table_high()} : Uses{hash_table()}; }
    double slot_bytes() const { return sizeof(HashEntry) + (integer ? 4 : 0); }

    // Of the variant fused; in the order in which the backend reads them.
    Buffer of_pairs(const char* name) const {
        return {name, on_cpu ? Shape{detectors, batch, pairs()} : Shape{batch, pairs(), detectors},
                sum_bytes()};
    }
    Buffer du() const { return of_pairs("du"); }
    Buffer positional_du() const { return of_pairs("positional_du"); }
    Uses sorted() const {
        return {{"sorted_rows", {detectors, batch * pairs()}},
                {"sorted_positions", {detectors, batch * pairs()}}};
    }

    bool backward, on_cpu;
};

}  // namespace

Buffer y(const PlanRequest& request) { return Described(request).y(); }
Buffer dx(const PlanRequest& request) { return Described(request).dx(); }
Buffer dpositional(const PlanRequest& request) { return Described(request).dpositional(); }
Buffer dweights(const PlanRequest& request) { return Described(request).dweights(); }
Buffer event_count(const PlanRequest& request) { return Described(request).count("event_count"); }
Buffer alternative_event_count(const PlanRequest& request) {
    return Described(request).count("alternative_event_count");
}
Buffer hash_table(const PlanRequest& request) { return Described(request).hash_table(); }
Buffer hash_table_high(const PlanRequest& request) { return Described(request).hash_table_high(); }

LaunchInfo check_detectors_for_sequence(const PlanRequest& request) {
    const Described d(request);
    return launch_info(
        "check_detectors_for_sequence",
        "Compares the pairs of inputs of each detector at each position: its bits, and its weakest pair.",
        {d.x(), d.anchor_pairs()},
        {d.found("lookup_index"), d.found("min_delta"), d.found("min_delta_index")},
        2 * static_cast<double>(d.batch * d.length * d.detectors * d.anchors));
}

LaunchInfo check_positional_embeddings(const PlanRequest& request) {
    const Described d(request);
    return launch_info(
        "check_positional_embeddings",
        "Compares the values of each distance with zero: its bits, and its weakest value.",
        {d.positional_values()},
        {d.found_at_distance("positional_lookup_index"), d.found_at_distance("positional_min_delta"),
         d.found_at_distance("positional_min_delta_index")},
        static_cast<double>(d.distances() * d.detectors * d.positional));
}

LaunchInfo fill_after_detectors_firing_stat(const PlanRequest& request) {
    const Described d(request);
    const std::string kinds = d.backward ? "row, and for the rows with a weakest bit flipped" : "row";
    Uses reads = d.backward ? d.all_found() : d.found_bits();
    const double arrays = bytes_of(reads);
    if (d.sparse) reads.push_back(d.offsets());
    const double events = d.kinds() * d.pair_events(), offsets = d.sparse ? 8 * events : 0;
    return with_bytes(
        launch_info(
            "fill_after_detectors_firing_stat",
            d.statistic
                ? "Counts in the dense statistic how often each pair and detector chooses a " + kinds + "."
                : "Adds an event for each pair and detector and its chosen " + kinds + ".",
            std::move(reads), d.statistic ? Uses{d.firing_stat()} : d.buffers(), 0),
        arrays + offsets + events * (d.statistic ? 4 : sizeof(Event)));
}

LaunchInfo densify_firing_stat(const PlanRequest& request) {
    const Described d(request);
    const double events = d.kinds() * d.merged_events();
    return with_bytes(
        launch_info("densify_firing_stat", "Turns the statistic into events with counts, and clears it.",
                    {d.firing_stat()}, Uses{d.firing_stat()} + d.buffers(), 0),
        d.firing_stat().bytes() + events * (4 + sizeof(Event)));
}

LaunchInfo fill_outputs_by_sparse_firings(const PlanRequest& request) {
    const Described d(request);
    return with_bytes(
        launch_info(
            "fill_outputs_by_sparse_firings",
            "Adds the row of each event, times its count, to y at its position, for a block of outputs.",
            d.main_buffer() + d.weights(), {d.y()}, 2 * d.events_kept() * d.row()),
        d.events_kept() * (sizeof(Event) + d.row_bytes() + d.sum_row_bytes()));
}

LaunchInfo gather_x_gradients_for_sequence(const PlanRequest& request, Events events) {
    const Described d(request);
    const bool main = events == Events::main;
    const Uses table = d.hash();
    // On the CPU a high word is written before it is read, and not cleared.
    const Uses held = main && d.on_cpu ? Uses{d.hash_table()} : table;
    return with_bytes(
        launch_info(
            "gather_x_gradients_for_sequence",
            main ? "Adds weight times dy of the row of each event to the hash table, once for each row and "
                   "position."
                 : "The same for alternative events, where no main event has done it.",
            (main ? d.main_buffer() : d.alternative_buffer()) + Uses{d.dy()} + d.weights() + held, table,
            2 * d.merged_events() * d.row()),
        d.events_kept() * (sizeof(Event) + sizeof(HashEntry)) +
            d.merged_events() * (d.row_bytes() + 4 * d.row() + d.slot_bytes()));
}

LaunchInfo gather_w_gradients_for_sequence(const PlanRequest& request) {
    const Described d(request);
    Uses reads = d.main_buffer() + Uses{d.dy()};
    if (d.sparse) reads = std::move(reads) + Uses{d.offsets(), d.targets()};
    return with_bytes(launch_info("gather_w_gradients_for_sequence",
                                  "Adds dy times the count and lr to the gradient of the row of each event.",
                                  std::move(reads), d.gradients(), 3 * d.events_kept() * d.row()),
                      d.events_kept() * (sizeof(Event) + d.row() * (d.sparse ? 8 : 4) +
                                         d.sum_row_bytes() * (d.subtracts() ? 2 : 1)));
}

LaunchInfo propagate_through_detectors_for_sequence(const PlanRequest& request) {
    const Described d(request);
    const Uses reads = d.all_found() + Uses{d.anchor_pairs()};
    Uses writes = {d.dx()};
    if (d.positional > 0) writes.push_back(d.dpositional());
    return with_bytes(
        launch_info(
            "propagate_through_detectors_for_sequence",
            "Looks up the sums of each pair and detector in the hash table, and adds their difference times "
            "the surrogate gradient to two inputs, and to a positional value.",
            reads + d.hash(), std::move(writes), 8 * d.pair_events()),
        bytes_of(reads) + 2 * d.pair_events() * (d.slot_bytes() + static_cast<double>(d.sum_bytes())));
}

LaunchInfo look_up_pairs(const PlanRequest& request) {
    const Described d(request);
    const Uses bits = d.found_bits();
    return with_bytes(
        launch_info("look_up_pairs", "Sums the rows that each position chooses with all earlier ones into y.",
                    bits + d.weights(), {{"y", {d.batch, d.length, d.outputs}}}, d.pair_events() * d.row()),
        bytes_of(bits) + d.pair_events() * d.row_bytes() + d.dy().bytes());
}

LaunchInfo pair_gradients(const PlanRequest& request) {
    const Described d(request);
    const Uses reads = d.all_found() + Uses{d.dy()};
    Uses writes = {d.du()};
    if (d.positional > 0) writes.push_back(d.positional_du());
    const double written = bytes_of(writes);
    return with_bytes(
        launch_info(
            "pair_gradients",
            "Multiplies dy with the difference of the chosen row and the row with a weakest bit flipped, "
            "for each pair and detector, and applies the surrogate gradient.",
            reads + d.weights(), std::move(writes), 4 * d.pair_events() * d.row()),
        bytes_of(reads) + 2 * d.pair_events() * d.row_bytes() + written);
}

LaunchInfo position_gradients(const PlanRequest& request) {
    const Described d(request);
    return launch_info("position_gradients",
                       "Sums du over the pairs of each position, as the later or the earlier one, into dx.",
                       {d.du(), d.found("min_delta"), d.found("min_delta_index"), d.anchor_pairs()},
                       {{"dx", {d.batch, d.length, d.inputs}}}, d.pair_events());
}

LaunchInfo distance_gradients(const PlanRequest& request) {
    const Described d(request);
    return launch_info("distance_gradients", "Sums the positional du over all pairs of each distance.",
                       {d.positional_du(), d.found_at_distance("positional_min_delta_index")},
                       {{"dpositional", {d.distances(), d.detectors, d.positional}}}, d.pair_events());
}

LaunchInfo sort_by_neuron(const PlanRequest& request) {
    const Described d(request);
    return launch_info("sort_by_neuron", "Sorts the pairs of each detector by the row that they chose.",
                       d.found_bits(), d.sorted(), 0);
}

LaunchInfo weight_gradients(const PlanRequest& request) {
    const Described d(request);
    return d.weight_gradients("Sums dy over the pairs that chose each row.", d.sorted(), d.dy(),
                              d.pair_events());
}

}  // namespace sawtooth::lut_sequence::describe
