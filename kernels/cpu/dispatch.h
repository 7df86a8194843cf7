#pragma once

#include <cstddef>
#include <tuple>

namespace sawtooth::cpu {

// The types of a function, from which SAWTOOTH_DISPATCH makes its definition.
template <class Function>
struct Signature;

template <class R, class... P>
struct Signature<R(P...)> {
    using Result = R;
    template <std::size_t i>
    using Parameter = std::tuple_element_t<i, std::tuple<P...>>;
};

}  // namespace sawtooth::cpu

// Defines the function `name`, which a header declares with `count` parameters, at most six: it calls the
// function of the same name in HWY_NAMESPACE that was compiled for the best vectors of the processor. With
//     float largest(const float* row, int64_t count);
// in the header,
//     SAWTOOTH_DISPATCH(largest, 2)
// is HWY_EXPORT(largest) and the definition. It stands under HWY_ONCE, in the namespace of the declaration.
// This header does not include Highway, because foreach_target.h must come before highway.h.
#define SAWTOOTH_DISPATCH(name, count) SAWTOOTH_DEFINE(name, decltype(name), name, count)

// The same for an overloaded function: `target` is the function in HWY_NAMESPACE, and has its signature.
#define SAWTOOTH_DISPATCH_TO(name, target, count) \
    SAWTOOTH_DEFINE(name, decltype(HWY_STATIC_DISPATCH(target)), target, count)

#define SAWTOOTH_DEFINE(name, type, target, count)                                                   \
    HWY_EXPORT(target);                                                                              \
    ::sawtooth::cpu::Signature<type>::Result name(SAWTOOTH_LIST_##count(SAWTOOTH_PARAMETER, type)) { \
        return HWY_DYNAMIC_DISPATCH(target)(SAWTOOTH_LIST_##count(SAWTOOTH_ARGUMENT, type));         \
    }

#define SAWTOOTH_PARAMETER(type, i) ::sawtooth::cpu::Signature<type>::Parameter<i> p##i
#define SAWTOOTH_ARGUMENT(type, i) p##i
#define SAWTOOTH_LIST_0(item, type)
#define SAWTOOTH_LIST_1(item, type) item(type, 0)
#define SAWTOOTH_LIST_2(item, type) SAWTOOTH_LIST_1(item, type), item(type, 1)
#define SAWTOOTH_LIST_3(item, type) SAWTOOTH_LIST_2(item, type), item(type, 2)
#define SAWTOOTH_LIST_4(item, type) SAWTOOTH_LIST_3(item, type), item(type, 3)
#define SAWTOOTH_LIST_5(item, type) SAWTOOTH_LIST_4(item, type), item(type, 4)
#define SAWTOOTH_LIST_6(item, type) SAWTOOTH_LIST_5(item, type), item(type, 5)
