# folder_library(TARGET FOLDER [DEEP] LINKS folders it may include USES libraries EXCEPT folders TOGETHER count) makes a
# library of the .cpp files of one folder; with DEEP also of the folders inside it, except those named.
# folder_program(...) does the same for an executable, which is created only if the folder has sources.

# Contraction is off: products and sums are fused only where the code says so, not where the compiler finds it faster.
# The last bits are the same for any number of threads, but not on every processor: wider vectors add in another order.
set(own_flags -Wall -Wextra -Wpedantic -ffp-contract=off)

# GCC collects garbage from 128 MB on, which takes a tenth of its time and frees little (the size is in KB).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=500000>")
endif()

# together(TARGET SOURCES COUNT) compiles up to COUNT files of a folder as one, which halves the time of a whole build:
# headers and templates that they share are compiled once. Names in unnamed namespaces are therefore unique in a folder.
# Files that Highway includes once per instruction set, and those that take longest, stay on their own.
option(FILES_TOGETHER "Compile a few files of a folder as one" OFF)
function(together name sources files_at_a_time)
    if(NOT FILES_TOGETHER)
        return()
    endif()
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    foreach(source IN LISTS sources)
        file(STRINGS ${source} alone REGEX "foreach_target\\.h|CATCH_CONFIG_RUNNER|GLAD_GL_IMPLEMENTATION|EGL/egl" LIMIT_COUNT 1)
        if(NOT alone)
            cmake_path(GET source PARENT_PATH folder)
            string(MAKE_C_IDENTIFIER "${folder}" folder)
            list(APPEND folders ${folder})
            list(APPEND files_of_${folder} ${source})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
        list(LENGTH files_of_${folder} count)
        math(EXPR groups "(${count} + ${files_at_a_time} - 1) / ${files_at_a_time}")
        set(index 0)
        foreach(source IN LISTS files_of_${folder})
            math(EXPR group "${index} * ${groups} / ${count}")
            set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
            math(EXPR index "${index} + 1")
            # What plans launches and draws figures takes little of a run, and a third less to compile. The path is that of
            # CMake's own file; under another name it would be compiled like the others.
            if(folder MATCHES "_kernels_[a-z_]+_(cuda|figures)$")
                set_source_files_properties(
                    ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/Unity/unity_${folder}_${group}_cxx.cxx
                    PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
            endif()
        endforeach()
    endforeach()
endfunction()

# Sets `sources`, the lists of_LINKS and of_USES and of_TOGETHER, how many files are compiled as one.
macro(folder_sources folder)
    cmake_parse_arguments(of "DEEP" "TOGETHER" "LINKS;USES;EXCEPT" ${ARGN})
    if(NOT of_TOGETHER)
        set(of_TOGETHER 16) # so that an edited file is compiled in a few seconds
    endif()
    set(glob GLOB)
    if(of_DEEP)
        set(glob GLOB_RECURSE)
    endif()
    file(${glob} sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
    foreach(inner IN LISTS of_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${folder}/${inner}/")
    endforeach()
endmacro()

function(folder_library name folder)
    folder_sources(${folder} ${ARGN})
    if(NOT sources)
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${of_LINKS})
        return()
    endif()
    add_library(${name} STATIC ${sources})
    together(${name} "${sources}" ${of_TOGETHER})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_options(${name} PRIVATE ${own_flags})
    # Libraries are private: a folder that includes Dear ImGui must name it in the table.
    target_link_libraries(${name} PUBLIC ${of_LINKS} PRIVATE ${of_USES})
endfunction()

function(folder_program name folder)
    folder_sources(${folder} ${ARGN})
    if(NOT sources)
        message(STATUS "${name}: ${folder}/ has no sources yet")
        return()
    endif()
    add_executable(${name} ${sources})
    together(${name} "${sources}" ${of_TOGETHER})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_options(${name} PRIVATE ${own_flags})
    target_link_libraries(${name} PRIVATE ${of_LINKS} ${of_USES})
endfunction()

# precompiled(TARGET HEADERS...) precompiles headers: parsing them takes most of the compile time of small files.
# ccache needs the first option; without the others g++ 12 gives false warnings about strings.
set(for_precompiled $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overflow>)
function(precompiled name)
    target_precompile_headers(${name} PRIVATE ${ARGN})
    target_compile_options(${name} PRIVATE ${for_precompiled})
endfunction()

function(folder_definitions name)
    get_target_property(type ${name} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
        target_compile_definitions(${name} PRIVATE ${ARGN})
    endif()
endfunction()
