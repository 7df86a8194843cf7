# Finds the headers and libraries of CUDA in an installed toolkit, otherwise in pinned wheels. CUDA is not linked:
# the driver, NVRTC and CUPTI are opened at run time, so that the program starts on machines without them.

option(SAWTOOTH_CUDA_WHEELS "take CUDA from the pinned wheels even if a toolkit is installed" OFF)

# Sets cuda_include and cuda_libraries to the folders of an installed toolkit, 12.6 or newer. An older one lacks headers of
# CUPTI and is not used.
function(find_cuda_toolkit)
    find_package(CUDAToolkit 12 QUIET)
    if(NOT CUDAToolkit_FOUND)
        return()
    endif()
    cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH root)
    set(include "")
    foreach(header cuda.h nvrtc.h cuda_occupancy.h cupti.h cupti_range_profiler.h cupti_pmsampling.h)
        find_path(folder_of_${header} ${header} PATHS ${CUDAToolkit_INCLUDE_DIRS} ${root}/extras/CUPTI/include
                  NO_DEFAULT_PATH NO_CACHE)
        if(NOT folder_of_${header})
            message(STATUS "CUDA: the toolkit ${CUDAToolkit_VERSION} in ${root} has no ${header}; using the wheels")
            return()
        endif()
        list(APPEND include ${folder_of_${header}})
    endforeach()
    list(REMOVE_DUPLICATES include)
    message(STATUS "CUDA: the toolkit ${CUDAToolkit_VERSION} in ${root}")
    set(cuda_include ${include} PARENT_SCOPE)
    set(cuda_libraries ${CUDAToolkit_LIBRARY_DIR} ${root}/extras/CUPTI/lib64 PARENT_SCOPE)
endfunction()

# The sources of libraries.cmake come at the same time: both mostly wait for the network.
function(fetch_cuda_wheels)
    execute_process(COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_cuda.sh ${sources_dir}
                    COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_sources.sh ${sources_dir}
                    RESULTS_VARIABLE failed)
    list(GET failed 0 failed)
    if(failed)
        message(FATAL_ERROR "CUDA: no toolkit (12.6 or newer) is installed, and the wheels could not be fetched")
    endif()
    message(STATUS "CUDA: the wheels in ${sources_dir}/cuda")
    set(cuda_include ${sources_dir}/cuda/include PARENT_SCOPE)
    set(cuda_libraries ${sources_dir}/cuda/lib PARENT_SCOPE)
endfunction()

set(cuda_include "")
if(NOT SAWTOOTH_CUDA_WHEELS)
    find_cuda_toolkit()
endif()
if(NOT cuda_include)
    fetch_cuda_wheels()
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/fetch_cuda.sh ${CMAKE_CURRENT_LIST_DIR}/cuda_wheels.txt)
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${cuda_include})

# embed_device_sources(TARGET FOLDER FUNCTION) generates a .cpp with every .cu and .cuh of the folder, anew when one of
# them changes. FUNCTION returns them in the form of kernels/cuda/device_sources.h.
function(embed_device_sources target folder function)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
         ${CMAKE_SOURCE_DIR}/${folder}/*.cu ${CMAKE_SOURCE_DIR}/${folder}/*.cuh)
    set(list ${CMAKE_BINARY_DIR}/embedded/${function}.txt)
    set(output ${CMAKE_BINARY_DIR}/embedded/${function}.cpp)
    list(JOIN sources "\n" names)
    file(CONFIGURE OUTPUT ${list} CONTENT "${names}\n" @ONLY) # untouched where nothing changed
    list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
    set(script ${CMAKE_SOURCE_DIR}/cmake/embed.cmake)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D ROOT=${CMAKE_SOURCE_DIR} -D LIST=${list} -D FUNCTION=${function} -D OUTPUT=${output}
                -P ${script}
        DEPENDS ${paths} ${list} ${script}
        COMMENT "Embedding device sources of ${folder}"
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()

# cmake --install BUILD --prefix X --component cuda adds NVRTC and CUPTI, about 150 MB, to the installed folder, under
# the names by which they are opened. This is for a server with a driver but no toolkit.
foreach(name libnvrtc.so.1? libnvrtc-builtins.so.1?.? libcupti.so.1? libnvperf_host.so libnvperf_target.so)
    set(found "")
    foreach(folder IN LISTS cuda_libraries)
        file(GLOB here ${folder}/${name})
        list(APPEND found ${here})
    endforeach()
    if(found)
        list(GET found 0 library)
        cmake_path(GET library FILENAME opened_as)
        file(REAL_PATH ${library} library)
        install(FILES ${library} DESTINATION lib/sawtooth RENAME ${opened_as} COMPONENT cuda EXCLUDE_FROM_ALL)
    endif()
endforeach()
set(cuda_licence ${sources_dir}/cuda/LICENSE.txt) # of the wheels; a toolkit has its own beside it
if(EXISTS ${cuda_licence})
    install(FILES ${cuda_licence} DESTINATION share/doc/sawtooth RENAME CUDA-LICENSE.txt COMPONENT cuda EXCLUDE_FROM_ALL)
endif()
