import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { terminalAnswerer } from '../../surfaces/cli/terminal.ts'
import { isPerson, linesOf } from './channels.ts'
import { requireConsent } from './consent.ts'
import type { Consented, Manner } from './consent.ts'

/** Sees to it that somebody agrees to something destructive: by `--yes`, or a person at this terminal, who is asked. Throws PERMISSION where he declines, CONFIRMATION_REQUIRED where nobody is there to agree. */
export async function obtainConsent(
  wanted: Consented,
  manner: Manner,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  if (!wanted.destructive || manner.agreed || manner.dryRun || !isPerson(io))
    return requireConsent(wanted, manner)
  const { name } = wanted
  const agreed = await terminalAnswerer(linesOf(io.stdin), io.stderr)(
    { id: 'consent', kind: 'confirm', prompt: `${name} is destructive. Run it?`, default: false },
    signal,
  )
  if (agreed === false)
    throw new ToolError('PERMISSION', `'${name}' was not run: its confirmation was declined`, {
      suggestion: { action: 'abort', fix: 'Do not run it again unless the user asks for it' },
    })
  requireConsent(wanted, { ...manner, agreed: agreed === true })
}
