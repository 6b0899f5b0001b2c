/** Completion for fish 3 and newer. */
export function fishScript(program: string, identifier: string): string {
  const name = quoteForFish(program)
  return `# Completion of ${name} for fish.
#
# For this shell only:
#   ${name} completion fish | source
# For every new shell:
#   ${name} completion fish > ~/.config/fish/completions/${name}.fish

function __${identifier}_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    # Unbalanced quotes cannot be taken off; what stands between them is still the best guess.
    set -l plain (string unescape -- "$current"; or string trim -l -c '"\\'' -- "$current")
    set -l answer (${name} __complete -- $words "$plain" 2>/dev/null </dev/null)
    test (count $answer) -gt 0; or return
    set -l directive $answer[-1]
    set -e answer[-1]
    if test (count $answer) -gt 0
        printf '%s\\n' $answer
    end
    set -l before ''
    set -l path "$plain"
    if string match -q -- '--*=*' "$plain"
        set before (string replace -r '=.*' '=' -- "$plain")
        set path (string replace -r '^[^=]*=' '' -- "$plain")
    end
    set -l found
    switch "$directive"
        case :files
            set found (__fish_complete_path "$path")
        case :directories
            set found (__fish_complete_directories "$path")
    end
    for line in $found
        printf '%s\\n' "$before$line"
    end
end

complete -c ${name} -k -f -a '(__${identifier}_complete)'
`
}

function quoteForFish(word: string): string {
  return /^[A-Za-z0-9_.][A-Za-z0-9_./-]*$/.test(word) ? word : `'${word.replace(/[\\']/g, '\\$&')}'`
}
