import { ToolError } from '../../../contract/tool-error.ts'
import type { SHELLS } from '../builtin-commands.ts'
import { bashScript } from './bash-script.ts'
import { fishScript } from './fish-script.ts'
import { powershellScript } from './powershell-script.ts'
import { zshScript } from './zsh-script.ts'

export type Shell = (typeof SHELLS)[number]

const WRITERS: { readonly [shell in Shell]: (program: string, identifier: string) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
}

/** A script that makes a shell ask `<program> __complete -- <words…>` for candidates. Throws CONFIG for a name that no shell could call. */
export function completionScript(shell: Shell, program: string): string {
  if (program === '' || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(program))
    throw new ToolError(
      'CONFIG',
      `No completion for a program with the name ${JSON.stringify(program)}`,
    )
  return WRITERS[shell](program, identifierOf(program))
}

// Two programs in one shell must not share a function, therefore every other character leaves a trace.
function identifierOf(program: string): string {
  return program.replace(/[^A-Za-z0-9]/gu, (character) =>
    character === '-'
      ? '_'
      : character === '_'
        ? '__'
        : `_x${character.codePointAt(0)!.toString(16)}_`,
  )
}
