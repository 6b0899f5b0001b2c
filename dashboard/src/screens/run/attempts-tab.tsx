import { formatDuration } from '../../../../src/views/model/format.ts'
import type { RunModel } from '../../../../src/views/model/run-model.ts'
import { Empty } from '../../parts/notes.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Table } from '../../parts/table.tsx'
import { At, Span, Took } from '../../parts/time.tsx'

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
      <Table
        label="Attempts"
        rows={model.attempts}
        rowKey={({ attempt }) => attempt}
        columns={[
          { head: 'Attempt', class: 'right number', cell: ({ attempt }) => attempt },
          { head: 'Outcome', cell: ({ state }) => <StateBadge state={state} small /> },
          { head: 'Why it was started', cell: ({ cause }) => CAUSES[cause] ?? cause },
          { head: 'Began', cell: ({ began }) => <At at={began} /> },
          { head: 'Took', class: 'right', cell: (attempt) => <Span span={attempt} /> },
          { head: 'Exit code', class: 'right number', cell: ({ rc }) => rc },
          { head: 'Level', cell: ({ level }) => level },
          {
            head: 'Next one after',
            cell: ({ retry_in_s: pause }) => pause !== undefined && <Took seconds={pause} />,
          },
          {
            head: 'What went wrong',
            class: 'wide',
            cell: ({ error }) =>
              error && (
                <span class="words" title={error.message}>
                  <code class="bad">{error.code}</code> {error.message}
                </span>
              ),
          },
        ]}
      />
      {model.marks.length > 0 && <Moments model={model} />}
    </div>
  )
}

/** The moments of the timeline in words. */
export function Moments({ model }: { readonly model: RunModel }) {
  return (
    <section>
      <h2>Moments</h2>
      <Table
        class="tight"
        label="Moments"
        rows={model.marks}
        rowKey={({ seq }) => seq}
        columns={[
          {
            head: 'After',
            class: 'right number',
            cell: ({ at }) => formatDuration(Math.max(0, at - model.created) / 1000),
          },
          { head: 'What', cell: ({ type }) => <code>{type}</code> },
          { head: 'Step', class: 'dim', cell: ({ step }) => step },
          { head: 'Said', class: 'wide', cell: ({ text }) => <span title={text}>{text}</span> },
        ]}
      />
      {model.more_marks > 0 && <p class="dim">{model.more_marks} more are only in the record.</p>}
    </section>
  )
}
