# cmake -D ROOT=… -D LIST=… -D FUNCTION=… -D OUTPUT=… -P embed.cmake embeds the files named in LIST, one per line and
# relative to ROOT, in a function of that name, in the form of kernels/cuda/device_sources.h.

file(STRINGS ${LIST} names)
set(quote "sawtooth_source")
set(code "#include \"kernels/cuda/device_sources.h\"\n\nnamespace sawtooth::cuda {\n\n")
string(APPEND code "std::span<const EmbeddedSource> ${FUNCTION}() {\n    static constexpr EmbeddedSource all[] = {\n")
foreach(name IN LISTS names)
    file(READ ${ROOT}/${name} text)
    string(APPEND code "{\"${name}\", R\"${quote}(${text})${quote}\"},\n")
endforeach()
string(APPEND code "    };\n    return all;\n}\n\n}  // namespace sawtooth::cuda\n")
file(WRITE ${OUTPUT} "${code}")
