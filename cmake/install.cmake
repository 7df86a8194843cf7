# cmake --install BUILD --prefix X makes a folder that can be moved, or copied to a machine with the same glibc
# or a newer one.
# cmake --build BUILD --target package packs it as sawtooth_VERSION_amd64.deb and sawtooth-VERSION-linux-x86_64.tar.gz.

# The program's own libraries are kept apart from those of the system, as the prefix may be /usr.
set(libraries lib/sawtooth)

# Libraries that every system has are left out: the C and C++ runtimes must be those of the system, because its graphics
# drivers use them, too. DT_RPATH is used, not the newer DT_RUNPATH, because only DT_RPATH also applies to what the
# libraries themselves need. The program in the build folder has it as well: CMake would fill the room for it with empty
# paths, which mean the current folder.
set_target_properties(sawtooth PROPERTIES INSTALL_RPATH "$ORIGIN/../${libraries}" BUILD_WITH_INSTALL_RPATH ON)
target_link_options(sawtooth PRIVATE -Wl,--disable-new-dtags)
install(TARGETS sawtooth
    RUNTIME_DEPENDENCIES
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so"
    RUNTIME DESTINATION bin
    LIBRARY DESTINATION ${libraries})

install(FILES ${fonts} DESTINATION share/sawtooth/assets/fonts)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/assets/ DESTINATION share/sawtooth/assets PATTERN icon EXCLUDE)
file(GLOB_RECURSE device_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/kernels/*.cu
     ${CMAKE_SOURCE_DIR}/kernels/*.cuh)
foreach(source IN LISTS device_sources)
    cmake_path(GET source PARENT_PATH folder)
    install(FILES ${CMAKE_SOURCE_DIR}/${source} DESTINATION share/sawtooth/${folder})
endforeach()

# Files for the desktop, the shells and man.
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
install(FILES ${CMAKE_SOURCE_DIR}/assets/icon/sawtooth.svg DESTINATION share/icons/hicolor/scalable/apps)
install(FILES ${packaging}/sawtooth.desktop DESTINATION share/applications)
install(FILES ${packaging}/sawtooth.metainfo.xml DESTINATION share/metainfo RENAME invalid.sawtooth.Sawtooth.metainfo.xml)
install(FILES ${packaging}/sawtooth.xml DESTINATION share/mime/packages)
install(FILES ${packaging}/completions/sawtooth.bash DESTINATION share/bash-completion/completions RENAME sawtooth)
install(FILES ${packaging}/completions/_sawtooth DESTINATION share/zsh/vendor-completions)
install(FILES ${packaging}/completions/sawtooth.fish DESTINATION share/fish/vendor_completions.d)
install(CODE "execute_process(COMMAND $<TARGET_FILE:sawtooth> --man OUTPUT_FILE ${CMAKE_BINARY_DIR}/sawtooth.1
                              COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${CMAKE_BINARY_DIR}/sawtooth.1 DESTINATION share/man/man1)

# Runs after the installation of the libraries, which the notices name.
install(CODE "
    set(FOLDER \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    set(LIBRARIES ${libraries})
    set(SOURCE ${CMAKE_SOURCE_DIR})
    set(BUNDLE ${bundle})
    set(FONTS ${fonts_dir})
    include(${CMAKE_CURRENT_LIST_DIR}/notices.cmake)")
install(FILES ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/sawtooth)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "Sawtooth authors")
set(CPACK_PACKAGE_CONTACT "Sawtooth authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "live laboratory for sequence kernels")
set(CPACK_PACKAGE_DESCRIPTION "Runs every variant of a sequence kernel while its parameters change, on the CPU and on
NVIDIA GPUs, and shows outputs, errors, launches and times side by side, in a window and on the command line.")
set(CPACK_STRIP_FILES ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME sawtooth-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The program needs the C and C++ libraries of this machine or newer ones. The window and pictures open the others.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REPLACE "glibc " "" glibc "${glibc}")
string(REGEX MATCH "^[0-9]+" compiler ${CMAKE_CXX_COMPILER_VERSION})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${glibc}), libgcc-s1, libstdc++6 (>= ${compiler})")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libegl1, libgl1, libopengl0, libgl1-mesa-dri, libx11-6, libxcursor1, libxi6, \
libxinerama1, libxrandr2, libxkbcommon0, libwayland-client0, libwayland-cursor0, libwayland-egl1")
include(CPack)
