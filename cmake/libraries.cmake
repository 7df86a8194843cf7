# Third-party code: system packages, and Dear ImGui with its companions from one pinned source package.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
# Found through pkg-config, because Debian's CMake file of libzip also requires its tools.
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
find_package(ZLIB REQUIRED)
pkg_check_modules(libhwy REQUIRED IMPORTED_TARGET libhwy)

# Highway gets three targets, because each further one compiles every kernel once more. The bits are those of
# hwy/detect_targets.h, which never change: 0-7 targets after AVX3, 10 AVX, 11 SSE4, 13-14 SSE3 and SSE2. The oldest
# processor has SSSE3: Highway 1.0 (Debian 12) has no SSE2 target and would fall back to one without vectors.
add_library(hwy INTERFACE)
target_link_libraries(hwy INTERFACE PkgConfig::libhwy)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_definitions(hwy INTERFACE HWY_WANT_SSSE3=1 HWY_DISABLED_TARGETS=0x6CFF)
endif()

# EGL is opened at run time: only its headers are needed, without X11.
find_path(EGL_INCLUDE_DIR EGL/egl.h REQUIRED)
add_library(egl_headers INTERFACE)
target_include_directories(egl_headers SYSTEM INTERFACE ${EGL_INCLUDE_DIR})
target_compile_definitions(egl_headers INTERFACE EGL_NO_X11 MESA_EGL_NO_X11_HEADERS)

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/fetch_sources.sh ${sources_dir} COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/fetch_sources.sh ${CMAKE_CURRENT_LIST_DIR}/pip_sources.txt)
set(bundle ${sources_dir}/imgui_bundle/external)

# This code is compiled without warnings, and optimised in the debug preset, too. With sanitizers it is optimised as
# little as our code and has no debug information, otherwise ImPlot alone takes ten minutes; its undefined behaviour is
# not checked.
set(foreign_flags $<IF:$<CONFIG:None>,-g0,-O1> -w -fno-sanitize=undefined)

function(foreign_library name)
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
    target_compile_options(${name} PRIVATE ${foreign_flags})
endfunction()

set(GLFW_BUILD_DOCS OFF)
set(GLFW_BUILD_EXAMPLES OFF)
set(GLFW_BUILD_TESTS OFF)
set(GLFW_INSTALL OFF)
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # the four above are plain variables to GLFW's options
add_subdirectory(${bundle}/glfw/glfw ${CMAKE_BINARY_DIR}/glfw EXCLUDE_FROM_ALL SYSTEM)
target_compile_options(glfw PRIVATE ${foreign_flags})
target_sources(glfw PRIVATE ${CMAKE_CURRENT_LIST_DIR}/glfw_monitor.c)

# Dear ImGui also uses GLFW's copy of the header-only OpenGL 3.3 loader: its own loader opens libGL.so.1, which a
# machine that only has EGL lacks.
add_library(glad INTERFACE)
target_include_directories(glad SYSTEM INTERFACE ${bundle}/glfw/glfw/deps)

set(imgui_dir ${bundle}/imgui/imgui)
set(implot_dir ${bundle}/implot/implot)
add_library(imgui_headers INTERFACE)
target_include_directories(imgui_headers SYSTEM INTERFACE ${imgui_dir} ${CMAKE_CURRENT_LIST_DIR})
target_compile_definitions(imgui_headers INTERFACE IMGUI_USER_CONFIG="imgui_config.h")

# The core of Dear ImGui is built once, with the hooks of its test engine, which are called only where one runs. What the
# hooks and misuse do is linked: in the program nothing, in the tests the test engine and the end of the process. They are
# object libraries, not static ones, because the program chooses for the libraries below it.
set(test_engine_definitions
    IMGUI_ENABLE_TEST_ENGINE= # without a value, as its own header defines it
    IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL=1
    IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION=1
    IMGUI_TEST_ENGINE_ENABLE_CAPTURE=1)
add_library(imgui OBJECT EXCLUDE_FROM_ALL
    ${imgui_dir}/imgui.cpp ${imgui_dir}/imgui_demo.cpp ${imgui_dir}/imgui_draw.cpp ${imgui_dir}/imgui_tables.cpp
    ${imgui_dir}/imgui_widgets.cpp ${imgui_dir}/imgui_stacklayout.cpp)
add_library(imgui_in_program OBJECT EXCLUDE_FROM_ALL
    ${CMAKE_CURRENT_LIST_DIR}/imgui_misuse.cpp ${CMAKE_CURRENT_LIST_DIR}/imgui_hooks.cpp)
add_library(imgui_in_tests OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/imgui_misuse.cpp)
foreach(part imgui imgui_in_program imgui_in_tests)
    target_compile_options(${part} PRIVATE ${foreign_flags})
    target_link_libraries(${part} PUBLIC imgui_headers)
endforeach()
foreach(part imgui imgui_in_program)
    target_compile_definitions(${part} PRIVATE ${test_engine_definitions})
endforeach()
target_compile_options(imgui_in_tests PRIVATE -UNDEBUG)
target_compile_definitions(imgui_in_tests PUBLIC ${test_engine_definitions})

# ImPlot plots only double: each further type takes ten seconds to compile.
foreign_library(implot ${implot_dir}/implot.cpp ${implot_dir}/implot_items.cpp)
target_compile_definitions(implot PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")
target_include_directories(implot SYSTEM PUBLIC ${implot_dir})
target_link_libraries(implot PUBLIC imgui_headers)

foreign_library(imgui_backends
    ${imgui_dir}/backends/imgui_impl_glfw.cpp ${imgui_dir}/backends/imgui_impl_opengl3.cpp)
target_include_directories(imgui_backends SYSTEM PUBLIC ${imgui_dir}/backends)
target_link_libraries(imgui_backends PUBLIC imgui_headers glfw glad ${CMAKE_DL_LIBS})
target_compile_definitions(imgui_backends PRIVATE IMGUI_IMPL_OPENGL_LOADER_CUSTOM)
target_compile_options(imgui_backends PRIVATE -include glad/gl.h)

set(test_engine_dir ${bundle}/imgui_test_engine/imgui_test_engine)
file(GLOB test_engine_sources ${test_engine_dir}/imgui_test_engine/*.cpp)
foreign_library(imgui_test_engine ${test_engine_sources})
target_include_directories(imgui_test_engine SYSTEM PUBLIC ${test_engine_dir} ${test_engine_dir}/imgui_test_engine)
target_compile_definitions(imgui_test_engine PRIVATE ${test_engine_definitions})
target_compile_options(imgui_test_engine PRIVATE $<$<CONFIG:Release>:-O0>)
target_link_libraries(imgui_test_engine PUBLIC imgui_headers Threads::Threads)
