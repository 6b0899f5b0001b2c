import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'

/** How a command shows what goes on. */
export const PROGRESS_MODES = ['auto', 'tty', 'plain', 'jsonl', 'none'] as const
export type ProgressMode = (typeof PROGRESS_MODES)[number]

/** The flag of every command that follows runs. */
export const PROGRESS_PROPERTY = {
  type: 'string',
  enum: PROGRESS_MODES,
  default: 'auto',
  description:
    'How what goes on is shown: a live tree (tty) or events (jsonl) on stderr; lines of words (plain) on stderr, and on stdout, the result among them, where that is text; or not at all (none), so that text is the result alone. auto is a tree where a person looks on',
} as const

/** What comes of it: a tree, lines of words on stdout as ever, or something beside stdout. */
export type ChosenProgress = 'tree' | 'words' | 'words-beside' | 'events-beside' | 'none'

/** Decides how a run is shown. Throws USAGE where a tree is wanted that cannot be drawn, and INVALID_INPUT for an unknown word. */
export function chooseProgress(
  wish: string | undefined = 'auto',
  globals: Globals,
  io: Io,
): ChosenProgress {
  const wanted = PROGRESS_MODES.find((mode) => mode === wish)
  if (wanted === undefined)
    throw new ToolError('INVALID_INPUT', unknownName('progress', wish, PROGRESS_MODES).message, {
      field: 'progress',
      suggestion: `Use one of ${PROGRESS_MODES.join(', ')}`,
    })
  const forPeople =
    choosePresentation(globals, io, findCaller(io.env)).mode === 'text' && !globals.stream
  if (wanted === 'tty') {
    if (!io.screen)
      throw new ToolError(
        'USAGE',
        '--progress tty needs a terminal on stderr that can be drawn on',
        { field: 'progress', suggestion: '--progress plain' },
      )
    return 'tree'
  }
  if (wanted === 'auto') return canDraw(io, forPeople) ? 'tree' : forPeople ? 'words' : 'none'
  if (wanted === 'plain') return forPeople ? 'words' : 'words-beside'
  return wanted === 'jsonl' ? 'events-beside' : 'none'
}

// Beside lines of JSON on the same terminal, or of a program that reads them and may show something there, a tree would be torn.
function canDraw(io: Io, forPeople: boolean): boolean {
  if (!io.screen || findCaller(io.env)) return false
  return io.stdout.isTTY ? forPeople : io.stdout.isPipe !== true
}
