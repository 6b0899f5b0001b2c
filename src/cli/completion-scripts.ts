/**
 * The command `completion`, and its scripts for bash, zsh, fish and PowerShell.
 */

import { tool } from '../core/tool.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import { SHELLS } from './builtin-names.ts'
import { printText } from './documents.ts'
import type { BuiltinFactory } from './types.ts'

export type ShellName = (typeof SHELLS)[number]

/** `completion <shell>`: the script itself, to be sourced. */
export const completionCommands: BuiltinFactory = () => [
  {
    path: ['completion'],
    tool: tool({
      name: 'completion',
      summary: 'Print a completion script for a shell',
      description: 'The script asks the program itself, so it never goes stale.',
      input: {
        type: 'object',
        properties: {
          shell: { type: 'string', enum: SHELLS, description: 'The shell to complete in' },
        },
        required: ['shell'],
        additionalProperties: false,
      },
      positional: ['shell'],
      annotations: { readOnly: true, idempotent: true },
      examples: [{ description: 'In a bash that runs', args: ['bash'] }],
    }),
    async start(input, { set, io }) {
      const { shell } = input as { readonly shell: ShellName }
      return printText(io, writeCompletionScript(shell, set.name))
    },
  },
]

const SCRIPT_WRITERS: {
  readonly [shell in ShellName]: (program: string, identifier: string) => string
} = {
  bash: writeBashScript,
  zsh: writeZshScript,
  fish: writeFishScript,
  powershell: writePowershellScript,
}

/**
 * A script that makes a shell ask `<program> __complete -- <words…>` for candidates. Throws CONFIG
 * for a name that no shell could call.
 */
export function writeCompletionScript(shell: ShellName, program: string): string {
  if (program === '' || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(program))
    throw new ToolError(
      'CONFIG',
      `No completion for a program with the name ${JSON.stringify(program)}`,
    )
  return SCRIPT_WRITERS[shell](program, toShellIdentifier(program))
}

// Two programs in one shell must not share a function, therefore every other character leaves a
// trace.
function toShellIdentifier(program: string): string {
  const traces: { readonly [character: string]: string } = { '-': '_', _: '__' }
  return program.replace(
    /[^A-Za-z0-9]/gu,
    (character) => traces[character] ?? `_x${character.codePointAt(0)!.toString(16)}_`,
  )
}

/** Completion for bash 3.2 and newer. */
function writeBashScript(program: string, identifier: string): string {
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

/** Completion for zsh. */
function writeZshScript(program: string, identifier: string): string {
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

/** Completion for fish 3 and newer. */
function writeFishScript(program: string, identifier: string): string {
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

/** Completion for Windows PowerShell 5.1 and PowerShell 7. */
function writePowershellScript(program: string, identifier: string): string {
  const name = `'${program.replaceAll("'", "''")}'`
  return `# Completion of ${name} for PowerShell.
#
# For this session only:
#   & ${name} completion powershell | Out-String | Invoke-Expression
# For every new session, written to a file that the profile loads:
#   & ${name} completion powershell > "$HOME/${identifier}.completion.ps1"
#   Add-Content $PROFILE '. "$HOME/${identifier}.completion.ps1"'

Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # Constant words come without their quotes; nothing is expanded.
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $last = $commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | Select-Object -Last 1
    if ($last.Extent.EndOffset -lt $cursorPosition) {
        # Versions before 7.3 leave out empty arguments of programs.
        $words += if ($PSVersionTable.PSVersion -lt [version]'7.3') { '""' } else { '' }
    }

    $answer = @(& ${name} __complete '--' @words 2>$null)
    if ($answer.Count -eq 0) { return }
    $directive = $answer[-1]
    $found = @($answer | Select-Object -SkipLast 1 | ForEach-Object {
        $value, $description = $_ -split "\`t", 2
        $text = if ($value -match '[^\\w@%+=:./-]' -or $value -match '^@') { "'" + $value.Replace("'", "''") + "'" } else { $value }
        $tip = if ($description) { $description } else { $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $tip)
    })
    if ($found.Count -gt 0) { return $found }
    # An empty answer would make PowerShell offer file names, which is right only where a path is wanted.
    if ($directive -eq ':none') { '' }
}
`
}
