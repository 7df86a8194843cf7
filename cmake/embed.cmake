# cmake -D ROOT=… -D LIST=… -D FUNCTION=… -D OUTPUT=… -P embed.cmake: the files named in LIST, one a line and relative to
# ROOT, as kernels/cuda/device_sources.h wants them from a function of that name.

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
