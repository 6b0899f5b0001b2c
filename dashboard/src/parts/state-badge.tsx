import type { ComponentChildren } from 'preact'
import type { RunState } from '../../../src/protocol/run-state.ts'
import type { StepState } from '../../../src/views/model/run-model.ts'

/** Every state that something can be in. */
export type AnyState = RunState | StepState

type Look = {
  readonly role: 'ok' | 'bad' | 'warn' | 'run' | 'dim'
  readonly symbol: string
  readonly word: string
}

const LOOKS: { readonly [state in AnyState]: Look } = {
  queued: { role: 'dim', symbol: '○', word: 'queued' },
  running: { role: 'run', symbol: '◐', word: 'running' },
  waiting_ai: { role: 'warn', symbol: '?', word: 'waiting' },
  completed: { role: 'ok', symbol: '✓', word: 'completed' },
  failed: { role: 'bad', symbol: '✗', word: 'failed' },
  cancelled: { role: 'dim', symbol: '⊘', word: 'cancelled' },
  pending: { role: 'dim', symbol: '○', word: 'pending' },
  waiting: { role: 'warn', symbol: '?', word: 'waiting' },
  ok: { role: 'ok', symbol: '✓', word: 'ok' },
  skipped: { role: 'dim', symbol: '⤼', word: 'skipped' },
  interrupted: { role: 'warn', symbol: '!', word: 'interrupted' },
}

/** How a state looks: its colour, its symbol, its word. */
export function getLook(state: string): Look {
  return Object.hasOwn(LOOKS, state)
    ? LOOKS[state as AnyState]
    : { role: 'dim', symbol: '·', word: state }
}

/** A symbol beside words that say the same; screen readers skip it. */
export function Symbol({ class: name = '', children }: SymbolProps) {
  return (
    <span class={`symbol ${name}`} aria-hidden="true">
      {children}
    </span>
  )
}

type SymbolProps = { readonly class?: string; readonly children: ComponentChildren }

type BadgeProps = Pick<Look, 'role' | 'symbol'> & {
  readonly small?: boolean
  readonly turning?: boolean
  readonly children: ComponentChildren
}

/** A symbol and a word on a coloured ground. */
export function Badge({ role, symbol, small = false, turning = false, children }: BadgeProps) {
  return (
    <span class={`badge ${role} ${small ? 'small' : ''}`}>
      <Symbol class={turning ? 'turning' : ''}>{symbol}</Symbol>
      {children}
    </span>
  )
}

/** A state by colour, symbol and word. */
export function StateBadge({
  state,
  small = false,
}: {
  readonly state: AnyState
  readonly small?: boolean
}) {
  const { word, ...look } = getLook(state)
  return (
    <Badge {...look} small={small} turning={state === 'running'}>
      {word}
    </Badge>
  )
}
