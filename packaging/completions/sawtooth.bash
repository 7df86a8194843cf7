# Asks the program what may follow, so that the answer is always that of the program.
_sawtooth() {
    local words=() word before
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do # which bash may have split at =
        if [[ ${#words[@]} -gt 0 && ($word == = || ${words[-1]} == *=) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    before=${words[-1]%"${words[-1]##*=}"}
    [[ $COMP_WORDBREAKS == *=* ]] || before=
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        COMPREPLY+=("${word#"$before"}")
        [[ $word != *= ]] || compopt -o nospace
    done < <("$1" --complete "${words[@]}" 2>/dev/null)
}
# Without an answer file names are completed.
complete -o bashdefault -o default -F _sawtooth sawtooth
