import { useState } from 'preact/hooks'
import type { Decision } from '../../../src/views/model/api.ts'
import { Quiet } from '../parts/buttons.tsx'
import { RunLink, Subject } from '../parts/links.tsx'
import { Empty, Missing } from '../parts/notes.tsx'
import { OpenQuestions, valueText } from '../parts/questions.tsx'
import { Dash, Table } from '../parts/table.tsx'
import { Ago } from '../parts/time.tsx'
import { getDecisionKey, useDecisions } from '../state/decisions.ts'
import { useKeys } from '../state/keys.ts'
import type { ScreenProps } from './table.tsx'

/** Every question that waits for an answer, and below it who answered what. */
export default function DecisionsScreen(_props: ScreenProps) {
  const decisions = useDecisions()
  useKeys([
    { key: 'j', label: 'Next question', run: () => step(1) },
    { key: 'k', label: 'Question before', run: () => step(-1) },
  ])
  const { value, error } = decisions
  if (!value)
    return (
      <>
        <h1>Decisions</h1>
        <Missing error={error} />
      </>
    )
  return (
    <>
      <div class="title-row">
        <h1>Decisions</h1>
        <span class="dim">
          {value.open.length === 0
            ? 'nothing waits for you'
            : `${value.open.length} waiting for you`}
        </span>
      </div>
      {value.open.length === 0 && (
        <Empty title="Nobody asks anything">
          <p>When a tool needs a decision, it appears here, and its run waits.</p>
        </Empty>
      )}
      <OpenQuestions decisions={decisions} />
      {value.past.length > 0 && <PastDecisions past={unique(value.past)} />}
    </>
  )
}

function unique(decisions: readonly Decision[]): readonly Decision[] {
  return [...new Map(decisions.map((decision) => [getDecisionKey(decision), decision])).values()]
}

function step(by: number): void {
  const cards = [...document.querySelectorAll<HTMLElement>('article.question')]
  const at = cards.findIndex((card) => card.contains(document.activeElement))
  cards[Math.max(0, Math.min(cards.length - 1, at === -1 ? 0 : at + by))]?.focus()
}

const SHOWN_AT_ONCE = 50

/** Who answered what, when and how: the newest first. */
export function PastDecisions({ past }: { readonly past: readonly Decision[] }) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE)
  return (
    <section class="card" aria-labelledby="past">
      <h2 id="past">Answered</h2>
      <Table
        class="past"
        label="Answered"
        rows={past.slice(0, shown)}
        rowKey={getDecisionKey}
        columns={[
          { head: 'When', cell: ({ answered, asked }) => <Ago at={answered?.at ?? asked} /> },
          { head: 'Question', class: 'wrap', cell: ({ question: { prompt, id } }) => prompt ?? id },
          { head: 'Answer', class: 'wrap', cell: (decision) => <Answer decision={decision} /> },
          { head: 'By', cell: ({ answered }) => answered?.by ?? <Dash /> },
          { head: 'Note', class: 'wrap', cell: ({ answered }) => answered?.note },
          { head: 'Tool or workflow', cell: (decision) => <Subject row={decision} /> },
          { head: 'Run', cell: ({ run_id }) => <RunLink id={run_id} /> },
        ]}
      />
      {past.length > shown && (
        <Quiet onClick={() => setShown(shown + 10 * SHOWN_AT_ONCE)}>
          {past.length - shown} more
        </Quiet>
      )}
    </section>
  )
}

function Answer({ decision: { answered } }: { readonly decision: Decision }) {
  if (!answered) return <span class="dim">withdrawn</span>
  if (answered.value === undefined) return <span class="dim">not kept</span>
  return <code>{valueText(answered.value)}</code>
}
