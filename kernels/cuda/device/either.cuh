#pragma once

namespace sawtooth::device {

// One of two types, as NVRTC has no std::conditional: Either<condition, Yes, No>::Type.
template <bool condition, class Yes, class No>
struct Either {
    using Type = Yes;
};
template <class Yes, class No>
struct Either<false, Yes, No> {
    using Type = No;
};

}  // namespace sawtooth::device
