import type { WorkflowDetail } from '../../../../src/views/model/api.ts'
import { Empty } from '../../parts/notes.tsx'
import { runPath } from '../../parts/run-cells.tsx'
import { lookOf } from '../../parts/state-badge.tsx'
import { Ago } from '../../parts/time.tsx'

/** How each step went in each of the last runs. */
export function Grid({ grid: { steps, runs } }: Pick<WorkflowDetail, 'grid'>) {
  if (runs.length === 0) return <Empty title="It has not been run yet" />
  return (
    <div class="scroll-x">
      <table class="grid" aria-label="Steps and runs">
        <thead>
          <tr>
            <th scope="col">Step</th>
            {runs.map(({ row }) => (
              <th scope="col" key={row.run_id}>
                <a href={runPath(row.run_id)} title={row.run_id}>
                  <Mark state={row.state} /> <Ago at={row.started ?? row.created} />
                </a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step}>
              <th scope="row">
                <code>{step}</code>
              </th>
              {runs.map(({ row, states }) => {
                const state = Object.hasOwn(states, step) ? states[step] : undefined
                return (
                  <td
                    key={row.run_id}
                    class={`cell ${state === undefined ? '' : lookOf(state).role}`}
                  >
                    {state === undefined ? (
                      <span class="dim" title="not reached">
                        ·<span class="hidden">not reached</span>
                      </span>
                    ) : (
                      <a href={`${runPath(row.run_id)}?step=${encodeURIComponent(step)}`}>
                        <Mark state={state} />
                      </a>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Mark({ state }: { readonly state: string }) {
  const { role, symbol, word } = lookOf(state)
  return (
    <span class={role} title={word}>
      <span aria-hidden="true">{symbol}</span>
      <span class="hidden">{word}</span>
    </span>
  )
}
