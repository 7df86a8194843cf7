# The program finds its assets in `assets` beside itself, or installed in ../share/sawtooth/assets.

set(fonts_dir ${bundle}/imgui_rich_md/imgui_rich_md/assets/fonts)
set(fonts
    ${fonts_dir}/Roboto/Roboto-Regular.ttf
    ${fonts_dir}/Roboto/Roboto-Bold.ttf
    ${fonts_dir}/Inconsolata-Medium.ttf)
set(font_licences ${fonts_dir}/Roboto/LICENSE.txt ${fonts_dir}/Inconsolata-LICENSE-OFL.txt)

file(COPY ${fonts} DESTINATION ${CMAKE_BINARY_DIR}/assets/fonts)
# Links, so that an edited preset takes effect at once.
file(GLOB_RECURSE own_assets CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/assets ${CMAKE_SOURCE_DIR}/assets/*)
foreach(asset IN LISTS own_assets)
    cmake_path(GET asset PARENT_PATH folder)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/assets/${folder})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/assets/${asset} ${CMAKE_BINARY_DIR}/assets/${asset} SYMBOLIC)
endforeach()

# cmake --install BUILD --prefix X: a folder that can be moved, and copied to a machine with the same or a newer glibc.
if(TARGET sawtooth)
    # What every system has stays out: the C and C++ runtimes must be the system's, as its graphics drivers use them too.
    # DT_RPATH rather than the newer DT_RUNPATH, as only it also holds for what the libraries in lib need themselves.
    # The built program has it too: CMake would fill the room for it with empty paths, which mean the current folder.
    set_target_properties(sawtooth PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
    target_link_options(sawtooth PRIVATE -Wl,--disable-new-dtags)
    install(TARGETS sawtooth
        RUNTIME_DEPENDENCIES
            PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so"
        RUNTIME DESTINATION bin
        LIBRARY DESTINATION lib)
    install(FILES ${fonts} DESTINATION share/sawtooth/assets/fonts)
    install(FILES ${fonts_dir}/Roboto/LICENSE.txt DESTINATION share/sawtooth/assets/fonts RENAME Roboto-LICENSE.txt)
    install(FILES ${fonts_dir}/Inconsolata-LICENSE-OFL.txt DESTINATION share/sawtooth/assets/fonts)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/assets/ DESTINATION share/sawtooth/assets OPTIONAL)
    file(GLOB_RECURSE device_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/kernels/*.cu
         ${CMAKE_SOURCE_DIR}/kernels/*.cuh)
    foreach(source IN LISTS device_sources)
        cmake_path(GET source PARENT_PATH folder)
        install(FILES ${CMAKE_SOURCE_DIR}/${source} DESTINATION share/sawtooth/${folder})
    endforeach()
    install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/sawtooth)
endif()
