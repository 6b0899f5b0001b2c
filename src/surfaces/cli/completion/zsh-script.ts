import { quoteForShell } from '../../../contract/quote-for-shell.ts'

/** Completion for zsh. */
export function zshScript(program: string, identifier: string): string {
  const name = quoteForShell(program)
  return `#compdef ${name}
# Completion of ${name} for zsh.
#
# For this shell only (compinit has to be loaded):
#   source <(${name} completion zsh)
# For every new shell, in a folder that stands in $fpath before compinit is called:
#   mkdir -p ~/.zfunc
#   ${name} completion zsh > ~/.zfunc/_${identifier}
# with these lines in ~/.zshrc:
#   fpath=(~/.zfunc $fpath)
#   autoload -Uz compinit && compinit

_${identifier}() {
  local line value directive
  local -i width=0
  local -a before answer values lines
  # (Q) takes quotes off and expands nothing.
  before=("\${(@Q)words[2,CURRENT-1]}")
  (( CURRENT > 2 )) || before=()
  answer=("\${(@f)$(${name} __complete -- "\${before[@]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  directive=$answer[-1]
  [[ $directive == :* ]] || return 1
  answer[-1]=()

  for line in "\${answer[@]}"; do
    value=\${line%%$'\\t'*}
    values+=("$value")
    (( $#value > width )) && width=$#value
  done
  for line in "\${answer[@]}"; do
    value=\${line%%$'\\t'*}
    if [[ $line == *$'\\t'* ]]; then
      lines+=("\${(r:$width:)value}  -- \${line#*$'\\t'}")
    else
      lines+=("$value")
    fi
  done
  local -i found=1
  if (( $#values )); then
    if [[ "\${(j::)answer}" == *$'\\t'* ]]; then
      compadd -V ${identifier} -l -d lines -a -- values && found=0
    else
      compadd -V ${identifier} -a -- values && found=0
    fi
  fi

  if [[ $directive == (:files|:directories) ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '--[^=]##='
    if [[ $directive == :files ]]; then
      _files && found=0
    else
      _files -/ && found=0
    fi
  fi
  return found
}

if [[ $funcstack[1] == _${identifier} ]]; then
  _${identifier} "$@"
elif (( $+functions[compdef] )); then
  compdef _${identifier} ${name}
fi
`
}
