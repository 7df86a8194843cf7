#include "app/engine/wire/mapping.h"

namespace sawtooth {

void NamedWriter::put(const Result& value) { put_struct(value); }
void NamedWriter::put(const Figure& value) { put_struct(value); }

template <bool clean>
bool NamedReader<clean>::take(Result& to) {
    return take_struct(to);
}
template <bool clean>
bool NamedReader<clean>::take(Figure& to) {
    return take_struct(to);
}

// Only workers send results; what a worker receives (NamedReader<false>) has none.
template class NamedReader<true>;

}  // namespace sawtooth
