#pragma once

namespace sawtooth {

// The version of the program, and after a + which commit it was built from: "0.2.0+c97f458-dirty". Only the
// version in a build without git or of the commit that is tagged with the version. Made by
// cmake/identity.cmake.
const char* build_identity();

}  // namespace sawtooth
