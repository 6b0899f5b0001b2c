import { quoteForShell } from '../../../contract/quote-for-shell.ts'

/** Completion for bash 3.2 and newer. */
export function bashScript(program: string, identifier: string): string {
  const name = quoteForShell(program)
  return `# Completion of ${name} for bash.
#
# For this shell only:
#   eval "$(${name} completion bash)"
# For every new shell, where the bash-completion package is installed:
#   mkdir -p ~/.local/share/bash-completion/completions
#   ${name} completion bash > ~/.local/share/bash-completion/completions/${name}
# and where it is not:
#   ${name} completion bash >> ~/.bashrc

# Takes quotes and backslashes off the word, expanding nothing; the answer is in REPLY.
__${identifier}_unquote() {
  local rest=$1 quote='' character
  REPLY=
  while [[ -n $rest ]]; do
    character=\${rest:0:1}
    rest=\${rest:1}
    if [[ $character == '\\' && $quote != "'" && -n $rest ]]; then
      if [[ $quote == '"' && \${rest:0:1} != [\\"\\$\\\`\\\\] ]]; then REPLY+=$character; fi
      REPLY+=\${rest:0:1}
      rest=\${rest:1}
    elif [[ -n $quote && $character == "$quote" ]]; then
      quote=
    elif [[ -z $quote && ( $character == "'" || $character == '"' ) ]]; then
      quote=$character
    else
      REPLY+=$character
    fi
  done
}

__${identifier}_complete() {
  COMPREPLY=()
  local REPLY='' word line value i
  local -a words=() answer=()

  # Readline cuts words at : and = too; what stands without a space between belongs together.
  local rest=\${COMP_LINE-}
  rest=\${rest:0:\${COMP_POINT:-0}}
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]-}
    value=\${rest#"\${rest%%[![:space:]]*}"}
    if ((i == COMP_CWORD)) && [[ -n $rest && $word == "$value"* ]]; then word=$value; fi
    if ((i > 1)) && [[ -n $rest && -n $word && $value == "$rest" ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    rest=\${value#"$word"}
  done
  local raw=\${words[\${#words[@]}-1]}
  for ((i = 1; i < \${#words[@]}; i++)); do
    __${identifier}_unquote "\${words[i]}"
    words[i]=$REPLY
  done
  local current=$REPLY

  while IFS= read -r line; do
    answer+=("$line")
  done < <(${name} __complete -- "\${words[@]:1}" 2>/dev/null </dev/null)
  ((\${#answer[@]} > 0)) || return 0
  local kind='' plain='' directive=\${answer[\${#answer[@]}-1]}
  unset "answer[\${#answer[@]}-1]"
  case $directive in
    :files) kind=-f ;;
    :directories) kind=-d ;;
  esac
  # Readline quotes file names itself, and everything beside them.
  if [[ -n $kind ]] && compopt -o filenames 2>/dev/null; then plain=yes; fi

  # Readline replaces only what follows the last : or =, unless the word is quoted.
  local kept='' breaks=\${COMP_WORDBREAKS//[^:=@]/}
  if [[ -n $breaks && $raw != [\\'\\"]* ]]; then kept=\${current%"\${current##*[$breaks]}"}; fi
  for line in \${answer[@]+"\${answer[@]}"}; do
    value=\${line%%$'\\t'*}
    [[ $value == "$kept"* ]] || continue
    value=\${value#"$kept"}
    case $plain$raw in
      yes*) ;;
      \\'*) value=\${value//\\'/"'\\''"} ;;
      \\"*)
        value=\${value//\\\\/"\\\\\\\\"}
        value=\${value//\\"/"\\\\\\""}
        value=\${value//\\$/"\\\\\\$"}
        value=\${value//\\\`/"\\\\\\\`"}
        ;;
      *) printf -v value %q "$value" ;;
    esac
    COMPREPLY+=("$value")
  done

  [[ -n $kind ]] || return 0
  local before=''
  if [[ $current == --*=* ]]; then before=\${current%%=*}=; fi
  while IFS= read -r line; do
    line=$before$line
    COMPREPLY+=("\${line#"$kept"}")
  done < <(compgen "$kind" -- "\${current#"$before"}")
}

complete -o nosort -F __${identifier}_complete ${name} 2>/dev/null || complete -F __${identifier}_complete ${name}
`
}
