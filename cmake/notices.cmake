# As a part of cmake --install, writes FOLDER/share/doc/sawtooth/copyright, which names the licences of Sawtooth and of
# everything that it contains, with their texts. The texts for linked code come from its sources, those for the files in
# FOLDER/LIBRARIES from the packages of these files.

set(notices ${FOLDER}/share/doc/sawtooth/copyright)
set(line "\n\n================================================================================\n")
file(READ ${SOURCE}/LICENSE text)
file(READ ${SOURCE}/THIRD_PARTY.md table)
file(WRITE ${notices} "${text}\n\n${table}")

function(add_notice title file)
    file(READ ${file} text)
    file(APPEND ${notices} "${line}${title}${line}\n${text}")
endfunction()

add_notice("Dear ImGui" ${BUNDLE}/imgui/imgui/LICENSE.txt)
add_notice("ImPlot" ${BUNDLE}/implot/implot/LICENSE)
add_notice("GLFW" ${BUNDLE}/glfw/glfw/LICENSE.md)
add_notice("Roboto" ${FONTS}/Roboto/LICENSE.txt)
add_notice("Inconsolata" ${FONTS}/Inconsolata-LICENSE-OFL.txt)

# The descriptions of Wayland's protocols, from which GLFW is built, have their licence inside.
file(GLOB protocols ${BUNDLE}/glfw/glfw/deps/wayland/*.xml)
foreach(protocol IN LISTS protocols)
    file(READ ${protocol} text)
    string(REGEX MATCH "<copyright>.*</copyright>" text "${text}")
    string(REGEX REPLACE "</?copyright>|<!\\[CDATA\\[|\\]\\]>" "" text "${text}")
    cmake_path(GET protocol STEM name)
    file(APPEND ${notices} "${line}Wayland protocol ${name}${line}${text}")
endforeach()

function(add_package_notice title package)
    set(file /usr/share/doc/${package}/copyright)
    if(package AND EXISTS ${file})
        add_notice("${title}" ${file})
    else()
        message(WARNING "${title}: no licence text in /usr/share/doc; add it before you give the installed folder away")
        file(APPEND ${notices} "${line}${title}${line}\nSee the package of the system that it comes from.\n")
    endif()
endfunction()

add_package_notice("CLI11" libcli11-dev)
add_package_notice("JSON for Modern C++" nlohmann-json3-dev)
file(GLOB copied RELATIVE ${FOLDER}/${LIBRARIES} ${FOLDER}/${LIBRARIES}/*)
foreach(name IN LISTS copied)
    if(IS_SYMLINK ${FOLDER}/${LIBRARIES}/${name})
        continue()
    endif()
    execute_process(COMMAND dpkg-query --search "*/lib/*/${name}" OUTPUT_VARIABLE package ERROR_QUIET)
    string(REGEX MATCH "^[^:,\n]+" package "${package}")
    add_package_notice("${LIBRARIES}/${name}" "${package}")
endforeach()
