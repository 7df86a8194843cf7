# The program finds its assets in `assets` beside itself, or installed in ../share/sawtooth/assets.

set(fonts_dir ${bundle}/imgui_rich_md/imgui_rich_md/assets/fonts)
set(fonts
    ${fonts_dir}/Roboto/Roboto-Regular.ttf
    ${fonts_dir}/Roboto/Roboto-Bold.ttf
    ${fonts_dir}/Inconsolata-Medium.ttf)

file(COPY ${fonts} DESTINATION ${CMAKE_BINARY_DIR}/assets/fonts)
# Links make an edited preset take effect at once.
file(GLOB_RECURSE own_assets CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/assets ${CMAKE_SOURCE_DIR}/assets/*)
foreach(asset IN LISTS own_assets)
    cmake_path(GET asset PARENT_PATH folder)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/assets/${folder})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/assets/${asset} ${CMAKE_BINARY_DIR}/assets/${asset} SYMBOLIC)
endforeach()
