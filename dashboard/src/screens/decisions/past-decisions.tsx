import { useState } from 'preact/hooks'
import type { Decision } from '../../../../src/views/model/api.ts'
import { RunLink, Subject } from '../../parts/run-cells.tsx'
import { Ago } from '../../parts/time.tsx'
import { valueText } from '../../parts/question/value-text.ts'
import { keyOf } from '../../state/decisions.ts'

const SHOWN_AT_ONCE = 50

/** Who answered what, when and how: the newest first. */
export function PastDecisions({ past }: { readonly past: readonly Decision[] }) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE)
  return (
    <section class="card" aria-labelledby="past">
      <h2 id="past">Answered</h2>
      <div class="scroll-x">
        <table class="past" aria-label="Answered">
          <thead>
            <tr>
              <th>When</th>
              <th>Question</th>
              <th>Answer</th>
              <th>By</th>
              <th>Note</th>
              <th>Tool or workflow</th>
              <th>Run</th>
            </tr>
          </thead>
          <tbody>
            {past.slice(0, shown).map((decision) => {
              const { question, answered, run_id, asked } = decision
              return (
                <tr key={keyOf(decision)}>
                  <td>
                    <Ago at={answered?.at ?? asked} />
                  </td>
                  <td class="wrap">{question.prompt ?? question.id}</td>
                  <td class="wrap">
                    {answered ? (
                      answered.value === undefined ? (
                        <span class="dim">not kept</span>
                      ) : (
                        <code>{valueText(answered.value)}</code>
                      )
                    ) : (
                      <span class="dim">withdrawn</span>
                    )}
                  </td>
                  <td>{answered?.by ?? <span class="dim">–</span>}</td>
                  <td class="wrap">{answered?.note ?? ''}</td>
                  <td>
                    <Subject row={decision} />
                  </td>
                  <td>
                    <RunLink id={run_id} />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {past.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + 10 * SHOWN_AT_ONCE)}>
          {past.length - shown} more
        </button>
      )}
    </section>
  )
}
