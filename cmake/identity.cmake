# cmake -D SOURCE=… -D VERSION=… -D OUTPUT=… -P identity.cmake writes the function of app/engine/identity.h, but only if
# its answer changed, so that a build with nothing to do remains one.

set(identity ${VERSION})
# Otherwise a source tarball that is unpacked inside another repository would report the commit of that repository.
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
