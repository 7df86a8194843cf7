# cmake -D SOURCE=… -D VERSION=… -D OUTPUT=… -P identity.cmake: writes app/engine/identity.h's function, and only if its
# answer changed, so that a build with nothing to do stays one.

set(identity ${VERSION})
# Otherwise a source tarball unpacked inside another repository would have that one's commit.
if(EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --tags
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REGEX REPLACE "^v?${VERSION}(-|$)" "" commit "${commit}") # a tag of this version
    if(commit)
        string(APPEND identity "+${commit}")
    endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "app/engine/identity.h"

const char* sawtooth::build_identity() { return "@identity@"; }
]])
