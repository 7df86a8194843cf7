#include "kernels/lut/describe.h"

#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut::describe {
namespace {

struct Described : lut_table::Sizes, lut_table::describe::TableUses {
    explicit Described(const PlanRequest& request)
        : Sizes(request.parameters), TableUses(request), on_cuda(request.device != nullptr) {}

    // Rows that all detectors of all items choose.
    double choices() const { return static_cast<double>(batch * detectors); }
    double row_reads() const { return choices() * row(); }
    double rows_bytes() const { return choices() * row_bytes(); }
    double sums_written() const { return choices() * sum_row_bytes(); }

    Buffer x() const { return {"x", {batch, inputs}}; }
    Buffer found(const char* name) const { return {name, {batch, detectors}}; }
    Buffer y() const { return {"y", {batch, outputs}, sum_bytes()}; }
    Buffer dy() const { return {"dy", {batch, outputs}}; }
    Buffer dx() const { return {"dx", {batch, inputs}, sum_bytes()}; }
    Buffer sums() const { return {"gradient_sums", {batch, 2, detectors}, sum_bytes()}; }
    Buffer events(const char* name) const { return {name, {batch * detectors}, 8}; }
    // One on a GPU; on the CPU one for each item of the batch or detector, which owns its events.
    Buffer event_count(const char* name, int64_t owners) const { return {name, {on_cuda ? 1 : owners}}; }
    Uses sorted() const {
        return {{"sorted_rows", {detectors, batch}}, {"sorted_items", {detectors, batch}}};
    }
    double gradients_written() const { return sums_written() * (subtracts() ? 2 : 1); }
    Uses found_arrays() const {
        return {found("lookup_index"), found("min_delta"), found("min_delta_index")};
    }
    // Every item's thread blocks read all anchors anew.
    double check_bytes() const {
        return x().bytes() + static_cast<double>(batch) * anchor_pairs().bytes() + 3 * found("").bytes();
    }
    double checks() const { return 2 * static_cast<double>(batch * detectors * anchors); }

    bool on_cuda;
};

}  // namespace

Buffer y(const PlanRequest& request) { return Described(request).y(); }
Buffer dx(const PlanRequest& request) { return Described(request).dx(); }
Buffer dweights(const PlanRequest& request) { return Described(request).dweights(); }

LaunchInfo check_detectors(const PlanRequest& request) {
    const Described d(request);
    return with_bytes(
        launch_info("check_detectors", "Compares the pairs of each detector: its bits, and its weakest pair.",
                    {d.x(), d.anchor_pairs()}, d.found_arrays(), d.checks()),
        d.check_bytes());
}

LaunchInfo fire_detectors(const PlanRequest& request) {
    const Described d(request);
    const Uses events = {d.events("events"), d.event_count("event_count", d.batch)};
    return with_bytes(
        launch_info(
            "fire_detectors",
            "Compares the pairs of each detector, and adds an event for each chosen row with synapses.",
            {d.x(), d.anchor_pairs(), d.offsets()}, d.found_arrays() + events, d.checks()),
        d.check_bytes() + 2 * d.found("").bytes() + bytes_of(events));
}

LaunchInfo fill_outputs_by_forward_groups(const PlanRequest& request) {
    const Described d(request);
    return with_bytes(
        launch_info("fill_outputs_by_forward_groups",
                    "Adds the synapses of each event to y, a group at a time, for a block of outputs.",
                    Uses{d.events("events"), d.event_count("event_count", d.batch)} + d.weights(), {d.y()},
                    d.row_reads()),
        d.events("").bytes() + d.rows_bytes() + d.sums_written());
}

LaunchInfo fill_outputs_fully_connected(const PlanRequest& request) {
    const Described d(request);
    return with_bytes(launch_info("fill_outputs_fully_connected",
                                  "Adds the chosen row of each detector to y, for a block of outputs.",
                                  Uses{d.found("lookup_index")} + d.weights(), {d.y()}, d.row_reads()),
                      d.found("").bytes() + d.rows_bytes() + d.sums_written());
}

LaunchInfo fire_detectors_by_lookup_indices(const PlanRequest& request) {
    const Described d(request);
    return launch_info(
        "fire_detectors_by_lookup_indices",
        "Adds an event for the chosen row of each detector, and one for the row with its weakest bit "
        "flipped.",
        {d.found("lookup_index"), d.found("min_delta_index"), d.offsets()},
        {d.events("events"), d.event_count("event_count", d.detectors), d.events("alternative_events"),
         d.event_count("alternative_event_count", d.detectors)},
        0);
}

