import type { RunState } from '../../../../src/protocol/run-state.ts'
import type { StateCounts } from '../../../../src/views/model/api.ts'
import { lookOf } from '../../parts/state-badge.tsx'
import { changeQuery } from '../../state/route.ts'

const ORDER: readonly RunState[] = [
  'running',
  'waiting_ai',
  'queued',
  'completed',
  'failed',
  'cancelled',
]

/**
 * How many runs there are in each state; each number chooses its state, and once more lets it go.
 */
export function StateButtons({
  counts,
  chosen,
}: {
  readonly counts: StateCounts | undefined
  readonly chosen: readonly RunState[]
}) {
  const all = ORDER.reduce((sum, state) => sum + (counts?.[state] ?? 0), 0)
  const toggle = (state: RunState): void => {
    const next = chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state]
    changeQuery({ state: next.join(',') })
  }
  return (
    <div class="states" role="group" aria-label="States">
      <button
        type="button"
        aria-pressed={chosen.length === 0}
        onClick={() => changeQuery({ state: undefined })}
      >
        all <span class="count">{all.toLocaleString('en')}</span>
      </button>
      {ORDER.map((state) => {
        const { role, symbol, word } = lookOf(state)
        const amount = counts?.[state] ?? 0
        return (
          <button
            type="button"
            key={state}
            class={amount > 0 ? role : 'dim'}
            aria-pressed={chosen.includes(state)}
            onClick={() => toggle(state)}
          >
            <span class="symbol" aria-hidden="true">
              {symbol}
            </span>
            {word} <span class="count">{amount.toLocaleString('en')}</span>
          </button>
        )
      })}
    </div>
  )
}
