#pragma once

#include "kernels/core/plan_builder.h"

namespace sawtooth::scan {

// The array with complex numbers as pairs of floats.
inline Buffer in_floats(Buffer array) {
    if (array.element_bytes != 8) return array;
    array.element_bytes = 4;
    array.shape.back() *= 2;
    return array;
}

// The arrays of a request, [batch, length, channels]; initial and dinitial are [batch, channels] in f32. dx
// and da are in f32 too, the others in the storage of the request. Arrays that the request does not use,
// because of its operator or direction or without a backward pass, are absent. A complex channel counts as
// two.
struct Tensors {
    explicit Tensors(PlanBuilder& builder)
        : Tensors(builder, storage_named(builder.parameters().text("dtype"))) {}

    Buffer x, a, initial, y, y_reverse, dx, da, dinitial, dy, dy_reverse;

  private:
    Tensors(PlanBuilder& builder, Storage stored)
        : x(in_floats(builder.input("x", stored))),
          a(in_floats(builder.input("a", stored))),
          initial(in_floats(builder.input("initial"))),
          y(in_floats(builder.output("y", stored))),
          y_reverse(in_floats(builder.output("y_reverse", stored))),
          dx(in_floats(builder.output("dx"))),
          da(in_floats(builder.output("da"))),
          dinitial(initial ? in_floats(builder.output("dinitial")) : Buffer()),
          dy(dx ? in_floats(builder.input("dy", stored)) : Buffer()),
          dy_reverse(dx && y_reverse ? in_floats(builder.input("dy_reverse", stored)) : Buffer()) {}
};

}  // namespace sawtooth::scan