LaunchInfo gather_gradients(const PlanRequest& request, Events events) {
    const Described d(request);
    const bool main = events == Events::main;
    Uses writes = {d.sums()};
    if (main) writes = std::move(writes) + d.gradients();
    return with_bytes(
        launch_info("gather_gradients",
                    main
                        ? "Adds weight times dy of the synapses of each event to its sum, and dy to dweights."
                        : "Adds weight times dy of the synapses of each alternative event to its sum.",
                    Uses{d.events(main ? "events" : "alternative_events"), d.dy()} + d.weights(),
                    std::move(writes), (main ? 4 : 2) * d.row_reads()),
        d.events("").bytes() + d.rows_bytes() + 4 * d.row_reads() + d.sums().bytes() / 2 +
            (main ? d.gradients_written() : 0));
}

LaunchInfo gather_x_gradients_fully_connected(const PlanRequest& request, Events events) {
    const Described d(request);
    const bool main = events == Events::main;
    Uses reads = {d.found("lookup_index")};
    if (!main) reads.push_back(d.found("min_delta_index"));
    return with_bytes(
        launch_info("gather_x_gradients_fully_connected",
                    main ? "Adds weight times dy of the chosen row of each detector to its sum."
                         : "Adds weight times dy of the row with the weakest bit flipped to its sum.",
                    std::move(reads) + Uses{d.dy()} + d.weights(), {d.sums()}, 2 * d.row_reads()),
        (main ? 1 : 2) * d.found("").bytes() + d.rows_bytes() + d.dy().bytes() + d.sums().bytes() / 2);
}

LaunchInfo gather_w_gradients_fully_connected(const PlanRequest& request) {
    const Described d(request);
    return with_bytes(launch_info("gather_w_gradients_fully_connected",
                                  "Adds dy times lr to the gradient of the chosen row of each detector.",
                                  {d.found("lookup_index"), d.dy()}, d.gradients(), 2 * d.row_reads()),
                      d.found("").bytes() + d.dy().bytes() + d.gradients_written());
}

LaunchInfo propagate_through_detectors(const PlanRequest& request) {
    const Described d(request);
    const Uses reads = {d.found("min_delta"), d.found("min_delta_index"), d.anchor_pairs(), d.sums()};
    const double of_pair = 2 * static_cast<double>(d.batch * d.detectors);  // two anchors, two sums
    return with_bytes(
        launch_info(
            "propagate_through_detectors",
            "Multiplies the difference of the two sums of each detector by the surrogate gradient, adds it "
            "to the two inputs of the weakest pair, and clears the sums.",
            reads, {d.dx(), d.sums()}, 6 * static_cast<double>(d.batch * d.detectors)),
        2 * d.found("").bytes() + 2 * d.sums().bytes() + of_pair * static_cast<double>(4 + d.sum_bytes()));
}

LaunchInfo look_up(const PlanRequest& request) {
    const Described d(request);
    return with_bytes(
        launch_info("look_up", "Compares the pairs of every detector, then sums the chosen rows.",
                    Uses{d.x(), d.anchor_pairs()} + d.weights(),
                    d.found_arrays() + Uses{{"y", {d.batch, d.outputs}}}, d.checks() + d.row_reads()),
        d.x().bytes() + d.anchor_pairs().bytes() + bytes_of(d.found_arrays()) + d.rows_bytes() +
            d.dy().bytes());
}

LaunchInfo input_gradients(const PlanRequest& request) {
    const Described d(request);
    const Uses reads = d.found_arrays() + Uses{d.anchor_pairs(), d.dy()};
    return with_bytes(
        launch_info("input_gradients",
                    "Multiplies dy with the difference of the chosen row and the row with the weakest "
                    "bit flipped, and adds the result to the two inputs of that pair.",
                    reads + d.weights(), {{"dx", {d.batch, d.inputs}}}, 4 * d.row_reads()),
        bytes_of(reads) + 2 * d.rows_bytes() + d.x().bytes());
}

LaunchInfo sort_by_neuron(const PlanRequest& request) {
    const Described d(request);
    return launch_info("sort_by_neuron", "Sorts the items of each detector by the row that they chose.",
                       {d.found("lookup_index")}, d.sorted(), 0);
}

LaunchInfo weight_gradients(const PlanRequest& request) {
    const Described d(request);
    return d.weight_gradients("Sums dy over the items that chose each row.", d.sorted(), d.dy(), d.choices());
}

}  // namespace sawtooth::lut::describe
