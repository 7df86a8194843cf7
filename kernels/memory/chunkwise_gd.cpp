// chunkwise_gd: errors of a whole chunk against the memory at its boundary, everything else in matrix
// products. Three launches for a range of chunks: prepare (parallel over tiles), walk (over strips of rows,
// or slots), read (over tiles); trellis has them for its keys and for its values.

#include "kernels/memory/matrix_chain.h"
#include "kernels/memory/slots.h"
#include "kernels/memory/strategies.h"
#include "kernels/memory/trellis.h"

namespace sawtooth::memory {

void forward::chunkwise_gd(Plan& plan, const Job& state, Range tokens, Pulse pulse, float* room) {
    if (state.rule == UpdateRule::trellis) return add_trellis_launches(plan, state, tokens, pulse, room);
    if (state.rule == UpdateRule::lattice)
        return add_slot_launches(plan, state, tokens, pulse, SlotUpdate::sums, room);
    Pieces pieces(room);
    add_tiled_launches(
        plan,
        std::make_shared<const TiledChain>(tile_matrix(state, tokens, pulse, usual_tile, false, pieces)),
        "Keys and queries are normalised, keys transposed, gates multiplied up, tile by tile.");
}

int64_t room::chunkwise_gd(const Job& job, Range tokens, Pulse pulse) {
    if (job.rule == UpdateRule::trellis) return trellis_room(job, tokens, pulse);
    if (job.rule == UpdateRule::lattice) return slot_room(job, tokens, pulse);
    return matrix_room(job, tokens, pulse, usual_tile, false);
}

}  // namespace sawtooth::memory
