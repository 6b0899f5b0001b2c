import type { Decision } from '../../../../src/views/model/api.ts'
import { Empty, Loading, Problem } from '../../parts/notes.tsx'
import { OpenQuestions } from '../../parts/question/open-questions.tsx'
import { keyOf, useDecisions } from '../../state/decisions.ts'
import { useKeys } from '../../state/keys.ts'
import type { ScreenProps } from '../screen.ts'
import { PastDecisions } from './past-decisions.tsx'

/** Every question that waits for an answer, and below it who answered what. */
export function DecisionsScreen(_props: ScreenProps) {
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
        {error ? <Problem error={error} /> : <Loading />}
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
  return [...new Map(decisions.map((decision) => [keyOf(decision), decision])).values()]
}

function step(by: number): void {
  const cards = [...document.querySelectorAll<HTMLElement>('article.question')]
  const at = cards.findIndex((card) => card.contains(document.activeElement))
  cards[Math.max(0, Math.min(cards.length - 1, at === -1 ? 0 : at + by))]?.focus()
}
