import type { RunState } from '../../../contract/run-state.ts'
import type { StepState } from '../../model/run-model/run-model-type.ts'
import type { Look, Role } from '../look.ts'
import type { Piece, Worth } from './row.ts'

type Shown = {
  readonly role: Role
  readonly word: string
  readonly worth: Worth
  readonly icon: (look: Look, tick: number) => string
}

const spinning = ({ glyphs: { spinner } }: Look, tick: number): string =>
  spinner[tick % spinner.length]!
const RUNNING: Shown = { role: 'run', word: '', worth: 'live', icon: spinning }
const WAITING: Shown = {
  role: 'warn',
  word: 'waiting',
  worth: 'problem',
  icon: ({ glyphs }) => glyphs.waiting,
}
const FAILED: Shown = {
  role: 'bad',
  word: 'failed',
  worth: 'problem',
  icon: ({ glyphs }) => glyphs.bad,
}
const CANCELLED: Shown = {
  role: 'warn',
  word: 'cancelled',
  worth: 'done',
  icon: ({ glyphs }) => glyphs.cancelled,
}

/** How each state is shown: a symbol, a colour and a word that say the same. What runs needs no word: it moves. */
export const STATES: { readonly [state in StepState | RunState]: Shown } = {
  queued: { role: 'dim', word: 'queued', worth: 'later', icon: ({ glyphs }) => glyphs.pending },
  pending: { role: 'dim', word: 'not begun', worth: 'later', icon: ({ glyphs }) => glyphs.pending },
  running: RUNNING,
  waiting: WAITING,
  waiting_ai: WAITING,
  ok: { role: 'ok', word: 'done', worth: 'done', icon: ({ glyphs }) => glyphs.ok },
  completed: { role: 'ok', word: 'completed', worth: 'done', icon: ({ glyphs }) => glyphs.ok },
  failed: FAILED,
  skipped: { role: 'dim', word: 'skipped', worth: 'later', icon: ({ glyphs }) => glyphs.skipped },
  cancelled: CANCELLED,
  interrupted: { ...FAILED, role: 'warn', word: 'interrupted' },
}

/** The symbol of a state. */
export function iconOf(state: StepState | RunState, look: Look, tick: number): Piece {
  const { icon, role } = STATES[state]
  return { text: icon(look, tick), role }
}

/** The word of a state; nothing where it goes without saying. */
export function wordOf(state: StepState | RunState): readonly Piece[] {
  const { word, role } = STATES[state]
  return word === '' ? [] : [{ text: word, role: role === 'ok' ? 'dim' : role }]
}
