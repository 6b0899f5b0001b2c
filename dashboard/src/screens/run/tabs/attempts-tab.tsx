import type { RunModel } from '../../../../../src/views/model/run-model.ts'
import { Empty } from '../../../parts/notes.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { At, Since, Took } from '../../../parts/time.tsx'
import { Moments } from './moments.tsx'

const CAUSES: { readonly [cause: string]: string } = {
  first: 'the first start',
  retry: 'a retry of the runner',
  resume: 'somebody resumed it',
}

/**
 * Each start of the tool: why, how it went, and how long the runner waited before the next one; and
 * what happened when.
 */
export function AttemptsTab({ model }: { readonly model: RunModel }) {
  if (model.attempts.length === 0) return <Empty title="It has not been started yet" />
  return (
    <div class="stack">
      <div class="scroll-x">
        <table aria-label="Attempts">
          <thead>
            <tr>
              <th class="right">Attempt</th>
              <th>Outcome</th>
              <th>Why it was started</th>
              <th>Began</th>
              <th class="right">Took</th>
              <th class="right">Exit code</th>
              <th>Level</th>
              <th>Next one after</th>
              <th class="wide">What went wrong</th>
            </tr>
          </thead>
          <tbody>
            {model.attempts.map(
              ({ attempt, state, cause, began, ended, rc, level, retry_in_s: pause, error }) => (
                <tr key={attempt}>
                  <td class="right number">{attempt}</td>
                  <td>
                    <StateBadge state={state} small />
                  </td>
                  <td>{CAUSES[cause] ?? cause}</td>
                  <td>
                    <At at={began} />
                  </td>
                  <td class="right">
                    {ended === undefined ? (
                      <Since at={began} />
                    ) : (
                      <Took seconds={(ended - began) / 1000} />
                    )}
                  </td>
                  <td class="right number">{rc ?? ''}</td>
                  <td>{level ?? ''}</td>
                  <td>{pause === undefined ? '' : <Took seconds={pause} />}</td>
                  <td class="wide">
                    {error && (
                      <span class="words" title={error.message}>
                        <code class="bad">{error.code}</code> {error.message}
                      </span>
                    )}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
      {model.marks.length > 0 && <Moments model={model} />}
    </div>
  )
}
