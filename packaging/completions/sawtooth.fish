# Asks the program what may follow, so that the answer is always that of the program.
function __sawtooth_complete
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l last (commandline --current-token --cut-at-cursor)
    set -l found ($words[1] --complete $words[2..] "$last" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete --command sawtooth --no-files --arguments '(__sawtooth_complete)'
