// The kernels on events: one thread per event and block of neighbouring outputs. If tables are fully
// connected, the threads of a warp process their 32 events together, one after the other, so that they read
// neighbouring weights. If tables are sparse, a thread goes through the synapses of its neuron, a group at a
// time, and takes those whose target is in the output block. For full tables, 100 outputs and two output
// blocks:
//   warp      events 32 w … 32 w + 31 of the buffer: lane l loads event 32 w + l, shuffles pass it around
//   q = 0     lane l: outputs l, l + 32 of each of these events              0 … 49
//   q = 1     lane l: outputs 50 + l, 82 + l of each of these events         50 … 99
// No barrier is needed: threads communicate only by shuffles and atomic additions.
//
// Defines: SPARSE, ALIGNED (lut_table/cuda/table.cuh), INTEGER (lut_table/cuda/sums.cuh), ALTERNATIVE,
// THREADS.

#include "kernels/cuda/device/reductions.cuh"
#include "kernels/lut_sequence/cuda/hash.cuh"
#include "kernels/lut_table/cuda/events.cuh"
#include "kernels/lut_table/cuda/table.cuh"

namespace sawtooth::lut_sequence {

// A block of neighbouring outputs.
struct Outputs {
    int64_t first, last;

    __device__ Outputs(const Arguments& given, int64_t block)
        : first(given.outputs * block / given.output_blocks),
          last(given.outputs * (block + 1) / given.output_blocks) {}
    __device__ bool has(int output) const { return output >= first && output < last; }
};

namespace {

// Returns the event of a thread; its count is -1 if there is none.
__device__ Event own_event(const Events<Event>& events) {
    Event event;
    return event_of_thread(events, event) ? event : Event{0, 0, -1};
}

// Returns the event of one lane to all lanes of the warp.
__device__ Event event_of_lane(const Event& own, int lane) {
    return {__shfl_sync(device::whole_warp, own.neuron, lane),
            __shfl_sync(device::whole_warp, own.position, lane),
            __shfl_sync(device::whole_warp, own.count, lane)};
}

}  // namespace

// Grid of all kernels: ceil(room for events / block_size), min(output_blocks, 65535). Thread block (x, y) has
// the output blocks y, y + gridDim.y, … This kernel adds the rows of main events to y:
//   y [B S, outputs], at [position, o], += count * weights[neuron, o]
// Full: for one output, events at the positions 5, 5, 5, 7 take one atomic addition at 5 and one at 7.
extern "C" __global__ void __launch_bounds__(THREADS) fill_outputs_by_sparse_firings(Arguments given) {
    const Event own = own_event(given.main);
    Sum* const y = static_cast<Sum*>(given.y);
    for (int64_t q = blockIdx.y; q < given.output_blocks; q += gridDim.y) {
        const Outputs outputs(given, q);
        if constexpr (SPARSE) {
            if (own.count < 0) continue;
            for_synapses(given, own.neuron, outputs, [&](int64_t synapse, int target) {
                add(y + own.position * given.outputs + target,
                    own.count * term(given.table.weights[synapse], given.scale));
            });
        } else {
            const unsigned all = __ballot_sync(device::whole_warp, own.count >= 0);
            for (int64_t o = outputs.first + device::lane_of_thread();
                 __any_sync(device::whole_warp, o < outputs.last); o += 32) {
                // Neighbouring events often have the same position, so their sum is added once.
                Sum sum = 0;
                int64_t position = -1;
                const auto flush = [&] {
                    if (position >= 0 && o < outputs.last) add(y + position * given.outputs + o, sum);
                };
                for (unsigned rest = all; rest;) {
                    const Event event = event_of_lane(own, device::take_lane(rest));
                    if (event.position != position) {
                        flush();
                        position = event.position;
                        sum = 0;
                    }
                    const float weight =
                        o < outputs.last ? given.table.weights[event.neuron * given.outputs + o] : 0;
                    sum += event.count * term(weight, given.scale);
                }
                flush();
            }
        }
    }
}

// Sums weight times dy into the hash table, once for each neuron and position, of main or ALTERNATIVE events:
//   event (neuron, position)  ->  slot of hash [B, width]  ->  += sum over o of weights * dy[position, o]
// A thread claims the slot of its event; if another event owns the slot, that event's thread adds instead.
// Full: the warp computes the sums of its events that own slots one after another, and the lane of each event
// adds its sum to the slot.
extern "C" __global__ void __launch_bounds__(THREADS) gather_x_gradients_for_sequence(Arguments given) {
    const Event own = own_event(ALTERNATIVE ? given.alternative : given.main);
    const auto number = static_cast<int32_t>(int64_t{blockIdx.x} * THREADS + threadIdx.x + 1);
    const int64_t item = own.position / given.length;
    const HashTable table(given, item);
    int64_t slot = -1;
    if (own.count >= 0) {
        slot = table.claim(own.neuron, own.position % given.length);
        if (slot < 0) given.room[room_hash_table] = static_cast<int32_t>(item + 1);
        if (slot >= 0 && !table.belongs_to(slot, ALTERNATIVE ? -number : number)) slot = -1;
    }
    for (int64_t q = blockIdx.y; q < given.output_blocks; q += gridDim.y) {
        const Outputs outputs(given, q);
        Sum sum = 0;
        if constexpr (SPARSE) {
            if (slot >= 0)
                for_synapses(given, own.neuron, outputs, [&](int64_t synapse, int target) {
                    const float dy = given.dy[own.position * given.outputs + target];
                    sum += term(Wide{given.table.weights[synapse]} * Wide{dy}, given.scale);
                });
        } else {
            for (unsigned rest = __ballot_sync(device::whole_warp, slot >= 0); rest;) {
                const int lane = device::take_lane(rest);
                const Event event = event_of_lane(own, lane);
                Sum part = 0;
                for (int64_t o = outputs.first + device::lane_of_thread(); o < outputs.last; o += 32)
                    part += term(Wide{given.table.weights[event.neuron * given.outputs + o]} *
                                     Wide{given.dy[event.position * given.outputs + o]},
                                 given.scale);
                part = device::sum_of_warp(part);
                if (device::lane_of_thread() == lane) sum = part;
            }
        }
        if (slot >= 0) table.add(slot, sum);
    }
}

// Adds dy, multiplied by lr and the count, to the gradients of the neuron of every main event:
//   dweights, at [neuron, o] or [synapse], += count lr dy[position, o];  weights_after -= it (floats only)
extern "C" __global__ void __launch_bounds__(THREADS) gather_w_gradients_for_sequence(Arguments given) {
    const Event own = own_event(given.main);
    const auto step = [&](const Event& event, int64_t weight, int64_t output) {
        const auto lr = static_cast<Wide>(rate(given.table, given.lr, weight));
        const float dy = given.dy[event.position * given.outputs + output];
        const Sum added = event.count * term(Wide{dy} * lr, given.scale);
        add(static_cast<Sum*>(given.dweights) + weight, added);
        if (!integer && given.weights_after) add(given.weights_after + weight, -static_cast<float>(added));
    };
    for (int64_t q = blockIdx.y; q < given.output_blocks; q += gridDim.y) {
        const Outputs outputs(given, q);
        if constexpr (SPARSE) {
            if (own.count < 0) continue;
            for_synapses(given, own.neuron, outputs,
                         [&](int64_t synapse, int target) { step(own, synapse, target); });
        } else {
            for (unsigned rest = __ballot_sync(device::whole_warp, own.count >= 0); rest;) {
                const Event event = event_of_lane(own, device::take_lane(rest));
                for (int64_t o = outputs.first + device::lane_of_thread(); o < outputs.last; o += 32)
                    step(event, event.neuron * given.outputs + o, o);
            }
        }
    }
}

}  // namespace sawtooth::lut_sequence
