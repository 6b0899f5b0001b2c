import { findErrorRow } from '../../../../src/protocol/errors.ts'
import { stripAnsi } from '../../../../src/views/model/ansi.ts'
import type { RunModel } from '../../../../src/views/model/run-model.ts'
import { Quiet } from '../../parts/buttons.tsx'
import { replaceQuery } from '../../state/route.ts'
import { selectStep } from './selection.ts'

const SAYING = 'log,error,runner_error,diagnostic'

/** What went wrong, what to do about it, and what was said last. */
export default function FailureCard({ model }: { readonly model: RunModel }) {
  const { error, tail, steps } = model
  if (!error || model.state === 'completed') return null
  const known = findErrorRow(error.code)?.row
  const step = error.step ?? steps.findLast(({ state }) => state === 'failed')?.key
  const retryable = error.retryable ?? known?.retryable
  const isCancelled = model.state === 'cancelled'
  return (
    <section
      class={`card failure ${isCancelled ? 'dim' : 'bad'}`}
      aria-label={isCancelled ? 'Why it was cancelled' : 'Why it failed'}
    >
      <h2>
        <code>{error.code}</code>{' '}
        <span class="message">{error.message ?? known?.meaning ?? 'The run failed'}</span>
      </h2>
      {(error.hint ?? known?.advice) !== undefined && (
        <p class="hint">
          <strong>{error.hint === undefined ? 'Usually: ' : 'Hint: '}</strong>
          {error.hint ?? known?.advice}
        </p>
      )}
      <p class="line facts-of-failure">
        {known && (
          <span>
            Class <code>{known.class}</code>
          </span>
        )}
        {retryable !== undefined && (
          <span>{retryable ? 'A retry may pass' : 'A retry will not help'}</span>
        )}
        {step !== undefined && (
          <span>
            Failing step{' '}
            <Quiet class="mono" onClick={() => selectStep(step)}>
              {step}
            </Quiet>
          </span>
        )}
      </p>
      {tail.length > 0 && (
        <>
          <h3>
            Last {tail.length === 1 ? 'line' : `${tail.length} lines`}{' '}
            <Quiet onClick={() => replaceQuery({ tab: 'events', etype: SAYING })}>
              All of them
            </Quiet>
          </h3>
          <pre aria-label="Last lines">{tail.map(stripAnsi).join('\n')}</pre>
        </>
      )}
    </section>
  )
}
